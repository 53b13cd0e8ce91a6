"""Recount a log event by event, in plain numbers by arm name, to verify the counters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from evenhand.core.fading import round_weight
from evenhand.core.round import StepOptions
from evenhand.core.schema import new
from evenhand.core.state import State, cumulative_debts
from evenhand.learner.arm_table import ArmTable
from evenhand.problem import Problem
from evenhand.service.engine.bandit import awake_names
from evenhand.service.engine.config_version import (
    ConfigVersion,
    ConfigVersions,
    serving_policy,
)
from evenhand.service.engine.counters import Counters, Totals, unpacked
from evenhand.service.engine.events import (
    ConfigEvent,
    DecisionEvent,
    DecisionHistory,
    ExpiryEvent,
    FeedbackEvent,
    ReasonsEvent,
    decode,
    histories,
)
from evenhand.service.stores.protocol import Compaction, Event, View
from evenhand.service.upkeep import rules

# Older decisions are read from the store again.
REMEMBERED = 100_000


class ArmTotals:
    """The totals of one arm; ``born`` is the number of decisions before it joined."""

    __slots__ = ("awake", "born", "debt", "feedbacks", "pending", "played", "reward_sum", "weight")

    def __init__(self, born: int) -> None:
        self.born, self.played, self.pending, self.weight = born, 0, 0, 1.0
        self.awake = self.feedbacks = self.reward_sum = self.debt = 0.0


class _KnownDecision(NamedTuple):
    """A decision: the number of its event, what the log has said of it so far, and its body."""

    seq: int
    history: DecisionHistory
    made: DecisionEvent


class Recount:
    """Counts the events of a bandit, from the first one or from the last compaction.

    Weights of a policy with a half-life are those of ``epoch``. ``checked`` is the last event that
    was checked for overdue feedback.
    """

    def __init__(self, view: View, key: int, epoch: int, checked: int = 0) -> None:
        self._view, self._key, self._epoch = view, key, epoch
        self._configs = ConfigVersions(view, key)
        self._arms: dict[str, ArmTotals] = {}
        self._known: dict[str, _KnownDecision] = {}
        self._options, self._adds_up = StepOptions(), True
        # Of decisions up to event ``checked``, how many plays await feedback.
        self._checked, self.unchecked = checked, 0
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
        """Count the next events; raise ValueError if the server cannot have written one."""
        for event in events:
            rules.check_event(event, self.seq + 1)
            self.seq = event.seq
            match event.kind:
                case "decision":
                    self._decided(event)
                case "feedback":
                    self._told(event, decode(FeedbackEvent, event.body))
                case "expired":
                    self._expired(event, decode(ExpiryEvent, event.body))
                case "cancelled":
                    self._cancelled(event)
                case "edition":
                    self._changed(event, decode(ConfigEvent, event.body))
                case "reasons":
                    self._known_decision(event)
                    decode(ReasonsEvent, event.body)
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
        policy = serving_policy(config.policy)
        self.config_version = number
        self._options, self._adds_up = policy.options, policy.adds_up
        return config.table

    def _weight(self, made: DecisionEvent) -> float:
        return round_weight(made.time, self._epoch, self._options.half_life)

    def _known_decision(self, event: Event) -> _KnownDecision:
        """Return the decision of a later event, as it was before that."""
        known = self._known.get(event.decision)
        if known is None:
            rows = self._view.decisions(self._key, [event.decision], reasons=False)
            earlier = [row for row in rows if row.seq < event.seq]
            history = histories(earlier).get(event.decision)
            if history is None or history.made is None:
                raise ValueError(f"event {event.seq} is on a decision that was not made before")
            known = self._remember(event.decision, earlier[0].seq, history, history.made)
        return known

    def _remember(
        self, id_: str, seq: int, history: DecisionHistory, made: DecisionEvent
    ) -> _KnownDecision:
        if len(self._known) >= REMEMBERED:
            self._known.pop(next(iter(self._known)))
        known = self._known[id_] = _KnownDecision(seq, history, made)
        return known

    def _heard(self, known: _KnownDecision, plays: int) -> None:
        """Count plays that no longer await feedback."""
        if known.seq <= self._checked:
            self.unchecked -= plays

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
        due = rules.Clocks(
            self.latest + 1, self.rounds + 1, self.rounds + 1 + self.cancelled, self.config_version
        )
        table = self._configs[self.config_version].table
        rules.check_decision(event, made, due, table, self._adds_up)
        self._heard(
            self._remember(event.decision, event.seq, DecisionHistory(event, made), made),
            -len(made.chosen),
        )
        awake, chosen = self._names(made)
        weight = self._weight(made)
        self.latest += 1
        self.rounds += 1
        for name in awake:
            self._arms[name].awake += weight
        for name in chosen:
            self._arms[name].played += 1
            self._arms[name].pending += 1
            self._arms[name].debt -= 1.0
        for name, promised in self._promised(made).items():
            self._arms[name].debt = self._after(self._arms[name].debt, promised)

    def _told(self, event: Event, told: FeedbackEvent) -> None:
        known = self._known_decision(event)
        rules.check_open(event, known.history)
        self._learned(event, known, told)
        self._heard(known, len(told.rewards))

    def _learned(self, event: Event, known: _KnownDecision, told: FeedbackEvent) -> None:
        _, chosen = self._names(known.made)
        rules.check_feedback(event, told, known.history, chosen, self._options)
        known.history.add("feedback", told)
        weight = self._weight(known.made)
        for name, reward in told.counted.items():
            arm = self._arms[name]
            self.told += 1
            self.reward += told.rewards[name] * arm.weight
            arm.feedbacks += weight
            arm.reward_sum += weight * reward
            arm.pending -= 1

    def _expired(self, event: Event, expired: ExpiryEvent) -> None:
        known = self._known_decision(event)
        _, chosen = self._names(known.made)
        rules.check_open(event, known.history)
        rules.check_expiry(event, expired, known.history.told, chosen)
        self.expired += len(expired.arms)
        self._heard(known, len(expired.arms))
        if expired.told is not None:
            self._learned(event, known, expired.told)
        else:
            for arm in self._took_part(expired.arms, known.made):
                arm.pending -= 1
        known.history.add("expired", None)

    def _cancelled(self, event: Event) -> None:
        known = self._known_decision(event)
        made = known.made
        rules.check_open(event, known.history)
        rules.check_cancelled(event, known.history)
        known.history.add("cancelled", None)
        self._heard(known, len(made.chosen))
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

    def _changed(self, event: Event, change: ConfigEvent) -> None:
        rules.check_change(event, change)
        if change.config_version != self.config_version + 1:
            raise ValueError(f"event {event.seq} skips a configuration: {change.config_version}")
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
