"""Decisions and what became of them: what may still be told, and what must be refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import brief, real
from evenhand.errors import FeedbackError
from evenhand.learner.arm_table import Roster
from evenhand.learner.reasons import Reason

End: TypeAlias = Literal["", "cancelled", "expired"]
END_WORDS: dict[End, str] = {
    "": "it has been told about",
    "cancelled": "it was cancelled",
    "expired": "it has expired",
}
MANY = 16
PLAIN = frozenset([float, int, bool])
FEW_ARMS = 64


class Receipt(NamedTuple):
    """What became of feedback.

    ``learned``: taken in. ``repeated``: told before with the same value, so nothing changed.
    ``ignored``: the arm has retired since the decision, so there is nobody left to learn about.
    ``expired``: too late, for the decision has expired or has been forgotten.
    """

    decision_id: int
    learned: tuple[str, ...]
    repeated: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything was learned."""
        return bool(self.learned)


class Entry:
    """One remembered decision.

    ``time`` is its round if none had been cancelled before, by which its rewards are weighed.
    ``roster``, ``places`` and ``awake`` say which arms were chosen and awake, and ``before`` what
    was owed to the chosen ones, where debts forget a surplus. An ``awake`` of None stands for
    everyone; a roster of None means that an older version has made the decision, which kept less.
    """

    __slots__ = (
        "awake",
        "before",
        "chosen",
        "end",
        "places",
        "reasons",
        "rewards",
        "roster",
        "round",
        "time",
    )

    def __init__(
        self,
        round_: int,
        chosen: tuple[str, ...],
        places: Integers,
        roster: Roster | None,
        awake: bytes | None = None,
        before: Floats | None = None,
        reasons: tuple[Reason, ...] | None = None,
    ) -> None:
        self.round = round_
        self.time = round_
        self.chosen = chosen
        self.places = places
        self.roster = roster
        self.awake = awake
        self.before = before
        self.reasons = reasons
        self.rewards: list[float | None] | None = None
        self.end: End = ""

    @property
    def told(self) -> dict[str, float]:
        """The rewards told so far."""
        pairs = zip(self.chosen, self.rewards or (), strict=self.rewards is not None)
        return {arm: reward for arm, reward in pairs if reward is not None}

    def tell(self, rewards: Mapping[str, float]) -> None:
        """Note rewards as told."""
        known = self.rewards or [None] * len(self.chosen)
        pairs = zip(self.chosen, known, strict=True)
        self.rewards = [rewards.get(arm, before) for arm, before in pairs]

    @property
    def awaited(self) -> tuple[str, ...]:
        """The chosen arms whose rewards have not been told."""
        told = self.told
        return tuple(arm for arm in self.chosen if arm not in told)

    def awake_places(self) -> Integers:
        """Return the places of the arms that were awake."""
        assert self.roster is not None
        if self.awake is None:
            return self.roster.everyone
        bits = np.unpackbits(np.frombuffer(self.awake, dtype=np.uint8))
        return np.flatnonzero(bits)


def packed(places: Integers, roster: Roster) -> bytes | None:
    """Return places as bits, eight arms a byte; None for everyone."""
    if places.size == roster.everyone.size:
        return None
    arms = len(roster.problem.arms)
    if arms <= FEW_ARMS:
        return packed_few(places.tolist(), arms)
    mask = np.zeros(arms, dtype=np.bool_)
    mask[places] = True
    return np.packbits(mask).tobytes()


def packed_few(places: list[int], arms: int) -> bytes:
    """Do as NumPy's packbits, quicker for few arms.

    >>> packed_few([0, 9], arms=10) == np.packbits([1, 0, 0, 0, 0, 0, 0, 0, 0, 1]).tobytes()
    True
    """
    size = -(-arms // 8)
    last, bits = 8 * size - 1, 0
    for place in places:
        bits |= 1 << (last - place)
    return bits.to_bytes(size, "big")


class Ledger:
    """The latest decisions, at most ``memory`` of them: what falls out of it has expired."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.entries: dict[int, Entry] = {}
        self.latest = 0

    def add(self, entry: Entry) -> int:
        """Remember a decision, forget the oldest one if there are too many; return the id."""
        self.latest += 1
        self.entries[self.latest] = entry
        if self.latest > self.memory:
            self.entries.pop(self.latest - self.memory, None)
        return self.latest

    def later_than(self, decision_id: int) -> Iterator[Entry]:
        """Yield the decisions made after one, in their order, but those that were cancelled."""
        for later in range(decision_id + 1, self.latest + 1):
            if (entry := self.entries.get(later)) is not None and entry.end != "cancelled":
                yield entry

    def find(self, decision_id: object) -> Entry | None:
        """Return a decision, or None for one that has fallen out of memory.

        Raises
        ------
        FeedbackError
            If no such decision was ever made.
        """
        if isinstance(decision_id, Integral) and not isinstance(decision_id, bool):
            if (entry := self.entries.get(int(decision_id))) is not None:
                return entry
            if 0 < int(decision_id) <= self.latest:
                return None
        raise FeedbackError(
            f"decision must be a known one, got {brief(decision_id)}: it was never made"
        )

    def plain_feedback(
        self, decision_id: object, rewards: object
    ) -> tuple[Entry, list[float]] | None:
        """Return a decision with its first and complete feedback in the order of its arms.

        That is nearly all feedback, and quickly seen: plain numbers, one for each arm. None for any
        other. Whether rewards are in [0, 1] is left open.
        """
        if type(decision_id) is not int or type(rewards) is not dict:
            return None
        entry = self.entries.get(decision_id)
        if entry is None or entry.rewards or entry.end or len(rewards) != len(entry.chosen):
            return None
        values: list[Any] = list(map(rewards.get, entry.chosen))
        return (entry, values) if PLAIN.issuperset(map(type, values)) else None

    def remembered(self, decision_id: object) -> Entry:
        """Return a decision that is still remembered, or complain."""
        entry = self.find(decision_id)
        if entry is None:
            raise FeedbackError(
                f"decision must be a known one, got {brief(decision_id)}: "
                f"only the latest {self.memory} are remembered"
            )
        return entry

    def unheard(self, decision_id: object, purpose: str) -> Entry:
        """Return a decision of which nothing has been heard yet, or complain."""
        entry = self.remembered(decision_id)
        if entry.end or entry.rewards:
            raise FeedbackError(
                f"decision to {purpose} must be one of which nothing has been heard, "
                f"got {decision_id}: {END_WORDS[entry.end]}"
            )
        return entry


def new_rewards(decision_id: int, entry: Entry, rewards: Mapping[str, float]) -> dict[str, float]:
    """Check feedback; return what is news, in the order of the decision's arms.

    Raises
    ------
    FeedbackError
        If an arm was not chosen, a reward is outside [0, 1] or contradicts an earlier one.
        Nothing has been changed then.
    """
    allowed = entry.chosen if len(entry.chosen) <= MANY else frozenset(entry.chosen)
    for arm in rewards:
        if arm not in allowed:
            chosen = ", ".join(entry.chosen) or "none"
            raise FeedbackError(
                f"feedback on decision {decision_id} must be for an arm it chose ({chosen}), "
                f"got {brief(arm)}"
            )
    told = entry.told
    checked = {
        arm: _reward(decision_id, told.get(arm), arm, given) for arm, given in rewards.items()
    }
    if told or len(checked) < len(entry.chosen):
        order = [arm for arm in entry.chosen if arm in checked and arm not in told]
        return {arm: checked[arm] for arm in order}
    if tuple(checked) == entry.chosen:
        return checked
    return {arm: checked[arm] for arm in entry.chosen}


def check_numbers(rewards: Mapping[str, float]) -> None:
    """Complain about a reward that no arm could have returned."""
    for arm, reward in rewards.items():
        _reward(0, None, arm, reward)


def check_rewards(rewards: object) -> None:
    """Complain about feedback that is no mapping."""
    if not isinstance(rewards, Mapping):
        raise FeedbackError(f"feedback must map arms to rewards, got {brief(rewards)}")


def _reward(decision_id: int, earlier: float | None, arm: str, reward: object) -> float:
    """Return a reward that may be told about this arm of this decision, or complain."""
    found = reward if type(reward) is float else _number(reward)
    if found is None or not 0.0 <= found <= 1.0:
        raise FeedbackError(
            f"reward of arm {arm!r} must be a number in [0, 1], got {brief(reward)}"
        )
    if earlier is not None and earlier != found:
        raise FeedbackError(
            f"reward of arm {arm!r} in decision {decision_id} must be what was told before, "
            f"{earlier!r}, got {found!r}"
        )
    return found


def _number(reward: object) -> float | None:
    return float(reward) if isinstance(reward, bool | np.bool_) else real(reward)
