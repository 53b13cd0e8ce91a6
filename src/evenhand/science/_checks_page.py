"""The outside checks as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from evenhand.core.html import Field, Section, page, table
from evenhand.paper.measurement import FAILS, HOLDS, UNDECIDED
from evenhand.science.checks import SEED, Effort, Source, Verdict, counted

STYLES = {HOLDS: "good", UNDECIDED: "open", FAILS: "bad"}
LEAD = "Problems that somebody else set, answers that somebody else gave, and laws that must hold."


def checks_page(effort: Effort, verdicts: Sequence[Verdict], about: Mapping[str, Any]) -> str:
    """Return the page."""
    sections = [Section("All together", summary(verdicts))]
    for source, group in groupby(verdicts, key=lambda one: one.source):
        sections.append(Section(source.title, about_source(source) + checks_table(list(group))))
    sections.append(Section("How it was run", origin(effort, about)))
    return page("Checked against others", LEAD, sections, effort.note)


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return how many checks have which verdict."""
    counts = ", ".join(
        f'<span class="{STYLES[word]}">{number} {escape(_plural(word, number))}</span>'
        for word, number in counted(verdicts).items()
    )
    return (
        f"<p>{len(verdicts)} checks: {counts}. A check holds if the measured number, with its 95% "
        "interval where chance has a part in it, is within the stated tolerance; it is undecided "
        "where the interval reaches across an end of it.</p>"
    )


def about_source(source: Source) -> str:
    """Return where a problem stands, and what it is."""
    return f"<p>{escape(source.reference)}.<br>{escape(source.setting)}.</p>"


def checks_table(verdicts: Sequence[Verdict]) -> str:
    """Return a line for each check."""
    rows: list[list[Field | str]] = [
        [
            Field(one.verdict, STYLES[one.verdict]),
            one.check.says,
            Field(f"{escape(one.number)}<br><small>{escape(one.measured.words)}</small>"),
            Field(escape(str(one.check.bound)), "number"),
        ]
        for one in verdicts
    ]
    return table(["Verdict", "What must hold", "Measured", "Tolerance"], rows)


def origin(effort: Effort, about: Mapping[str, Any]) -> str:
    """Return the seed, and the versions that played."""
    versions = ", ".join(f"{name} {number}" for name, number in about["matching"].items())
    return f"<p>Seed {SEED}, {effort.replications} replications; {escape(versions)}.</p>"


def _plural(word: str, number: int) -> str:
    """Return a verdict for several checks.

    >>> _plural("does not hold", 2), _plural("holds", 1), _plural("holds", 2)
    ('do not hold', 'holds', 'hold')
    """
    return word if number == 1 else {HOLDS: "hold", FAILS: "do not hold"}.get(word, word)
