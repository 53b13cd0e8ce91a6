"""``evenhand verify-science``: problems that somebody else set, and what must come of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from evenhand.cli import _sweeping as sweeping
from evenhand.cli._screen import print_table, say, screen
from evenhand.paper.measurement import FAILS, HOLDS, UNDECIDED
from evenhand.science import Effort, Verification
from evenhand.science import verify_science as verify
from evenhand.science.checks import counted
from evenhand.sweeps import Grid, SweepResults

COLOURS = {HOLDS: "green", UNDECIDED: "cyan", FAILS: "red"}


def verify_science(
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
    """Check against other people's numbers and laws; exit code 1 if one does not hold.

    Stopped with Ctrl-C, it keeps what is finished; the same command goes on from there.
    """
    machine, effort = sweeping.Machine(backend, workers, scheduler).check(), Effort(quick)

    def play(grid: Grid, folder: Path) -> SweepResults:
        outcome = sweeping.play_grid(
            grid, folder, machine, resume=True, any_version=any_version, again="the same command"
        )
        sweeping.tell_failures(outcome.board)
        sweeping.tell_versions(outcome.results)
        if outcome.board.given_up:
            raise typer.Exit(sweeping.FAILED)
        return outcome.results

    done = verify(out or Path(f"verification{'-quick' if quick else ''}"), effort, play)
    if effort.note:
        screen.print(f"[bold red]{effort.note}[/bold red]\n")
    print_table(checks_table(done))
    say(screen, f"\npage: {done.page}")
    raise typer.Exit(1 if counted(done.verdicts)[FAILS] else 0)


def checks_table(done: Verification) -> Table:
    """Return a check a line."""
    table = Table(box=None, pad_edge=False)
    for heading, ratio in (("source", 2), ("what must hold", 6), ("verdict", 2), ("measured", 4)):
        table.add_column(heading, ratio=ratio)
    for one in done.verdicts:
        colour = COLOURS[one.verdict]
        table.add_row(
            one.source.id,
            escape(one.check.says),
            f"[{colour}]{one.verdict}[/{colour}]",
            escape(f"{one.number} ({one.check.bound})"),
        )
    return table
