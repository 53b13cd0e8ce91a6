"""Recount a log event by event, in plain numbers by arm name, to verify the counters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evenhand.core.fading import round_weight
from evenhand.core.round import StepOptions
from evenhand.core.schema import names_of, new
from evenhand.core.state import State, cumulative_debts
from evenhand.learner.arm_table import ArmTable
from evenhand.problem import Problem
from evenhand.service.engine.bandit import awake_names
from evenhand.service.engine.config_version import (
    ConfigVersion,
    ConfigVersions,
    serving_policy,
)
from evenhand.service.engine.counters import Counters, Totals, to_plain, unpacked
from evenhand.service.engine.events import (
    ConfigEvent,
    DecisionEvent,
    ExpiryEvent,
    FeedbackEvent,
    decode,
)
from evenhand.service.stores.protocol import Compaction, Event, View, all_events
from evenhand.service.views.lookup import find_head

TOLERANCE = 1e-9
# Older decisions are read from the store again.
REMEMBERED = 100_000


class Difference(NamedTuple):
    """A counter that differs from the recount."""

    what: str
    counted: float
    stored: float


class ArmTotals:
    """The totals of one arm; ``born`` is the number of decisions before it joined."""

    __slots__ = ("awake", "born", "debt", "feedbacks", "pending", "played", "reward_sum", "weight")

    def __init__(self, born: int) -> None:
        self.born, self.played, self.pending, self.weight = born, 0, 0, 1.0
        self.awake = self.feedbacks = self.reward_sum = self.debt = 0.0


class Recount:
    """Counts the events of a bandit, from the first one or from the last compaction.

    Weights of a policy with a half-life are those of ``epoch``.
    """

    def __init__(self, view: View, key: int, epoch: int) -> None:
        self._view, self._key, self._epoch = view, key, epoch
        self._configs = ConfigVersions(view, key)
        self._arms: dict[str, ArmTotals] = {}
        self._made: dict[str, DecisionEvent] = {}
        self._options = StepOptions()
        self.seq = self.latest = self.rounds = self.cancelled = self.told = self.expired = 0
        self.reward = 0.0
        self.config_version, self.through = 0, 0
        compaction = view.compaction(key)
        if compaction is not None:
            self._start_from(compaction)

    def _start_from(self, compaction: Compaction) -> None:
        """Start from the counters of a compaction."""
        counters, table = unpacked(compaction.counters), self._use(compaction.config_version)
        totals, state, self.through = counters.totals, counters.state, compaction.through
        self.seq, self.latest = totals.seq.item(), totals.latest.item()
        self.told, self.expired = totals.told.item(), totals.expired.item()
        self.reward = totals.reward.item()
        self.rounds, self.cancelled = int(state.rounds[0]), int(state.cancelled[0])
        scale = math.ldexp(1.0, int(state.epoch[0]) - self._epoch)
        for i, name in enumerate(table.problem.arms):
            arm = self._arms[name] = ArmTotals(int(table.clock.born[i]))
            arm.weight, arm.debt = float(table.problem.weights[i]), float(state.debts[i])
            arm.played, arm.pending = int(state.played[i]), int(totals.pending[i])
            arm.awake = float(state.awake_counts[i]) * scale
            arm.feedbacks = float(state.feedbacks[i]) * scale
            arm.reward_sum = float(state.reward_sums[i]) * scale

    def add(self, events: Iterable[Event]) -> None:
        """Count the next events."""
        for event in events:
            if event.seq != self.seq + 1:
                raise ValueError(f"event {self.seq + 1} is missing: the next one is {event.seq}")
            self.seq = event.seq
            match event.kind:
                case "decision":
                    self._decided(event)
                case "feedback":
                    self._told(self._decision(event.decision), decode(FeedbackEvent, event.body))
                case "expired":
                    self._expired(self._decision(event.decision), decode(ExpiryEvent, event.body))
                case "cancelled":
                    self._cancelled(self._decision(event.decision))
                case "edition":
                    self._changed(decode(ConfigEvent, event.body))
                case "reasons":
                    pass
                case _:
                    raise ValueError(f"event {event.seq} is of an unknown kind, {event.kind!r}")

    def counters(self, checked: int) -> Counters:
        """Return the counters as the store keeps them; ``checked`` is not a count."""
        table = self._configs[self.config_version].table
        arms = [self._arms[name] for name in table.problem.arms]
        state, totals = new(State, len(arms)), new(Totals, len(arms))
        state.rounds[0], state.cancelled[0], state.epoch[0] = (
            self.rounds,
            self.cancelled,
            self._epoch,
        )
        for i, arm in enumerate(arms):
            state.played[i], state.awake_counts[i] = arm.played, arm.awake
            state.feedbacks[i], state.reward_sums[i] = arm.feedbacks, arm.reward_sum
            state.debts[i], totals.pending[i] = arm.debt, arm.pending
        if self._options.surplus == math.inf:
            state.debts[:] = cumulative_debts(state, table.arrays)
        totals.seq[0], totals.latest[0], totals.checked[0] = self.seq, self.latest, checked
        totals.told[0], totals.expired[0], totals.reward[0] = self.told, self.expired, self.reward
        return Counters(totals, state)

    def _use(self, number: int) -> ArmTable:
        config: ConfigVersion = self._configs[number]
        self.config_version = number
        self._options = serving_policy(config.policy).options
        return config.table

    def _weight(self, made: DecisionEvent) -> float:
        return round_weight(made.time, self._epoch, self._options.half_life)

    def _decision(self, id_: str) -> DecisionEvent:
        """Return the decision of a later event."""
        if id_ not in self._made:
            first = self._view.decisions(self._key, [id_])[0]
            self._made[id_] = decode(DecisionEvent, first.body)
        return self._made[id_]

    def _took_part(self, names: Iterable[str], made: DecisionEvent) -> list[ArmTotals]:
        found = (self._arms.get(name) for name in names)
        return [arm for arm in found if arm is not None and arm.born < made.number]

    def _names(self, made: DecisionEvent) -> tuple[list[str], list[str]]:
        table = self._configs[made.config_version].table
        return awake_names(made, table), made.names(table.problem.arms)

    def _promised(self, made: DecisionEvent) -> dict[str, float]:
        """Return by how much each debt grew in the round of a decision."""
        table = self._configs[made.config_version].table
        growth = 1.0 + self._options.tightening / math.sqrt(made.round)
        floors = (table.arrays.floors * growth).tolist()
        return dict(zip(table.problem.arms, floors, strict=True))

    def _after(self, debt: float, change: float) -> float:
        """Return a debt after a change; it is at least minus the surplus."""
        return max(debt + change, 0.0 - self._options.surplus)

    def _decided(self, event: Event) -> None:
        made: DecisionEvent = decode(DecisionEvent, event.body)
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
            self._arms[name].debt -= 1.0
        for name, promised in self._promised(made).items():
            self._arms[name].debt = self._after(self._arms[name].debt, promised)

    def _told(self, made: DecisionEvent, told: FeedbackEvent) -> None:
        weight = self._weight(made)
        for name, reward in told.counted.items():
            arm = self._arms[name]
            self.told += 1
            self.reward += told.rewards[name] * arm.weight
            arm.feedbacks += weight
            arm.reward_sum += weight * reward
            arm.pending -= 1

    def _expired(self, made: DecisionEvent, expired: ExpiryEvent) -> None:
        self.expired += len(expired.arms)
        if expired.told is not None:
            self._told(made, expired.told)
        else:
            for arm in self._took_part(expired.arms, made):
                arm.pending -= 1

    def _cancelled(self, made: DecisionEvent) -> None:
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
        changes = {name: -promised for name, promised in self._promised(made).items()}
        for name, before in zip(chosen, made.before or (), strict=made.before is not None):
            changes[name] = before - self._after(before, -changes[name] - 1.0)
        for name, change in changes.items():
            for arm in self._took_part([name], made):
                arm.debt = self._after(arm.debt, change)

    def _changed(self, change: ConfigEvent) -> None:
        before = self._configs[self.config_version].table if self.config_version else None
        problem = self._use(change.config_version).problem
        if before is not None:
            self._forgive(before, problem)
        self._arms = {name: self._arms.get(name) or ArmTotals(self.latest) for name in problem.arms}
        for arm, weight in zip(self._arms.values(), problem.weights.tolist(), strict=True):
            arm.weight = weight
        for name, count in change.awake_counts.items():
            self._arms[name].awake = count * math.ldexp(1.0, change.epoch - self._epoch)

    def _forgive(self, before: ArmTable, problem: Problem) -> None:
        """Forget plays ahead of floors that were changed."""
        floors = problem.by_arm(problem.floors)
        columns = before.problem.arms, before.problem.floors.tolist(), before.arrays.paused.tolist()
        for name, floor, paused in zip(*columns, strict=True):
            if floors.get(name, floor) != floor and not paused:
                self._arms[name].debt = max(self._arms[name].debt, 0.0)


def verify(view: View, name: str) -> tuple[int, list[Difference]]:
    """Recount a bandit's log; return the number of events, and the differences."""
    head = find_head(view, name)
    stored = unpacked(view.counters(head.key))
    recount = Recount(view, head.key, int(stored.state.epoch[0]))
    first = recount.seq
    recount.add(all_events(view, head.key, recount.through))
    numbers, known = to_plain(recount.counters(stored.totals.checked.item())), to_plain(stored)
    found: list[Difference] = []
    if recount.config_version != head.config_version:
        versions = recount.config_version, head.config_version
        found.append(Difference("configuration", *versions))
    arms = ConfigVersions(view, head.key)[head.config_version].table.problem.arms
    for what in (*names_of(Totals), *names_of(State)):
        found += _differences(what, arms, numbers[what], known[what])
    return recount.seq - first, found


def _differences(
    what: str, arms: Sequence[str], counted: Sequence[float], kept: Sequence[float]
) -> list[Difference]:
    """Return where numbers differ: integers at all, others by more than rounding."""
    single = len(kept) == 1 and len(arms) != 1
    names = [what] if single else [f"{what} of arm {arm!r}" for arm in arms]
    return [
        Difference(name, one, other)
        for name, one, other in zip(names, counted, kept, strict=True)
        if one != other
        and not (
            isinstance(other, float)
            and math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        )
    ]
