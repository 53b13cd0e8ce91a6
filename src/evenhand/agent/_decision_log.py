"""The latest decisions of an agent: what may still be told, and what must be refused."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

from evenhand.core.checks import brief
from evenhand.errors import FeedbackError
from evenhand.learner.decision import DecisionRecord
from evenhand.learner.feedback import END_WORDS, Known

PLAIN = frozenset([float, int, bool])


class DecisionLog:
    """The latest decisions, at most ``size`` of them; older ones have expired."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.records: dict[int, DecisionRecord] = {}
        self.latest = 0

    def add(self, record: DecisionRecord) -> None:
        """Remember a decision, and forget the oldest one if there are too many."""
        self.latest = record.number
        self.records[self.latest] = record
        if self.latest > self.size:
            self.records.pop(self.latest - self.size, None)

    def later_than(self, decision_id: int) -> Iterator[DecisionRecord]:
        """Yield the decisions made after one, in their order, but those that were cancelled."""
        for later in range(decision_id + 1, self.latest + 1):
            if (record := self.records.get(later)) is not None and record.end != "cancelled":
                yield record

    def known(self, decision_id: object) -> Known | None:
        """Return what is known of a decision; None if it was never made."""
        number = self._number(decision_id)
        if number is None:
            return None
        record = self.records.get(number)
        if record is None:
            return Known((), {}, "", gone="forgotten")
        return Known(record.chosen, record.told, record.end)

    def plain_feedback(
        self, decision_id: object, rewards: object
    ) -> tuple[DecisionRecord, list[float]] | None:
        """Return a decision with its first and complete feedback in the order of its arms.

        That is nearly all feedback, and quickly seen: plain numbers, one for each arm. None for any
        other. Whether rewards are in [0, 1] is left open.
        """
        if type(decision_id) is not int or type(rewards) is not dict:
            return None
        record = self.records.get(decision_id)
        if record is None or record.rewards or record.end or len(rewards) != len(record.chosen):
            return None
        values: list[Any] = list(map(rewards.get, record.chosen))
        return (record, values) if PLAIN.issuperset(map(type, values)) else None

    def remembered(self, decision_id: object) -> DecisionRecord:
        """Return a decision that is still remembered."""
        why, number = "it was never made", self._number(decision_id)
        if number is not None:
            record = self.records.get(number)
            if record is not None:
                return record
            why = f"only the latest {self.size} are remembered"
        raise FeedbackError(f"decision must be a known one, got {brief(decision_id)}: {why}")

    def unheard(self, decision_id: object, purpose: str) -> DecisionRecord:
        """Return a decision without feedback, or raise FeedbackError."""
        record = self.remembered(decision_id)
        if record.end or record.rewards:
            raise FeedbackError(
                f"decision to {purpose} must be one of which nothing has been heard, "
                f"got {decision_id}: {END_WORDS[record.end]}"
            )
        return record

    def _number(self, decision_id: object) -> int | None:
        """Return the number of a decision that was made; None for anything else."""
        if isinstance(decision_id, bool) or not isinstance(decision_id, Integral):
            return None
        number = int(decision_id)
        return number if 0 < number <= self.latest else None
