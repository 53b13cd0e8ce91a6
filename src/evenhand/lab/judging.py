"""Claims and verdicts: a rule that a program can decide, and what it decides.

A rule measures numbers and has the bound that they must be in. A claim may be judged in several
variants, such as the forms of the debt: it is judged as published first, and if it does not clearly
hold, in the other variants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evenhand.lab.measurement import FAILS, HOLDS, OTHER_FORM, UNDECIDED, Bound, Measurement


@dataclass(frozen=True)
class RunSize:
    """The size of an evaluation: in full as published, or a quick look."""

    quick: bool = False

    @property
    def replications(self) -> int:
        """Independent repetitions of every run."""
        return 10 if self.quick else 100

    def pick(self, full: Any, quick: Any) -> Any:
        """Return the value for this size.

        >>> RunSize(quick=True).pick(full=20_000, quick=4_000)
        4000
        """
        return quick if self.quick else full


class Measured(NamedTuple):
    """What was measured for a claim, and the numbers that decide it if they are others."""

    measurements: Sequence[Measurement]
    decisive: Sequence[Measurement] = ()

    @property
    def deciding(self) -> Sequence[Measurement]:
        """The numbers that must be in the rule's bound."""
        return self.decisive or self.measurements


@dataclass(frozen=True)
class Rule:
    """How a claim is decided: every deciding number must be in the bound.

    The words have ``{bound}`` in place of the bound, so that a threshold stands once. ``measure``
    is given the evidence and the variant.

    >>> Rule("R(T) is {bound}.", Bound(high=0.5), lambda evidence, variant: Measured([])).text
    'R(T) is below 0.5.'
    """

    words: str
    bound: Bound
    measure: Callable[[Any, Any], Measured]

    @property
    def text(self) -> str:
        """The rule as a sentence."""
        return self.words.format(bound=self.bound)

    def decide(self, measured: Measured) -> str:
        """Return the verdict on what was measured: the worst of any number."""
        found = {self.bound.decide(number) for number in measured.deciding}
        return next((word for word in (FAILS, UNDECIDED) if word in found), HOLDS)

    def closest(self, measured: Measured) -> Measurement:
        """Return the number that decides: the one with least room, or the furthest outside."""
        verdict = self.decide(measured)
        decisive = [number for number in measured.deciding if self.bound.decide(number) == verdict]
        return min(decisive, key=self.bound.slack)


@dataclass(frozen=True)
class Claim:
    """A statement, where it stands, how it is decided, and from which cells of results."""

    id: str
    where: str
    says: str
    rule: Rule
    cells: tuple[str, ...]


class Verdict(NamedTuple):
    """A claim with its verdict, the deciding number, and everything that was measured."""

    claim: Claim
    verdict: str
    variant: str
    deciding: Measurement
    measurements: tuple[Measurement, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {
            "id": self.claim.id,
            "where": self.claim.where,
            "says": self.claim.says,
            "rule": self.claim.rule.text,
            "verdict": self.verdict,
            "forms": self.variant,
            "deciding": self.deciding._asdict(),
            "figures": [measurement._asdict() for measurement in self.measurements],
        }


def judge(
    claim: Claim, evidence: Any, published: Any = None, others: Sequence[Any] = ()
) -> Verdict:
    """Decide a claim by its rule, as published first, and then in the other variants."""
    rule = claim.rule
    measured = rule.measure(evidence, published)
    tried = [(variant, rule.measure(evidence, variant)) for variant in others]
    same = all(list(other.measurements) == list(measured.measurements) for _, other in tried)
    verdict, deciding = rule.decide(measured), rule.closest(measured)
    words = "" if same or published is None else published.words
    if verdict != HOLDS:
        for variant, other in tried:
            if rule.decide(other) == HOLDS:
                both = dict.fromkeys((*measured.measurements, *other.measurements))
                return Verdict(claim, OTHER_FORM, variant.words, deciding, tuple(both))
        words = "" if same or verdict == UNDECIDED else "with no form of the debt"
    return Verdict(claim, verdict, words, deciding, tuple(measured.measurements))


def counted(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Return how many claims have which verdict."""
    words = HOLDS, OTHER_FORM, UNDECIDED, FAILS
    return {word: sum(one.verdict == word for one in verdicts) for word in words}
