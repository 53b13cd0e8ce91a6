"""``evenhand reproduce``: the paper's evaluation, claim by claim."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from evenhand import paper
from evenhand.cli.screen import screen
from evenhand.paper.claims import FAILS, HOLDS, OTHER_FORM

COLOURS = {HOLDS: "green", OTHER_FORM: "yellow", FAILS: "red"}
FEW_FIGURES = 4
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
) -> None:
    """Run the paper's evaluation and tell, claim by claim, what holds.

    Stopped with Ctrl-C, it keeps finished cells; the same command goes on from there.
    """
    folder = out or Path("reproduction-quick" if quick else "reproduction")
    done = paper.reproduce(folder, paper.Plan(quick), only or (), movielens)
    if done.plan.note:
        screen.print(f"[bold red]{done.plan.note}[/bold red]\n")
    screen.print(claims_table(done))
    screen.print()
    screen.print(f"report: {done.report}", soft_wrap=True, markup=False)


def claims_table(done: paper.Reproduction) -> Table:
    """Return one line per claim; long lists of figures are left to the report."""
    table = Table(show_lines=True)
    table.add_column("the paper says", ratio=4)
    table.add_column("verdict", ratio=2)
    table.add_column("measured", ratio=4)
    for verdict in done.verdicts:
        shown = [str(figure) for figure in verdict.figures[:FEW_FIGURES]]
        if len(verdict.figures) > FEW_FIGURES:
            shown.append(f"… and {len(verdict.figures) - FEW_FIGURES} more in the report")
        colour = COLOURS[verdict.verdict]
        table.add_row(
            escape(verdict.claim.says),
            f"[{colour}]{verdict.verdict}[/{colour}]\n[dim]{verdict.forms}[/dim]",
            escape("\n".join(shown)),
        )
    return table
