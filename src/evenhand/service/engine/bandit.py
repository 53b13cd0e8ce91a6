"""A served bandit: a learner whose decision log is the store's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import fail
from evenhand.core.round import flipped
from evenhand.core.schema import carried, copied, from_bytes, new, to_bytes
from evenhand.learner.arm_table import ArmTable, kept_arms
from evenhand.learner.awake import mask_of_names, unpacked
from evenhand.learner.decision import DecisionRecord
from evenhand.learner.learner import Learner
from evenhand.problem import Problem
from evenhand.service.engine.config_version import ConfigVersion, serving_policy
from evenhand.service.engine.counters import Counters, Totals
from evenhand.service.engine.digests import Link
from evenhand.service.engine.events import DecisionEvent, FeedbackEvent
from evenhand.service.engine.explanations import KEPT, BatchBasis, DecisionBasis
from evenhand.service.schemas import FeedbackRule

# Computing the reasons of more arms would take seconds.
MOST_EXPLAINED = 2_000
MANY_ARMS = 50
# How long a decision takes, in seconds on a slow core: in all, and for each arm.
DECISION, ARM_COMPILED, ARM_INTERPRETED, SLOW = 50e-6, 0.1e-6, 2e-6, 0.1
TABLES = 8
# Whether decisions are compiled, will be in a moment, or never.
EngineState: TypeAlias = Literal["compiled", "compiling", "interpreted"]


class Bandit:
    """A learner with one configuration, and the counters of its log.

    The caller writes what it does to the store. ``version`` is the store's version that the
    counters correspond to.
    """

    def __init__(self, key: int, config: ConfigVersion, engine: EngineState) -> None:
        problem, policy = config.table.problem, serving_policy(config.policy)
        compiled = engine == "compiled"
        self.learner = Learner(problem, policy, compiled=compiled, table=config.table)
        self.engine, self.size = engine, len(problem.arms)
        each = ARM_COMPILED if compiled else ARM_INTERPRETED
        self.decision_seconds = DECISION + each * self.size
        if not compiled and self.size >= MANY_ARMS:
            # Now and then prices are computed anew.
            self.decision_seconds = SLOW
        # Interpreted, what a policy computes now and then takes seconds with many arms.
        self._postpones = engine == "compiling" and self.size >= MANY_ARMS
        self.key, self.version, self.config = key, 0, config
        self._tables: dict[int, ArmTable] = {}
        self.cache_table(config)
        self.totals, self.link = new(Totals, len(problem.arms)), Link()

    @property
    def problem(self) -> Problem:
        """The arms, how many may be played, weights and floors."""
        return self.learner.problem

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms."""
        return self.learner.problem.arms

    @property
    def compiled(self) -> bool:
        """Whether decisions are compiled."""
        return self.learner.engine.compiled

    @property
    def counters(self) -> Counters:
        """The counters; their arrays are the ones in use, not copies."""
        self.totals.latest[0] = self.learner.decisions
        memory = to_bytes(self.learner.engine.memory)
        return Counters(self.totals, self.learner.state, memory, self.link)

    def load(self, counters: Counters, version: int) -> None:
        """Continue from stored counters of the same configuration."""
        learner = self.learner
        self.totals, self.link = counters.totals, counters.link
        learner.decisions = int(counters.totals.latest[0])
        if counters.memory:
            memory = from_bytes(learner.policy.memory_kind(), counters.memory, len(self.arms))
            learner.engine.bind(learner.table.arrays, memory)
        learner.load(counters.state)
        self.version = version

    def decide(
        self, awake: Sequence[str] | None, explain: bool
    ) -> tuple[DecisionEvent, DecisionBasis | None]:
        """Choose arms; clock, debts and pending plays advance at once."""
        learner, table = self.learner, self.learner.table
        if awake is None:
            here, bits = table.everyone, None
        else:
            mask = mask_of_names(table, awake)
            bits = np.packbits(mask).tobytes()
            here = np.flatnonzero(mask & ~table.arrays.paused)
        if explain and here.size > MOST_EXPLAINED:
            fail("awake arms of an explained decision", f"at most {MOST_EXPLAINED}", here.size)
        before = None
        if here.size <= MOST_EXPLAINED:
            before = learner.view(here), copied(learner.engine.memory)
        self._postpone()
        drawn = learner.decide(here)
        chosen, owed, *_ = drawn
        self.totals.pending[chosen] += 1
        made = self._made(chosen, owed, learner.decisions, learner.rounds, bits)
        return made, None if before is None else DecisionBasis(learner.basis(*before, drawn))

    def decide_many(self, count: int) -> list[tuple[DecisionEvent, DecisionBasis | None]]:
        """Make consecutive decisions with all arms awake: cheaper than one by one."""
        learner, here = self.learner, self.learner.table.everyone
        start, rounds = learner.decisions, learner.rounds
        before = None
        if here.size <= MOST_EXPLAINED:
            before = learner.view(here), copied(learner.engine.memory)
        many = None if self._postpones else learner.decide_many(count, here)
        if many is None:
            return [self.decide(None, False) for _ in range(count)]
        np.add.at(self.totals.pending, np.concatenate(many.chosen), 1)
        made = [
            self._made(chosen, owed, start + i, rounds + i, None)
            for i, (chosen, owed) in enumerate(zip(many.chosen, many.before, strict=True), start=1)
        ]
        if before is None:
            return [(one, None) for one in made]
        # Copies: a row would keep the samples of all.
        last_ones = [row.copy() for row in many.samples[-KEPT:]]
        constants = learner.engine.constants
        bases = BatchBasis(learner.policy, self.arms, *before, constants, many.chosen, last_ones)
        known = count - len(last_ones)
        return [
            (one, DecisionBasis(bases, i) if i >= known else None) for i, one in enumerate(made)
        ]

    def _postpone(self) -> None:
        """Decide with the prices of before, as long as there is no machine code."""
        if self._postpones:
            learner = self.learner
            learner.policy.postpone(learner.state, learner.table.arrays, learner.engine.memory)

    def _made(
        self, chosen: Integers, owed: Floats, number: int, round_: int, awake: bytes | None
    ) -> DecisionEvent:
        """Return the event of a decision."""
        time, before = round_ + int(self.learner.state.cancelled[0]), None
        if not self.learner.adds_up:
            before = owed[: chosen.size].tolist()
        return DecisionEvent(
            number, round_, time, self.config.number, chosen.tolist(), awake, before
        )

    def learn(self, record: DecisionRecord, news: dict[str, float]) -> FeedbackEvent:
        """Learn rewards of a decision, of the arms that are still there."""
        learner, table, totals = self.learner, self.learner.table, self.totals
        there = learner.still_there(record, news)
        indices = np.array([table.position[arm] for arm in there], dtype=np.int64)
        rewards = [news[arm] for arm in there]
        totals.told[0] += len(there)
        for arm, index in zip(there, indices.tolist(), strict=True):
            totals.reward[0] += news[arm] * table.arrays.weights.item(index)
        if learner.options.binarised:
            rewards = [float(flipped(reward, learner.rng)) for reward in rewards]
        learner.learn(indices, rewards, record.time)
        totals.pending[indices] -= 1
        counted = dict(zip(there, rewards, strict=True))
        return FeedbackEvent(news, counted, [arm for arm in news if arm not in counted])

    def stop_waiting(self, record: DecisionRecord, arms: Sequence[str]) -> None:
        """Count plays of a decision as no longer pending."""
        there = self.learner.still_there(record, arms)
        self.totals.pending[[self.learner.table.position[arm] for arm in there]] -= 1

    def cancel(self, record: DecisionRecord) -> bool:
        """Undo a decision; say whether that changed the arms' clocks."""
        self.stop_waiting(record, record.chosen)
        before = self.learner.table
        self.learner.cancel(record)
        return self.learner.table is not before

    def reconfigure(
        self,
        change: Callable[[Learner], Floats | None],
        *,
        availability: dict[str, float | None] | None = None,
        feedback: FeedbackRule | None = None,
    ) -> tuple[ConfigVersion, dict[str, float]]:
        """Change the arms or the rules; return the new configuration and changed awake counts."""
        before = self.arms
        stated = dict(zip(before, self.config.availability, strict=True))
        recounted = change(self.learner)
        stated = {**stated, **(availability or {})}
        self.totals = carried(self.totals, kept_arms(before, self.arms))
        self.config = ConfigVersion(
            number=self.config.number + 1,
            policy=self.config.policy,
            feedback=feedback or self.config.feedback,
            availability=tuple(stated.get(arm) for arm in self.arms),
            table=self.learner.table,
        )
        self.cache_table(self.config)
        counts = self.learner.state.awake_counts.tolist()
        other = [] if recounted is None else np.flatnonzero(recounted).tolist()
        return self.config, {self.arms[index]: counts[index] for index in other}

    def cache_table(self, config: ConfigVersion) -> ArmTable:
        """Cache the arms of a configuration, for late feedback on its decisions."""
        if len(self._tables) >= TABLES:
            self._tables.pop(next(iter(self._tables)))
        self._tables[config.number] = config.table
        return config.table

    def table_of(self, config_version: int) -> ArmTable | None:
        """Return the cached arms of a configuration; None if they are not cached."""
        return self._tables.get(config_version)


def record_of(made: DecisionEvent, table: ArmTable) -> DecisionRecord:
    """Return an event as the learner's record; ``table`` belongs to its configuration."""
    before = None if made.before is None else np.array(made.before)
    chosen = np.array(made.chosen, dtype=np.int64)
    times = made.number, made.round, made.time
    return DecisionRecord(*times, table.names(made.chosen), chosen, table, made.awake, before)


def awake_names(made: DecisionEvent, table: ArmTable) -> list[str]:
    """Return the names of the arms that were awake in a decision."""
    return list(table.names(unpacked(made.awake, table).tolist()))
