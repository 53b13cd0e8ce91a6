"""A log counted once more, event by event, in plain numbers by name: what verifies the counters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from evenhand.core.fading import round_weight
from evenhand.core.state import State
from evenhand.learner.arm_table import Roster
from evenhand.service._bandit import awake_names
from evenhand.service._counters import Counters, listed, unpacked
from evenhand.service._edition import Edition, serving_policy
from evenhand.service._events import Change, Event, Expired, Made, Told, decode
from evenhand.service._reading import Editions, find_head
from evenhand.service.stores.protocol import Fold, View, all_events

TOLERANCE = 1e-9
# Of older decisions the store is asked again.
REMEMBERED = 100_000


class Difference(NamedTuple):
    """A number that is not what the log adds up to."""

    what: str
    counted: float
    stored: float


class Arm:
    """What the log says of one arm; ``born`` is the number of decisions before it joined."""

    __slots__ = ("awake", "born", "feedbacks", "pending", "played", "reward_sum", "weight")

    def __init__(self, born: int) -> None:
        self.born, self.played, self.pending, self.weight = born, 0, 0, 1.0
        self.awake = self.feedbacks = self.reward_sum = 0.0


class Recount:
    """Counts events of a bandit, from the first, or from where they were folded.

    Weights of a policy that forgets are those of ``epoch``.
    """

    def __init__(self, view: View, key: int, epoch: int) -> None:
        self._view, self._key, self._epoch = view, key, epoch
        self._editions = Editions(view, key)
        self._arms: dict[str, Arm] = {}
        self._made: dict[str, Made] = {}
        self._half_life = math.inf
        self.seq = self.latest = self.rounds = self.cancelled = self.told = self.expired = 0
        self.reward = 0.0
        self.edition, self.through = 0, 0
        fold = view.fold(key)
        if fold is not None:
            self._begin_at(fold)

    def _begin_at(self, fold: Fold) -> None:
        """Go on from what was folded."""
        folded, roster = unpacked(fold.counters), self._adopt(fold.edition)
        state, self.through = folded.state, fold.through
        self.seq, self.latest = folded.seq, folded.latest
        self.told, self.expired, self.reward = folded[3:6]
        self.rounds, self.cancelled = int(state.rounds[0]), int(state.cancelled[0])
        scale = math.ldexp(1.0, int(state.epoch[0]) - self._epoch)
        for i, name in enumerate(roster.problem.arms):
            arm = self._arms[name] = Arm(int(roster.marks.born[i]))
            arm.weight = float(roster.problem.weights[i])
            arm.played, arm.pending = int(state.played[i]), int(folded.pending[i])
            arm.awake = float(state.awake_counts[i]) * scale
            arm.feedbacks = float(state.feedbacks[i]) * scale
            arm.reward_sum = float(state.reward_sums[i]) * scale

    def add(self, events: Iterable[Event]) -> None:
        """Count events, which follow the last one."""
        for event in events:
            if event.seq != self.seq + 1:
                raise ValueError(f"event {self.seq + 1} is missing: the next one is {event.seq}")
            self.seq = event.seq
            match event.kind:
                case "decision":
                    self._decided(event)
                case "feedback":
                    self._told(self._decision(event.decision), decode(Told, event.body))
                case "expired":
                    self._expired(self._decision(event.decision), decode(Expired, event.body))
                case "cancelled":
                    self._cancelled(self._decision(event.decision))
                case "edition":
                    self._changed(decode(Change, event.body))
                case "reasons":
                    pass
                case _:
                    raise ValueError(f"event {event.seq} is of an unknown kind, {event.kind!r}")

    def counters(self, checked: int) -> Counters:
        """Return what was counted, as the store keeps it; ``checked`` is no count."""
        arms = [self._arms[name] for name in self._editions[self.edition].roster.problem.arms]
        clock = [np.array([number]) for number in (self.rounds, self.cancelled, self._epoch)]
        played = np.array([arm.played for arm in arms], dtype=np.int64)
        sums = [(arm.awake, arm.feedbacks, arm.reward_sum) for arm in arms]
        state = State._make([*clock, played, *np.array(sums).T, np.zeros(len(arms))])
        pending = np.array([arm.pending for arm in arms], dtype=np.int64)
        totals = self.seq, self.latest, checked, self.told, self.expired, self.reward
        return Counters(*totals, state, pending)

    def _adopt(self, number: int) -> Roster:
        edition: Edition = self._editions[number]
        self.edition = number
        self._half_life = serving_policy(edition.policy).memory_half_life
        return edition.roster

    def _weight(self, made: Made) -> float:
        return round_weight(made.time, self._epoch, self._half_life)

    def _decision(self, id_: str) -> Made:
        """Return a decision that something happened to."""
        if id_ not in self._made:
            first = self._view.decisions(self._key, [id_])[0]
            self._made[id_] = decode(Made, first.body)
        return self._made[id_]

    def _took_part(self, names: Iterable[str], made: Made) -> list[Arm]:
        found = (self._arms.get(name) for name in names)
        return [arm for arm in found if arm is not None and arm.born < made.number]

    def _names(self, made: Made) -> tuple[list[str], list[str]]:
        roster = self._editions[made.edition].roster
        return awake_names(made, roster), made.names(roster.problem.arms)

    def _decided(self, event: Event) -> None:
        made: Made = decode(Made, event.body)
        awake, chosen = self._names(made)
        weight = self._weight(made)
        self.latest += 1
        self.rounds += 1
        self._made[event.decision] = made
        if len(self._made) > REMEMBERED:
            self._made.pop(next(iter(self._made)))
        for name in awake:
            self._arms[name].awake += weight
        for name in chosen:
            self._arms[name].played += 1
            self._arms[name].pending += 1

    def _told(self, made: Made, told: Told) -> None:
        weight = self._weight(made)
        for name, reward in told.counted.items():
            arm = self._arms[name]
            self.told += 1
            self.reward += told.rewards[name] * arm.weight
            arm.feedbacks += weight
            arm.reward_sum += weight * reward
            arm.pending -= 1

    def _expired(self, made: Made, expired: Expired) -> None:
        self.expired += len(expired.arms)
        if expired.told is not None:
            self._told(made, expired.told)
        else:
            for arm in self._took_part(expired.arms, made):
                arm.pending -= 1

    def _cancelled(self, made: Made) -> None:
        awake, chosen = self._names(made)
        weight = self._weight(made)
        if made.time < self.rounds + self.cancelled:
            self.cancelled += 1
        self.rounds -= 1
        for arm in self._took_part(awake, made):
            arm.awake = max(arm.awake - weight, 0.0)
        for arm in self._took_part(chosen, made):
            arm.played -= 1
            arm.pending -= 1

    def _changed(self, change: Change) -> None:
        problem = self._adopt(change.edition).problem
        self._arms = {name: self._arms.get(name) or Arm(self.latest) for name in problem.arms}
        for arm, weight in zip(self._arms.values(), problem.weights.tolist(), strict=True):
            arm.weight = weight
        for name, count in change.awake_counts.items():
            self._arms[name].awake = count * math.ldexp(1.0, change.epoch - self._epoch)


def verify(view: View, name: str) -> tuple[int, list[Difference]]:
    """Count a bandit's log again; return how many events there were, and what does not agree.

    Raises
    ------
    ValueError
        If an event is missing.
    """
    head = find_head(view, name)
    stored = unpacked(view.counters(head.key))
    recount = Recount(view, head.key, int(stored.state.epoch[0]))
    first = recount.seq
    recount.add(all_events(view, head.key, recount.through))
    numbers, known = listed(recount.counters(stored.checked)), listed(stored)
    found: list[Difference] = []
    if recount.edition != head.edition:
        found.append(Difference("edition", recount.edition, head.edition))
    arms = Editions(view, head.key)[head.edition].roster.problem.arms
    for what, value in known.items():
        if isinstance(value, list):
            pairs = zip(arms, numbers[what], value, strict=True)
            found += [
                Difference(f"{what} of arm {arm!r}", counted, kept)
                for arm, counted, kept in pairs
                if not math.isclose(counted, kept, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
            ]
        elif not math.isclose(numbers[what], value, rel_tol=TOLERANCE * (what == "reward")):
            found.append(Difference(what, numbers[what], value))
    return recount.seq - first, found
