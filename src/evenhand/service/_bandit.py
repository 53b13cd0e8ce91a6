"""A bandit at work: a learner, with the store's log in place of a decision log."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import fail
from evenhand.core.round import flipped
from evenhand.core.schema import carried, copied, from_bytes, new, to_bytes
from evenhand.learner.arm_table import ArmTable, kept_arms
from evenhand.learner.awake import mask_of_names, unpacked
from evenhand.learner.decision import DecisionRecord
from evenhand.learner.engine import Compiled
from evenhand.learner.learner import Learner
from evenhand.problem import Problem
from evenhand.service._bodies import FeedbackRule
from evenhand.service._counters import Counters, Totals
from evenhand.service._edition import Edition, serving_policy
from evenhand.service._events import Made, Told
from evenhand.service._why import KEPT, ManyBases, Source

# The reasons of more arms would take seconds to work out.
MOST_EXPLAINED = 2_000
TABLES = 8


class Bandit:
    """The arms of one edition, and the counters that its log adds up to.

    Everything that it does is told to the store by the caller; ``version`` says which of the
    store's versions the counters are.
    """

    def __init__(self, key: int, edition: Edition, compiled: Compiled) -> None:
        problem, policy = edition.table.problem, serving_policy(edition.policy)
        self.learner = Learner(problem, policy, compiled=compiled, table=edition.table)
        self.key, self.version, self.edition = key, 0, edition
        self._tables: dict[int, ArmTable] = {}
        self.remember(edition)
        self.totals = new(Totals, len(problem.arms))

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
        """What the log adds up to; the arrays are those at work."""
        self.totals.latest[0] = self.learner.decisions
        return Counters(self.totals, self.learner.state, to_bytes(self.learner.engine.memory))

    def load(self, counters: Counters, version: int) -> None:
        """Go on from what the store's log adds up to, of the same edition."""
        learner = self.learner
        self.totals = counters.totals
        learner.decisions = int(counters.totals.latest[0])
        if counters.memory:
            memory = from_bytes(learner.policy.memory, counters.memory, len(self.arms))
            learner.engine.bind(learner.table.arrays, memory)
        learner.load(counters.state)
        self.version = version

    def decide(self, awake: Sequence[str] | None, explain: bool) -> tuple[Made, Source | None]:
        """Choose arms; clock, debts and plays under way advance at once."""
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
        drawn = learner.decide(here)
        chosen, owed, *_ = drawn
        self.totals.pending[chosen] += 1
        made = self._made(chosen, owed, learner.decisions, learner.rounds, bits)
        return made, None if before is None else Source(learner.basis(*before, drawn))

    def decide_many(self, count: int) -> list[tuple[Made, Source | None]]:
        """Choose arms for many decisions in a row, with all arms awake: cheaper than one by one."""
        learner, here = self.learner, self.learner.table.everyone
        start, rounds = learner.decisions, learner.rounds
        before = None
        if here.size <= MOST_EXPLAINED:
            before = learner.view(here), copied(learner.engine.memory)
        many = learner.decide_many(count, here)
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
        bases = ManyBases(learner.policy, self.arms, *before, constants, many.chosen, last_ones)
        known = count - len(last_ones)
        return [(one, Source(bases, i) if i >= known else None) for i, one in enumerate(made)]

    def _made(
        self, chosen: Integers, owed: Floats, number: int, round_: int, awake: bytes | None
    ) -> Made:
        """Return a decision as the log has it."""
        time, before = round_ + int(self.learner.state.cancelled[0]), None
        if not self.learner.adds_up:
            before = owed[: chosen.size].tolist()
        return Made(number, round_, time, self.edition.number, chosen.tolist(), awake, before)

    def learn(self, record: DecisionRecord, news: dict[str, float]) -> Told:
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
        return Told(news, counted, [arm for arm in news if arm not in counted])

    def await_no_more(self, record: DecisionRecord, arms: Sequence[str]) -> None:
        """Let plays count as told of which nothing was heard."""
        there = self.learner.still_there(record, arms)
        self.totals.pending[[self.learner.table.position[arm] for arm in there]] -= 1

    def cancel(self, record: DecisionRecord) -> bool:
        """Let it be as if a decision had not been made; say whether the arms' clocks changed."""
        self.await_no_more(record, record.chosen)
        before = self.learner.table
        self.learner.cancel(record)
        return self.learner.table is not before

    def begin(
        self,
        change: Callable[[Learner], Floats | None],
        *,
        availability: dict[str, float | None] | None = None,
        feedback: FeedbackRule | None = None,
    ) -> tuple[Edition, dict[str, float]]:
        """Change the arms or the rules, which begins another edition.

        Return it, with the awake counts of arms that have others now.
        """
        before = self.arms
        stated = dict(zip(before, self.edition.availability, strict=True))
        recounted = change(self.learner)
        stated = {**stated, **(availability or {})}
        self.totals = carried(self.totals, kept_arms(before, self.arms))
        self.edition = Edition(
            number=self.edition.number + 1,
            policy=self.edition.policy,
            feedback=feedback or self.edition.feedback,
            availability=tuple(stated.get(arm) for arm in self.arms),
            table=self.learner.table,
        )
        self.remember(self.edition)
        counts = self.learner.state.awake_counts.tolist()
        other = [] if recounted is None else np.flatnonzero(recounted).tolist()
        return self.edition, {self.arms[index]: counts[index] for index in other}

    def remember(self, edition: Edition) -> ArmTable:
        """Keep the arms of an edition at hand, for feedback that comes late; a few of them."""
        if len(self._tables) >= TABLES:
            self._tables.pop(next(iter(self._tables)))
        self._tables[edition.number] = edition.table
        return edition.table

    def table_of(self, edition: int) -> ArmTable | None:
        """Return the arms of an edition that is at hand."""
        return self._tables.get(edition)


def record_of(made: Made, table: ArmTable) -> DecisionRecord:
    """Return a decision of the log as a learner knows it; ``table`` is that of its edition."""
    before = None if made.before is None else np.array(made.before)
    chosen = np.array(made.chosen, dtype=np.int64)
    times = made.number, made.round, made.time
    return DecisionRecord(*times, table.names(made.chosen), chosen, table, made.awake, before)


def awake_names(made: Made, table: ArmTable) -> list[str]:
    """Return the names of the arms that could be played in a decision of this table."""
    return list(table.names(unpacked(made.awake, table).tolist()))
