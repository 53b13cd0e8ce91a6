"""What the commands that play grids share: where it is done, how it is watched and resumed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from evenhand.cli._live import LiveTable
from evenhand.cli._screen import Stopped, errors, say
from evenhand.errors import InputError
from evenhand.sweeps import Grid, SweepResults
from evenhand.sweeps import folder as disk
from evenhand.sweeps.backends import Backend, check_backend, open_backend
from evenhand.sweeps.progress import SweepProgress
from evenhand.sweeps.run import Outcome, conduct, conduct_in_memory

FAILED = 4
MANY_FAILURES = 20
BackendOption = Annotated[
    str, typer.Option("--backend", help="threads, local (processes) or dask (a cluster).")
]
SchedulerOption = Annotated[
    str | None, typer.Option(help="Address of a dask scheduler, tcp://HOST:PORT.")
]
WorkersOption = Annotated[
    int | None, typer.Option(help="Threads or processes here; one per core by default.")
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Resume what is in the folder.")]
AnyVersionOption = Annotated[
    bool, typer.Option("--any-version", help="Resume also what another version of the code began.")
]


class BackendOptions(NamedTuple):
    """Where a grid is to be played."""

    backend: str
    workers: int | None = None
    scheduler: str | None = None

    def check(self) -> BackendOptions:
        """Raise if options do not fit together."""
        check_backend(self.backend, self.workers, self.scheduler)
        return self

    def open(self) -> Backend:
        """Return the backend."""
        return open_backend(self.backend, self.workers, self.scheduler)


def play_grid(
    grid: Grid,
    folder: Path | None,
    options: BackendOptions,
    *,
    resume: bool = False,
    any_version: bool = False,
    only: Iterable[str] | None = None,
    again: str = "--resume",
) -> Outcome:
    """Play a grid, into a folder or in memory, and show how it goes."""
    if any_version and not resume:
        raise InputError("--any-version must go with --resume, which it is about")
    try:
        with LiveTable() as live:
            if folder is None:
                return conduct_in_memory(grid, options.open, look=live.look)
            given = grid, folder, options.open
            return conduct(
                *given, resume=resume, any_version=any_version, look=live.look, only=only
            )
    except Stopped:
        if folder is not None:
            done = SweepResults(folder).runs_done if (folder / disk.ABOUT).exists() else 0
            say(errors, f"{done:,} of {grid.runs:,} runs are kept in {folder}: {again} goes on")
        raise


class ResumingPlayer:
    """Plays what a folder lacks of a grid; failures end the command, or are collected."""

    def __init__(self, options: BackendOptions, any_version: bool, *, must_finish: bool) -> None:
        self._options, self._any_version, self._must_finish = options, any_version, must_finish
        self.failed = False

    def __call__(self, grid: Grid, folder: Path, only: Iterable[str] | None = None) -> SweepResults:
        """Return the results in the folder."""
        again, other = "the same command", self._any_version
        outcome = play_grid(
            grid, folder, self._options, resume=True, any_version=other, only=only, again=again
        )
        tell_failures(outcome.progress)
        tell_versions(outcome.results)
        self.failed = self.failed or bool(outcome.progress.given_up)
        if self.failed and self._must_finish:
            raise typer.Exit(FAILED)
        return outcome.results


def tell_failures(progress: SweepProgress) -> None:
    """Say what was given up, on standard error."""
    for failure in progress.given_up[:MANY_FAILURES]:
        first, last = failure.replications
        say(
            errors,
            f"failed {failure.tries} times: {failure.cell}, replications {first} to {last}: "
            f"{failure.error}",
        )
    if len(progress.given_up) > MANY_FAILURES:
        more = len(progress.given_up) - MANY_FAILURES
        say(errors, f"... and {more:,} more in {disk.FAILURES}")


def tell_versions(results: SweepResults) -> None:
    """Print a note if a sweep was resumed by another version of the code."""
    if results.version_note:
        say(errors, results.version_note)
