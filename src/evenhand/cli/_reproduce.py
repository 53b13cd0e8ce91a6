"""``evenhand reproduce``: the paper's evaluation, claim by claim."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from evenhand import paper
from evenhand.cli import _sweeping as sweeping
from evenhand.cli._screen import screen
from evenhand.paper.measurement import FAILS, HOLDS, OTHER_FORM, UNDECIDED
from evenhand.sweeps import Grid, SweepResults
from evenhand.sweeps.board import Failure

COLOURS = {HOLDS: "green", OTHER_FORM: "yellow", UNDECIDED: "cyan", FAILS: "red"}
IDS = ", ".join([*paper.experiments(paper.Plan(quick=False)), "movies"])


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
    movielens: Annotated[
        Path | None, typer.Option(help="Folder or zip of a MovieLens release, for the movies.")
    ] = None,
    backend: sweeping.BackendOption = "threads",
    scheduler: sweeping.SchedulerOption = None,
    workers: sweeping.WorkersOption = None,
    any_version: sweeping.AnyVersionOption = False,
) -> None:
    """Run the paper's evaluation and tell, claim by claim, what holds.

    Stopped with Ctrl-C, it keeps what is finished; the same command goes on from there.
    """
    machine = sweeping.Machine(backend, workers, scheduler).check()

    failed: list[Failure] = []

    def play(grid: Grid, folder: Path, only: Iterable[str] | None = None) -> SweepResults:
        outcome = sweeping.play_grid(
            grid,
            folder,
            machine,
            resume=True,
            any_version=any_version,
            only=only,
            again="the same command",
        )
        failed.extend(outcome.board.given_up)
        sweeping.tell_failures(outcome.board)
        sweeping.tell_versions(outcome.results)
        return outcome.results

    folder = out or Path("reproduction-quick" if quick else "reproduction")
    done = paper.reproduce(folder, paper.Plan(quick), only or (), movielens, play)
    if done.plan.note:
        screen.print(f"[bold red]{done.plan.note}[/bold red]\n")
    screen.print(claims_table(done))
    screen.print()
    screen.print(f"report: {done.report}", soft_wrap=True, markup=False)
    if failed:
        raise typer.Exit(sweeping.FAILED)


def claims_table(done: paper.Reproduction) -> Table:
    """Return a claim a line; what else was measured is left to the report."""
    table = Table(box=None, pad_edge=False)
    table.add_column("the paper says", ratio=6)
    table.add_column("verdict", ratio=2)
    table.add_column("deciding number", ratio=3)
    for verdict in done.verdicts:
        colour, bound = COLOURS[verdict.verdict], verdict.claim.rule.bound
        table.add_row(
            escape(verdict.claim.says),
            f"[{colour}]{verdict.verdict}[/{colour}]",
            escape(f"{verdict.deciding.number} ({bound})"),
        )
    return table
