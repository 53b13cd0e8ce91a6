"""``evenhand lab verify``: checks against published numbers and known laws."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import _sweeping as sweeping
from evenhand.cli._screen import print_table, say, screen
from evenhand.cli._verdicts import verdict_table
from evenhand.lab.judging import RunSize, counted
from evenhand.lab.measurement import FAILS
from evenhand.lab.science import verify_science
from evenhand.lab.science.checks import QUICK_NOTE


def verify(
    out: Annotated[
        Path | None, typer.Option(help="Folder for everything; verification[-quick].")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: 10 replications, a tenth of the rounds.")
    ] = False,
    backend: sweeping.BackendOption = "threads",
    scheduler: sweeping.SchedulerOption = None,
    workers: sweeping.WorkersOption = None,
    any_version: sweeping.AnyVersionOption = False,
) -> None:
    """Check against published numbers and known laws; exit code 1 if one does not hold.

    Stopped with Ctrl-C, it keeps what is finished; the same command resumes it.
    """
    options, size = sweeping.BackendOptions(backend, workers, scheduler).check(), RunSize(quick)
    play = sweeping.ResumingPlayer(options, any_version, must_finish=True)
    done = verify_science(out or Path(f"verification{'-quick' if quick else ''}"), size, play)
    if quick:
        screen.print(f"[bold red]{QUICK_NOTE}[/bold red]\n")
    for source, verdicts in done.sources:
        say(screen, f"{source.title} ({source.id})")
        print_table(verdict_table(verdicts, "what must hold"))
        screen.print()
    say(screen, f"page: {done.page}")
    raise typer.Exit(1 if counted(done.verdicts)[FAILS] else 0)
