"""The rules of feedback, for the agent and for the service: what is learned, and what is not.

Feedback on a decision is taken in as a whole or not at all, and once, however often it comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.checks import brief, real
from evenhand.learner.decision import End

Outcome: TypeAlias = Literal["applied", "duplicate", "conflict", "unknown", "expired", "invalid"]
END_WORDS: dict[End, str] = {
    "": "it has been told about",
    "cancelled": "it was cancelled",
    "expired": "it has expired",
}


class HistoryRow(NamedTuple):
    """One reward of an arm, by its index, in an encoded context."""

    arm: int
    reward: float
    context: Floats | None


class Known(NamedTuple):
    """What is known of a decision: the arms it chose, what was told of them, and its end.

    ``gone`` says why details are no longer known; feedback counts as expired then.
    """

    chosen: Sequence[str]
    told: Mapping[str, float]
    end: End
    gone: str = ""


class Ruling(NamedTuple):
    """What is to become of feedback.

    ``news`` is what is to be learned, in the order of the chosen arms; if the outcome is expired,
    what would have been. Where something is wrong, ``thing`` must be ``rule``, but is ``value``.
    """

    outcome: Outcome
    news: dict[str, float]
    repeated: tuple[str, ...] = ()
    thing: str = ""
    rule: str = ""
    value: str = ""

    @property
    def refused(self) -> bool:
        """Whether something is wrong with the feedback."""
        return self.outcome in ("conflict", "unknown", "invalid")

    @property
    def detail(self) -> str:
        """What is wrong, in a sentence."""
        return f"{self.thing} must be {self.rule}, got {self.value}" if self.thing else ""


def rule_on(decision_id: object, known: Known | None, rewards: Mapping[str, Any]) -> Ruling:
    """Return what is to become of feedback on a decision; None for one that was never made.

    >>> known = Known(("a", "b"), {"a": 1.0}, "")
    >>> rule_on(7, known, {"a": 1.0, "b": 0.5})
    Ruling(outcome='applied', news={'b': 0.5}, repeated=('a',), thing='', rule='', value='')
    >>> rule_on(7, known, {"a": 0.0}).detail
    "reward of arm 'a' in decision 7 must be what was told before, 1.0, got 0.0"
    """
    if known is None or known.end == "cancelled":
        return _without_decision(decision_id, known)
    strange = [arm for arm in rewards if not known.gone and arm not in known.chosen]
    if strange:
        thing = f"feedback on decision {brief(decision_id)}"
        rule = f"for an arm it chose ({', '.join(known.chosen) or 'none'})"
        return Ruling("invalid", {}, (), thing, rule, brief(strange[0]))
    checked: dict[str, float] = {}
    for arm, given in rewards.items():
        found = given if type(given) is float else as_reward(given)
        wrong = _wrong(decision_id, known, arm, given, found)
        if wrong is not None:
            return wrong
        assert found is not None
        checked[arm] = found
    if known.gone:
        return Ruling("expired", checked)
    news = {arm: checked[arm] for arm in known.chosen if arm in checked and arm not in known.told}
    repeated = tuple(arm for arm in rewards if arm in known.told)
    if not news:
        return Ruling("duplicate", news, repeated)
    return Ruling("expired" if known.end == "expired" else "applied", news, repeated)


def _without_decision(decision_id: object, known: Known | None) -> Ruling:
    """Refuse feedback on a decision that was never made, or was cancelled."""
    if known is None:
        value = f"{brief(decision_id)}: it was never made"
        return Ruling("unknown", {}, (), "decision", "a known one", value)
    value = f"{brief(decision_id)}: {END_WORDS[known.end]}"
    return Ruling("conflict", {}, (), "decision", "one that was made", value)


def _wrong(
    decision_id: object, known: Known, arm: Any, given: object, found: float | None
) -> Ruling | None:
    """Refuse a reward that is outside [0, 1], or was told differently before."""
    if found is None or not 0.0 <= found <= 1.0:
        thing, rule = f"reward of arm {arm!r}", "a number in [0, 1]"
        return Ruling("invalid", {}, (), thing, rule, brief(given))
    if known.told.get(arm, found) != found:
        thing = f"reward of arm {arm!r} in decision {brief(decision_id)}"
        rule = f"what was told before, {known.told[arm]!r}"
        return Ruling("conflict", {}, (), thing, rule, repr(found))
    return None


def as_reward(given: object) -> float | None:
    """Return a reward as a number; truth values count as 0 and 1, and None is no number."""
    return float(given) if isinstance(given, bool | np.bool_) else real(given)
