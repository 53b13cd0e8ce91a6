"""Every checkable statement of the paper's Section 5 as a row with a computed verdict.

A claim has a rule that a program can decide. It is tried with the forms of the debt as published
(Eq. 5 for TSCSF-B, the reflected queue for LFG), and if it fails, with both forms alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evenhand.paper.evidence import OTHERS, PUBLISHED, Evidence, Figure, Pairing

HOLDS = "holds"
OTHER_FORM = "holds only with the other debt form"
FAILS = "does not hold"


class Measured(NamedTuple):
    """Whether a rule is satisfied, and the figures it was decided on."""

    passed: bool
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Claim:
    """What the paper says, where, how it is decided here, and from which cells."""

    id: str
    where: str
    says: str
    rule: str
    cells: tuple[str, ...]
    check: Callable[[Evidence, Pairing], Measured]


class Verdict(NamedTuple):
    """A claim with its verdict and the figures behind it."""

    claim: Claim
    verdict: str
    forms: str
    figures: tuple[Figure, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the row for machines."""
        return {
            "id": self.claim.id,
            "where": self.claim.where,
            "says": self.claim.says,
            "rule": self.claim.rule,
            "verdict": self.verdict,
            "forms": self.forms,
            "figures": [figure._asdict() for figure in self.figures],
        }


def judge(claim: Claim, evidence: Evidence) -> Verdict:
    """Decide a claim by its rule, as published first and then with the other forms of the debt."""
    published = claim.check(evidence, PUBLISHED)
    others = [(pairing, claim.check(evidence, pairing)) for pairing in OTHERS]
    same = all(list(other.figures) == list(published.figures) for _, other in others)
    if published.passed:
        words = "" if same else PUBLISHED.words
        return Verdict(claim, HOLDS, words, tuple(published.figures))
    for pairing, measured in others:
        if measured.passed:
            figures = (*published.figures, *measured.figures)
            return Verdict(claim, OTHER_FORM, pairing.words, tuple(dict.fromkeys(figures)))
    words = "" if same else "with no form of the debt"
    return Verdict(claim, FAILS, words, tuple(published.figures))


def judge_all(claims: Sequence[Claim], evidence: Evidence) -> list[Verdict]:
    """Decide every claim whose cells have been measured."""
    return [
        judge(claim, evidence)
        for claim in claims
        if all(cell in evidence.results for cell in claim.cells)
    ]
