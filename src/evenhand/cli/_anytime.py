"""The figures of every moment, as commands take and show them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from evenhand.results import Anytime, Results

BurnInOption = Annotated[
    int | None,
    typer.Option(
        help="Rounds after which debts count as late ones; 1,000 or a tenth of the horizon."
    ),
]
ToleranceOption = Annotated[
    float | None, typer.Option(help="By more than how many plays an arm is behind; 3.")
]
WindowOption = Annotated[
    int | None, typer.Option(help="Rounds of a window; a tenth of the horizon.")
]


def with_options(
    given: Anytime, burn_in: int | None, tolerance: float | None, window: int | None
) -> Anytime:
    """Return what a file says, or where options say otherwise, what they do."""
    return Anytime(
        burn_in=given.burn_in if burn_in is None else burn_in,
        tolerance=given.tolerance if tolerance is None else tolerance,
        window=given.window if window is None else window,
    )


def anytime_json(results: Results, label: str) -> dict[str, Any]:
    """Return a policy's figures as ``--json`` prints them."""
    return results.anytime(label)._asdict()


def anytime_table(results: Results) -> Table:
    """Return how every policy stood at every moment."""
    burn_in, tolerance, window = results.marks
    table = Table(box=None, pad_edge=False)
    table.add_column("policy", style="bold")
    for heading in (
        "plays behind, most",
        f"after {burn_in:,} rounds",
        f"rounds more than {tolerance:g} behind",
        "longest gap",
        f"worst shortfall in {window:,} rounds",
    ):
        table.add_column(heading, justify="right")
    for label in results.labels:
        found = results.anytime(label)
        table.add_row(
            Text(label),
            f"{found.largest_debt:,.1f}",
            f"{found.largest_debt_after:,.1f}",
            f"{found.share_behind:.2%}",
            f"{max(found.longest_gap.values()):,.0f}",
            f"{found.worst_window_shortfall:.5f}",
        )
    return table
