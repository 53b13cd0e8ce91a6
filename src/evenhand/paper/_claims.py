"""Every checkable statement of the paper's Section 5 as a row with a computed verdict.

A claim has a rule that a program can decide: measurements, and the bound that they must be in. It
is tried with the forms of the debt as published (Eq. 5 for TSCSF-B, the reflected queue for LFG),
and if it does not clearly hold, with both forms alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evenhand.paper._evidence import OTHERS, PUBLISHED, Evidence, Pairing
from evenhand.paper.measurement import FAILS, HOLDS, OTHER_FORM, UNDECIDED, Bound, Measurement


class Measured(NamedTuple):
    """What was measured for a claim, and the numbers that decide it where these are others."""

    measurements: Sequence[Measurement]
    decisive: Sequence[Measurement] = ()

    @property
    def deciding(self) -> Sequence[Measurement]:
        """The numbers that must be in the rule's bound."""
        return self.decisive or self.measurements


@dataclass(frozen=True)
class Rule:
    """How a claim is decided: every deciding number must be in the bound.

    The words have ``{bound}`` in the place of the bound, so that a threshold stands once.

    >>> Rule("R(T) is {bound}.", Bound(high=0.5), lambda evidence, pairing: Measured([])).text
    'R(T) is below 0.5.'
    """

    words: str
    bound: Bound
    measure: Callable[[Evidence, Pairing], Measured]

    @property
    def text(self) -> str:
        """The rule as a sentence."""
        return self.words.format(bound=self.bound)

    def decide(self, measured: Measured) -> str:
        """Return the verdict on what was measured: the worst of any number."""
        found = {self.bound.decide(number) for number in measured.deciding}
        return next((word for word in (FAILS, UNDECIDED) if word in found), HOLDS)

    def closest(self, measured: Measured) -> Measurement:
        """Return the number on which the verdict hangs: the one with least room, or none."""
        verdict = self.decide(measured)
        decisive = [number for number in measured.deciding if self.bound.decide(number) == verdict]
        return min(decisive, key=self.bound.slack)


@dataclass(frozen=True)
class Claim:
    """What the paper says, where, how it is decided here, and from which cells."""

    id: str
    where: str
    says: str
    rule: Rule
    cells: tuple[str, ...]


class Verdict(NamedTuple):
    """A claim with its verdict, what it hangs on, and everything that was measured."""

    claim: Claim
    verdict: str
    forms: str
    deciding: Measurement
    measurements: tuple[Measurement, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the row for machines."""
        return {
            "id": self.claim.id,
            "where": self.claim.where,
            "says": self.claim.says,
            "rule": self.claim.rule.text,
            "verdict": self.verdict,
            "forms": self.forms,
            "deciding": self.deciding._asdict(),
            "figures": [measurement._asdict() for measurement in self.measurements],
        }


def judge(claim: Claim, evidence: Evidence) -> Verdict:
    """Decide a claim by its rule, as published first and then with the other forms of the debt."""
    rule = claim.rule
    published = rule.measure(evidence, PUBLISHED)
    others = [(pairing, rule.measure(evidence, pairing)) for pairing in OTHERS]
    same = all(list(other.measurements) == list(published.measurements) for _, other in others)
    verdict, hangs = rule.decide(published), rule.closest(published)
    words = "" if same else PUBLISHED.words
    if verdict != HOLDS:
        for pairing, measured in others:
            if rule.decide(measured) == HOLDS:
                both = dict.fromkeys((*published.measurements, *measured.measurements))
                return Verdict(claim, OTHER_FORM, pairing.words, hangs, tuple(both))
        words = "" if same or verdict == UNDECIDED else "with no form of the debt"
    return Verdict(claim, verdict, words, hangs, tuple(published.measurements))


def judge_all(claims: Sequence[Claim], evidence: Evidence) -> list[Verdict]:
    """Decide every claim whose cells have been measured."""
    return [
        judge(claim, evidence)
        for claim in claims
        if all(cell in evidence.results for cell in claim.cells)
    ]
