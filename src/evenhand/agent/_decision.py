"""What an agent answers when it is asked."""

from __future__ import annotations

from evenhand.core.arrays import Integers
from evenhand.learner.reasons import Reason


class Decision:
    """The arms to play now.

    Attributes
    ----------
    id
        Counts decisions from 1, and is what feedback must name.
    round
        Which round it is: the decisions so far, without those that were cancelled.
    chosen
        The arms to play.
    reasons
        Why: one for every awake arm, if that was asked for.
    """

    __slots__ = ("_arms", "_here", "chosen", "id", "reasons", "round")

    def __init__(
        self,
        decision_id: int,
        round_: int,
        chosen: tuple[str, ...],
        arms: tuple[str, ...],
        here: Integers,
        reasons: tuple[Reason, ...] = (),
    ) -> None:
        self.id = decision_id
        self.round = round_
        self.chosen = chosen
        self.reasons = reasons
        self._arms = arms
        self._here = here

    @property
    def awake(self) -> tuple[str, ...]:
        """The arms that could be played; put into words only when somebody looks."""
        if self._here.size == len(self._arms):
            return self._arms
        return tuple(map(self._arms.__getitem__, self._here.tolist()))

    def __repr__(self) -> str:
        return f"Decision(id={self.id}, chosen={self.chosen}, awake={self.awake})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts()[:3])

    def _facts(self) -> tuple[object, ...]:
        return self.id, self.round, self.chosen, self.awake, self.reasons
