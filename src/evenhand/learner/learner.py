"""A learner: arms, state, policy, engine and random numbers. The agent and the service hold one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from evenhand.beliefs.regression import follow_epoch, spread
from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import check_known, check_whole, fail
from evenhand.core.fading import round_weight, rounds_lived
from evenhand.core.promises import PromiseArrays
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
from evenhand.features import ONLY_INTERCEPT
from evenhand.learner import arm_table as tables
from evenhand.learner.arm_table import ArmTable, first_table, kept_arms
from evenhand.learner.cancelling import cancel_decision
from evenhand.learner.decision import DecisionRecord
from evenhand.learner.engine import Compiled, DecisionEngine, Drawn, Many
from evenhand.learner.feedback import HistoryRow
from evenhand.learner.promises import (
    Promises,
    PromiseStatus,
    cancel_promises,
    carried_promises,
    promises_of,
    remembers_all,
    settle,
    statuses,
)
from evenhand.learner.reasons import Basis, prices_of
from evenhand.optimum.feasibility import attainable
from evenhand.policies import Policy, PolicySetup, make_policy
from evenhand.problem import Problem
from evenhand.promises import Promise


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
    promises, adds_up
        What is promised beyond floors, and what happened to it; whether all of the state is a sum
        over decisions and feedback.
    strict
        Whether promises that can never be kept are refused when arms or promises change.
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
        strict: bool = False,
    ) -> None:
        if not isinstance(problem, Problem):
            fail("problem", "a Problem", problem)
        self.policy = policy if isinstance(policy, Policy) else make_policy(policy)
        self.resolved = self.policy.resolved(problem)
        self.resolved.check_keeps(problem)
        self.options = self.resolved.options
        # Looked up once: a decision takes microseconds.
        self._regresses, self._contextual = self.resolved.known.regresses, bool(problem.features)
        self.horizon = None if horizon is None else check_whole("horizon", horizon, least=1)
        seed = None if seed is None else check_whole("seed", seed, least=0)
        self.rng = np.random.default_rng(seed)
        self.decisions, self.strict = 0, strict
        self._compiled = compiled
        table = first_table(problem) if table is None else table
        arms, features = len(table.problem.arms), len(problem.features.columns)
        self._belief = self.resolved.known.start(arms, features)
        state = new(State, arms)
        self._add_priors(table.problem, state, self._belief, problem.priors)
        self._refresh(state, self._belief)
        self.promises: Promises = promises_of(table, self.options.surplus)
        self.adopt(table, state)

    @property
    def problem(self) -> Problem:
        """The arms as the user knows them."""
        return self.table.problem

    @property
    def rounds(self) -> int:
        """How many decisions have been made, but those that were cancelled."""
        return int(self.state.rounds[0])

    @property
    def belief(self) -> Any:
        """The statistics of the belief, beside the state."""
        return self._belief

    def adopt(
        self,
        table: ArmTable,
        state: State,
        memory: Any = None,
        belief: Any = None,
        promises: Promises | None = None,
    ) -> None:
        """Use other arms; what may raise comes first."""
        resolved, belief = self.policy.resolved(table.problem), belief or self._belief
        resolved.check_keeps(table.problem)
        if promises is None:
            before, surplus = getattr(self, "table", table), self.options.surplus
            rounds = int(state.rounds[0])
            now = rounds, self.decisions
            promises = carried_promises(self.promises, before, table, surplus, *now)
        constants = resolved.constants(PolicySetup(table.problem, self.horizon))
        given = resolved, state, table.arrays, constants, belief, promises
        engine = DecisionEngine(*given, self._compiled)
        if memory is not None:
            engine.bind(table.arrays, memory)
        self.resolved, self.promises = resolved, promises
        self.adds_up = resolved.adds_up and remembers_all(promises)
        self._owes = isinstance(promises, PromiseArrays)
        self.table, self.engine, self.state, self._belief = table, engine, engine.state, belief

    def decide(self, awake: Integers, context: Floats | None = None) -> Drawn:
        """Choose arms; clock and debts advance at once."""
        if self._regresses:
            self._belief.context[:] = ONLY_INTERCEPT if context is None else context
        if isinstance(self.promises, PromiseArrays):
            self._owed = self.promises.debts.copy()
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
        self,
        chosen: Integers,
        before: Floats,
        awake: bytes | None,
        names: tuple[str, ...],
        context: Floats | None = None,
    ) -> DecisionRecord:
        """Return the decision that was made last, as it is to be remembered."""
        state = self.state
        round_ = state.rounds.item()
        time = round_ + state.cancelled.item()
        owed = None
        if not self.adds_up:
            owed = before.copy() if before.size == chosen.size else before[: chosen.size].copy()
        record = DecisionRecord(
            self.decisions, round_, time, names, chosen, self.table, awake, owed, context
        )
        if self._owes:
            record.owed = self._owed
        return record

    def view(self, awake: Integers) -> DecisionView:
        """Return a copy of what the next decision depends on."""
        belief = copied(self._belief)
        state, promises = copied(self.state), copied(self.promises)
        return DecisionView(awake, np.empty(0), state, self.table.arrays, belief, promises)

    def basis(self, view: DecisionView, memory: Any, drawn: Drawn) -> Basis:
        """Return what a decision was made from, given view and memory before it."""
        chosen, _, samples, scores = drawn
        memory = self.resolved.memory_used(memory, copied(self.engine.memory))
        return Basis(
            self.resolved,
            self.problem.arms,
            view._replace(samples=samples),
            self.engine.constants,
            memory,
            chosen,
            scores[: view.awake.size].copy(),
            prices_of(self.engine.memory),
            self.problem.features.owners,
            self.problem.rows.names,
        )

    def coefficients(self) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each arm's coefficients."""
        known, belief = self.resolved.known, copied(self._belief)
        if not known.regresses:
            fail("belief of an agent with coefficients", "a regression", known.name)
        if self.options.half_life < math.inf:
            self._refresh(self.state, belief)
        now, units = faded(self.state, self.options.half_life), np.eye(belief.context.size)
        deviations = [
            [known.noise(self.state, arm, now) * spread(belief, arm, x) for x in units]
            for arm in range(len(belief.means))
        ]
        return belief.means, np.array(deviations)

    def learn_history(self, rows: Sequence[HistoryRow]) -> None:
        """Learn rewards that no decision was made for; clock and plays stay as they are."""
        time = int(self.state.rounds[0] + self.state.cancelled[0])
        for arm, reward, context in rows:
            known = ONLY_INTERCEPT if context is None else context
            self.engine.learn(np.array([arm]), [reward], time, self.rng, known)

    def encode(self, context: object) -> Floats | None:
        """Return a context as numbers, or raise InputError; None where there are no features."""
        if context is None and not self._contextual:
            return None
        return self.problem.features.encode(context)

    def before(self, awake: Integers, context: Floats | None) -> tuple[DecisionView, Any]:
        """Return copies of all that the next decision depends on: the view, and the memory."""
        if self._regresses:
            self._belief.context[:] = ONLY_INTERCEPT if context is None else context
        return self.view(awake), copied(self.engine.memory)

    def learn(
        self, arms: Integers, rewards: Sequence[Any], time: int, context: Floats | None = None
    ) -> bool:
        """Take in rewards of a decision; nothing, and False, if one is not in [0, 1]."""
        known = ONLY_INTERCEPT if context is None else context
        taken = self.engine.learn(arms, rewards, time, self.rng, known)
        if taken and self._owes:
            self.engine.credit(arms, rewards)
        return taken

    def still_there(self, record: DecisionRecord, arms: Iterable[str]) -> tuple[str, ...]:
        """Return those of a decision's arms that still take part."""
        if record.table is self.table:
            return tuple(arms)
        return tuple(arm for arm in arms if tables.took_part(self.table, arm, record.number))

    def cancel(self, record: DecisionRecord, later: Iterable[DecisionRecord] = ()) -> None:
        """Undo a decision, see :func:`cancel_decision`."""
        since = list(later)
        self.table = cancel_decision(record, since, self.table, self.state, self.options)
        given = self.table, record, since, self.rounds
        self.promises = cancel_promises(self.promises, *given)
        self.engine.promises = self.promises
        self.engine.bind(self.table.arrays, self.engine.memory)

    def load(self, state: State) -> None:
        """Load another state of the same arms."""
        for mine, theirs in zip(self.state, state, strict=True):
            mine[:] = theirs
        self.engine.read()

    def join(
        self,
        name: str | Iterable[str],
        floor: object,
        weight: object,
        prior: object = None,
        ceiling: object = 1.0,
        promises: Iterable[str] = (),
    ) -> None:
        """Add arms, also to some promises; their debts count from now on."""
        names, now = tables.names_of(name), (self.rounds, self.decisions)
        table = tables.with_arms(
            self.table, names, floor, weight, prior, *now, ceiling=ceiling, promises=promises
        )
        self._check(table)
        self._carry(table, {arm: table.problem.priors[arm] for arm in names if prior is not None})

    def retire(self, name: str | Iterable[str]) -> None:
        """Remove arms."""
        self._carry(tables.without_arms(self.table, tables.names_of(name)))

    def change(
        self, name: str | Iterable[str], floor: object, weight: object, ceiling: object = None
    ) -> None:
        """Change floors or weights: what is owed stays, plays ahead of the old floor do not."""
        names, now = tables.names_of(name), (self.state.played, self.rounds, self.decisions)
        table = tables.with_values(self.table, names, floor, weight, *now, ceiling=ceiling)
        if table.problem == self.problem:
            return
        self._check(table)
        other = table.arrays.floors != self.table.arrays.floors
        state = copied(self.state)
        state.debts[other] = np.maximum(state.debts[other], 0.0)
        self.adopt(table, state)

    def set_plays(self, plays: int) -> None:
        """Change at most how many arms are played in a round."""
        table = tables.with_plays(self.table, plays)
        self._check(table)
        self.adopt(table, self.state)

    def set_promise(self, promise: Promise) -> None:
        """Make a promise, or change the one of its name."""
        if not isinstance(promise, Promise):
            fail("promise", "a Promise", promise)
        label = promise.label
        check_known(
            f"arm of promise {label!r}", promise.names(self.problem.arms), self.table.position
        )
        others = [one for one in self.problem.promises if one.name != label]
        self._promise([*others, promise])

    def remove_promise(self, name: str) -> None:
        """Take a promise back: it is owed nothing more."""
        check_known("promise", [name], [one.name for one in self.problem.promises])
        self._promise([one for one in self.problem.promises if one.name != name])

    def _promise(self, promises: Sequence[Promise]) -> None:
        problem = self.problem.with_arms(self.problem.arms, promises=promises)
        table = tables.make_table(problem, self.table.arrays, self.table.clock, self.table.position)
        self._check(table)
        self.adopt(table, self.state)

    def _check(self, table: ArmTable) -> None:
        """Refuse promises that do not fit even if all arms are always awake."""
        if self.strict and not table.problem.allow_impossible:
            table.problem.check_possible()

    def statuses(self) -> dict[str, PromiseStatus]:
        """Return how every promise beyond floors stands."""
        prices = getattr(self.engine.memory, "row_prices", None)
        return statuses(self.table, self.promises, prices, self.rounds)

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
            settle(self.promises, self.rounds)
        self._refresh(self.state, self._belief)
        self.engine.read()

    def _carry(
        self, table: ArmTable, priors: Mapping[str, tuple[float, float]] = MappingProxyType({})
    ) -> None:
        """Use arms of which some are new, or gone; ``priors`` are those of new ones."""
        kept = kept_arms(self.problem.arms, table.problem.arms)
        state, belief = carried(self.state, kept), self._belief
        if self._regresses:
            belief = carried(belief, kept)
        self._add_priors(table.problem, state, belief, priors)
        self._refresh(state, belief)
        self.adopt(table, state, belief=belief)

    def _refresh(self, state: State, belief: Any) -> None:
        """Compute what a regression derives from its sums, in the epoch of the state."""
        if self._regresses:
            follow_epoch(belief, int(state.epoch[0]))
            now = faded(state, self.options.half_life)
            self.resolved.known.refresh_all(belief, self.options, now)

    def _add_priors(
        self,
        problem: Problem,
        state: State,
        belief: Any,
        priors: Mapping[str, tuple[float, float]],
    ) -> None:
        """Add what is known of some arms, as rewards of the present round."""
        if self._regresses:
            follow_epoch(belief, int(state.epoch[0]))
        time = int(state.rounds[0] + state.cancelled[0])
        weight = round_weight(time, int(state.epoch[0]), self.options.half_life)
        for arm, (mean, count) in priors.items():
            index, weighed = problem.arms.index(arm), count * weight
            state.feedbacks[index] += weighed
            state.reward_sums[index] += weighed * mean
            self.resolved.known.add_prior(belief, index, mean, weighed)
