"""A learner: arms, state, policy, engine and random numbers. The agent and the service hold one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import check_whole, fail
from evenhand.core.fading import rounds_lived
from evenhand.core.round import begin_epoch
from evenhand.core.schema import carried, copied, new
from evenhand.core.state import (
    DecisionView,
    State,
    awake_rates,
    cumulative_debts,
    faded,
    posterior_means,
)
from evenhand.learner import arm_table as tables
from evenhand.learner.arm_table import ArmTable, first_table, kept_arms
from evenhand.learner.cancelling import cancel_decision
from evenhand.learner.decision import DecisionRecord
from evenhand.learner.engine import Compiled, DecisionEngine, Drawn, Many
from evenhand.learner.reasons import Basis, prices_of
from evenhand.optimum.feasibility import attainable
from evenhand.policies import Policy, PolicySetup, make_policy
from evenhand.problem import Problem


class Learner:
    """Decides and learns; who holds it sees to ids, locks and what is remembered.

    Attributes
    ----------
    policy, horizon
        The policy, and how many decisions are planned.
    table, state
        The arms as they are now, and what happened.
    engine
        What decides and takes in rewards.
    decisions
        How many decisions were made, cancelled ones included.
    """

    def __init__(
        self,
        problem: Problem,
        policy: Policy | str = "priced",
        *,
        seed: int | None = None,
        horizon: int | None = None,
        compiled: Compiled = "auto",
        table: ArmTable | None = None,
    ) -> None:
        if not isinstance(problem, Problem):
            fail("problem", "a Problem", problem)
        self.policy = policy if isinstance(policy, Policy) else make_policy(policy)
        self.options, self.adds_up = self.policy.options, self.policy.adds_up
        self.horizon = None if horizon is None else check_whole("horizon", horizon, least=1)
        seed = None if seed is None else check_whole("seed", seed, least=0)
        self.rng = np.random.default_rng(seed)
        self.decisions = 0
        self._compiled = compiled
        table = first_table(problem) if table is None else table
        self.adopt(table, new(State, len(table.problem.arms)))

    @property
    def problem(self) -> Problem:
        """The arms as the user knows them."""
        return self.table.problem

    @property
    def rounds(self) -> int:
        """How many decisions have been made, but those that were cancelled."""
        return int(self.state.rounds[0])

    def adopt(self, table: ArmTable, state: State, memory: Any = None) -> None:
        """Use other arms; what may raise comes first."""
        constants = self.policy.constants(PolicySetup(table.problem, self.horizon))
        engine = DecisionEngine(self.policy, state, table.arrays, constants, self._compiled)
        if memory is not None:
            engine.bind(table.arrays, memory)
        self.table, self.engine, self.state = table, engine, engine.state

    def decide(self, awake: Integers) -> Drawn:
        """Choose arms; clock and debts advance at once."""
        drawn = self.engine.decide(awake, self.rng)
        self.decisions += 1
        return drawn

    def decide_many(self, count: int, awake: Integers) -> Many | None:
        """Choose arms for many decisions in a row; None if they must be made one by one."""
        many = self.engine.decide_many(count, awake, self.rng)
        if many is not None:
            self.decisions += count
        return many

    def record(
        self, chosen: Integers, before: Floats, awake: bytes | None, names: tuple[str, ...]
    ) -> DecisionRecord:
        """Return the decision that was made last, as it is to be remembered."""
        state = self.state
        round_ = state.rounds.item()
        time = round_ + state.cancelled.item()
        owed = None
        if not self.adds_up:
            owed = before.copy() if before.size == chosen.size else before[: chosen.size].copy()
        return DecisionRecord(self.decisions, round_, time, names, chosen, self.table, awake, owed)

    def view(self, awake: Integers) -> DecisionView:
        """Return a copy of what the next decision depends on."""
        return DecisionView(awake, np.empty(0), copied(self.state), self.table.arrays)

    def basis(self, view: DecisionView, memory: Any, drawn: Drawn) -> Basis:
        """Return what a decision was made from, given view and memory before it."""
        chosen, _, samples, scores = drawn
        return Basis(
            self.policy,
            self.problem.arms,
            view._replace(samples=samples),
            self.engine.constants,
            memory,
            chosen,
            scores[: view.awake.size].copy(),
            prices_of(self.engine.memory),
        )

    def learn(self, arms: Integers, rewards: Sequence[Any], time: int) -> bool:
        """Take in rewards of a decision; nothing, and False, if one is not in [0, 1]."""
        return self.engine.learn(arms, rewards, time, self.rng)

    def still_there(self, record: DecisionRecord, arms: Iterable[str]) -> tuple[str, ...]:
        """Return those of a decision's arms that still take part."""
        if record.table is self.table:
            return tuple(arms)
        return tuple(arm for arm in arms if tables.took_part(self.table, arm, record.number))

    def cancel(self, record: DecisionRecord, later: Iterable[DecisionRecord] = ()) -> None:
        """Undo a decision, see :func:`cancel_decision`."""
        given = later, self.table, self.state, self.options
        self.table = cancel_decision(record, *given)
        self.engine.bind(self.table.arrays, self.engine.memory)

    def load(self, state: State) -> None:
        """Load another state of the same arms."""
        for mine, theirs in zip(self.state, state, strict=True):
            mine[:] = theirs
        self.engine.read()

    def join(self, name: str | Iterable[str], floor: object, weight: object) -> None:
        """Add arms; their debts count from now on."""
        now = self.rounds, self.decisions
        self._carry(tables.with_arms(self.table, tables.names_of(name), floor, weight, *now))

    def retire(self, name: str | Iterable[str]) -> None:
        """Remove arms."""
        self._carry(tables.without_arms(self.table, tables.names_of(name)))

    def change(self, name: str | Iterable[str], floor: object, weight: object) -> None:
        """Change floors or weights: what is owed stays, plays ahead of the old floor do not."""
        names, now = tables.names_of(name), (self.state.played, self.rounds, self.decisions)
        table = tables.with_values(self.table, names, floor, weight, *now)
        if table.problem == self.problem:
            return
        other = table.arrays.floors != self.table.arrays.floors
        state = copied(self.state)
        state.debts[other] = np.maximum(state.debts[other], 0.0)
        self.adopt(table, state)

    def set_plays(self, plays: int) -> None:
        """Change at most how many arms are played in a round."""
        self.adopt(tables.with_plays(self.table, plays), self.state)

    def pause(self, name: str | Iterable[str]) -> None:
        """Pause arms: they are not played, and their debts do not grow."""
        now = self.rounds, self.decisions
        table = tables.with_pause(self.table, tables.names_of(name), self.awake_rates(), *now)
        self.adopt(table, self.state)

    def resume(self, name: str | Iterable[str]) -> Floats:
        """Resume paused arms; return what that adds to the awake counts."""
        names, now = tables.names_of(name), (self.rounds, self.decisions)
        table = tables.with_resumption(self.table, names, *now)
        added = np.zeros(self.state.played.size)
        half_life = self.options.half_life
        if half_life < math.inf:
            indices, state = table.indices(names), self.state
            begin_epoch(state, int((state.rounds[0] + state.cancelled[0]) / half_life))
            present = (self.rounds - table.arrays.joined[indices]).tolist()
            lived = np.array([rounds_lived(rounds, half_life) for rounds in present])
            counts = table.clock.paused_rate[indices] * lived / faded(state, half_life)
            added[indices] = counts - state.awake_counts[indices]
            state.awake_counts[indices] = counts
        self.adopt(table, self.state)
        return added

    def debts(self) -> Floats:
        """Return how many plays each arm is behind; 0 if it is ahead."""
        return np.maximum(self.state.debts, 0.0)

    def targets(self) -> Floats:
        """Return as much of every floor as looks attainable under the measured awake rates."""
        floors, plays = self.table.arrays.floors, min(self.problem.plays, len(self.problem.arms))
        if self.rounds == 0:
            return floors
        found: Floats = attainable(floors, self.awake_rates(), plays)
        return found

    def posterior_means(self) -> Floats:
        """Return the estimated mean reward of each arm."""
        return posterior_means(self.state, self.options.half_life)

    def rates(self) -> Floats:
        """Return the fraction of rounds since it joined, without pauses, that each arm played."""
        present = tables.rounds_present(self.table, self.rounds)
        rates: Floats = self.state.played / np.maximum(present, 1)
        return rates

    def awake_rates(self) -> Floats:
        """Return the share of rounds in which each arm was awake."""
        return awake_rates(self.state, self.table.arrays, self.options.half_life)

    def settle_debts(self) -> None:
        """Recompute debts that add up, after sums were added to the state."""
        if self.adds_up:
            self.state.debts[:] = cumulative_debts(self.state, self.table.arrays)
        self.engine.read()

    def _carry(self, table: ArmTable) -> None:
        """Use arms of which some are new, or gone."""
        self.adopt(table, carried(self.state, kept_arms(self.problem.arms, table.problem.arms)))
