"""``evenhand reproduce``: the paper's evaluation, claim by claim."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import _sweeping as sweeping
from evenhand.cli._screen import errors, say, screen
from evenhand.cli._verdicts import verdict_table
from evenhand.lab import paper
from evenhand.lab.judging import RunSize
from evenhand.lab.paper.settings import note_of

IDS = ", ".join([*paper.experiments(RunSize()), "movies"])


def reproduce(
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for everything; reproduction, or reproduction-quick."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: 10 replications, T = 4,000.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help=f"One of {IDS}; may be given several times.")
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(help="The id of a claim: run what it needs, and show how it was decided."),
    ] = None,
    movielens: Annotated[
        Path | None, typer.Option(help="Folder or zip of a MovieLens release, for the movies.")
    ] = None,
    backend: sweeping.BackendOption = "threads",
    scheduler: sweeping.SchedulerOption = None,
    workers: sweeping.WorkersOption = None,
    any_version: sweeping.AnyVersionOption = False,
) -> None:
    """Run the paper's evaluation and tell, claim by claim, what holds.

    Stopped with Ctrl-C, it keeps what is finished; the same command resumes it.
    """
    options, size = sweeping.BackendOptions(backend, workers, scheduler).check(), RunSize(quick)
    shown, needed = paper.claims_of(size, claim or ())
    play = sweeping.ResumingPlayer(options, any_version, must_finish=False)
    folder = out or Path("reproduction-quick" if quick else "reproduction")
    done = paper.reproduce(folder, size, [*(only or ()), *needed], movielens, play)
    if quick:
        screen.print(f"[bold red]{note_of(size)}[/bold red]\n")
    verdicts = [one for one in done.verdicts if one.claim.id in shown]
    screen.print(verdict_table(verdicts, "the paper says"))
    screen.print()
    for one in verdicts if claim else ():
        words = f"{one.claim.id}: {one.claim.rule.text} {one.variant}".rstrip()
        say(screen, "\n".join([words, *(f"  {number}" for number in one.measurements), ""]))
    if claim and len(verdicts) < len(shown):
        say(errors, "not judged: claims on MovieLens need it, see --movielens")
    screen.print(f"report: {done.report}", soft_wrap=True, markup=False)
    if play.failed:
        raise typer.Exit(sweeping.FAILED)
