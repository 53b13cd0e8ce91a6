"""Decisions and the feedback they have had: what may still be told, and what must be refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import NamedTuple

import numpy as np

from evenhand._base.checks import brief, real
from evenhand.errors import FeedbackError


class Decision(NamedTuple):
    """The arms to play now; ``id`` counts decisions from 1 and is what feedback must name."""

    id: int
    chosen: tuple[str, ...]
    awake: tuple[str, ...]


class Receipt(NamedTuple):
    """What became of feedback.

    ``learned``: taken in. ``repeated``: told before with the same value, so nothing changed.
    ``ignored``: the arm has retired since the decision, so there is nobody left to learn about.
    """

    decision_id: int
    learned: tuple[str, ...]
    repeated: tuple[str, ...]
    ignored: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Whether anything was learned."""
        return bool(self.learned)


@dataclass
class Entry:
    """One remembered decision: the arms chosen, and the rewards told so far."""

    chosen: tuple[str, ...]
    told: dict[str, float] = field(default_factory=dict)


class Ledger:
    """The latest decisions, at most ``memory`` of them: older ones can no longer be told about."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.entries: dict[int, Entry] = {}
        self.latest = 0

    def add(self, chosen: tuple[str, ...]) -> int:
        """Remember a decision, forget the oldest one if there are too many; return the id."""
        self.latest += 1
        self.entries[self.latest] = Entry(chosen)
        self.entries.pop(self.latest - self.memory, None)
        return self.latest

    def new_rewards(self, decision_id: int, rewards: Mapping[str, float]) -> dict[str, float]:
        """Check feedback; return what is news, in the order of the decision's arms.

        Raises
        ------
        FeedbackError
            If the decision is unknown, an arm was not chosen, a reward is outside [0, 1] or
            contradicts an earlier one. Nothing has been changed then.
        """
        entry = self._entry(decision_id)
        if not isinstance(rewards, Mapping):
            raise FeedbackError(f"feedback must map arms to rewards, got {brief(rewards)}")
        checked = {arm: _reward(decision_id, entry, arm, reward) for arm, reward in rewards.items()}
        return {
            arm: checked[arm] for arm in entry.chosen if arm in checked and arm not in entry.told
        }

    def record(self, decision_id: int, rewards: Mapping[str, float]) -> None:
        """Note rewards as told."""
        self.entries[decision_id].told.update(rewards)

    def _entry(self, decision_id: int) -> Entry:
        whole_number = isinstance(decision_id, Integral) and not isinstance(decision_id, bool)
        if whole_number and decision_id in self.entries:
            return self.entries[decision_id]
        past = whole_number and 0 < decision_id <= self.latest
        reason = f"only the latest {self.memory} are remembered" if past else "it was never made"
        raise FeedbackError(f"decision must be a known one, got {brief(decision_id)}: {reason}")


def _reward(decision_id: int, entry: Entry, arm: str, reward: object) -> float:
    """Return a reward that may be told about this arm of this decision, or complain."""
    if arm not in entry.chosen:
        chosen = ", ".join(entry.chosen) or "none"
        raise FeedbackError(
            f"feedback on decision {decision_id} must be for an arm it chose ({chosen}), "
            f"got {brief(arm)}"
        )
    found = float(reward) if isinstance(reward, bool | np.bool_) else real(reward)
    if found is None or not 0.0 <= found <= 1.0:
        raise FeedbackError(
            f"reward of arm {arm!r} must be a number in [0, 1], got {brief(reward)}"
        )
    earlier = entry.told.get(arm)
    if earlier is not None and earlier != found:
        raise FeedbackError(
            f"reward of arm {arm!r} in decision {decision_id} must be what was told before, "
            f"{earlier!r}, got {found!r}"
        )
    return found
