"""Verdicts as a table on the screen."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from evenhand.lab.judging import Verdict
from evenhand.lab.measurement import FAILS, HOLDS, OTHER_FORM, UNDECIDED

COLOURS = {HOLDS: "green", OTHER_FORM: "yellow", UNDECIDED: "cyan", FAILS: "red"}


def verdict_table(verdicts: Iterable[Verdict], heading: str) -> Table:
    """Return a row for each verdict: the claim, the verdict, and the deciding number."""
    table = Table(box=None, pad_edge=False)
    for words, ratio in ((heading, 6), ("verdict", 2), ("deciding number", 3)):
        table.add_column(words, ratio=ratio)
    for one in verdicts:
        colour = COLOURS[one.verdict]
        table.add_row(
            escape(one.claim.says),
            f"[{colour}]{one.verdict}[/{colour}]",
            escape(f"{one.deciding.number} ({one.claim.rule.bound})"),
        )
    return table
