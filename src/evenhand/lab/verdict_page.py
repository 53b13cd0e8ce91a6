"""Verdicts as HTML: how many of which kind, and a table of them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from evenhand.core.html import TableCell, bullets, table
from evenhand.lab.judging import Verdict, counted
from evenhand.lab.measurement import FAILS, HOLDS, OTHER_FORM, UNDECIDED

STYLES = {HOLDS: "good", OTHER_FORM: "warn", UNDECIDED: "open", FAILS: "bad"}
SHORT = {OTHER_FORM: "other form only"}
PLURAL = {
    HOLDS: "hold",
    OTHER_FORM: "hold only with the other debt form",
    FAILS: "do not hold",
}


def counts(verdicts: Sequence[Verdict], *words: str) -> str:
    """Return how many verdicts are of which kind; all kinds, or the ones named."""
    numbers = counted(verdicts)
    return ", ".join(
        f'<span class="{STYLES[word]}">{numbers[word]} {escape(plural(word, numbers[word]))}</span>'
        for word in words or STYLES
    )


def plural(word: str, number: int) -> str:
    """Return a verdict for several claims.

    >>> plural("does not hold", 2), plural("holds", 1), plural("holds", 2)
    ('do not hold', 'holds', 'hold')
    """
    return word if number == 1 else PLURAL.get(word, word)


def verdict_table(verdicts: Sequence[Verdict], heading: str, where: str = "") -> str:
    """Return a row for each verdict; the claim opens to show its rule and all measurements."""
    rows: list[list[TableCell | str]] = [
        [
            TableCell(SHORT.get(one.verdict, one.verdict), STYLES[one.verdict]),
            TableCell(_claim(one, where)),
            TableCell(_deciding(one), "number"),
        ]
        for one in verdicts
    ]
    return table(["Verdict", heading, "Deciding number"], rows, style="claims")


def _deciding(one: Verdict) -> str:
    number, bound = one.deciding.number, one.claim.rule.bound
    return f"{escape(number)} <small>({escape(str(bound))})</small>"


def _claim(one: Verdict, where: str) -> str:
    claim, variant = one.claim, f" Debt: {one.variant}." if one.variant else ""
    measured = bullets([f"Deciding: {one.deciding}", *map(str, one.measurements)]).html
    rule = escape(f"{claim.rule.text} ({where}{claim.where}.){variant}")
    return f"<details><summary>{escape(claim.says)}</summary><p>{rule}</p>{measured}</details>"
