"""A decision as it is remembered: what may still be told about it, and what cancelling needs."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.core.arrays import Floats, Integers
from evenhand.learner.arm_table import ArmTable
from evenhand.learner.awake import unpacked
from evenhand.learner.decision import End, Reason
from evenhand.learner.feedback import Known


class DecisionRecord:
    """One remembered decision.

    ``number`` counts decisions, ``round`` those that were not cancelled, and ``time`` is the round
    if none had been cancelled before, by which its rewards are weighed. ``table``, ``indices`` and
    ``awake`` say which arms were chosen and awake (None: everyone), and ``before`` what was owed to
    the chosen ones, where debts forget plays.
    """

    __slots__ = (
        "awake",
        "before",
        "chosen",
        "end",
        "indices",
        "number",
        "reasons",
        "rewards",
        "round",
        "table",
        "time",
    )

    def __init__(
        self,
        number: int,
        round_: int,
        time: int,
        chosen: tuple[str, ...],
        indices: Integers,
        table: ArmTable,
        awake: bytes | None = None,
        before: Floats | None = None,
    ) -> None:
        self.number = number
        self.round = round_
        self.time = time
        self.chosen = chosen
        self.indices = indices
        self.table = table
        self.awake = awake
        self.before = before
        self.reasons: tuple[Reason, ...] | None = None
        self.rewards: list[float | None] | None = None
        self.end: End = ""

    @property
    def told(self) -> dict[str, float]:
        """The rewards told so far."""
        pairs = zip(self.chosen, self.rewards or (), strict=self.rewards is not None)
        return {arm: reward for arm, reward in pairs if reward is not None}

    @property
    def known(self) -> Known:
        """What the rules of feedback want to know."""
        return Known(self.chosen, self.told, self.end)

    def tell(self, rewards: Mapping[str, float]) -> None:
        """Note rewards as told."""
        known = self.rewards or [None] * len(self.chosen)
        pairs = zip(self.chosen, known, strict=True)
        self.rewards = [rewards.get(arm, before) for arm, before in pairs]

    def awake_indices(self) -> Integers:
        """Return the indices of the arms that were awake."""
        return unpacked(self.awake, self.table)
