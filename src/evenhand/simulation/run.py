"""One run: everything an engine needs for one policy and one replication, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Random, frozen
from evenhand.core.checks import fail
from evenhand.core.delay import Delay, Wait, as_wait
from evenhand.core.promises import PromiseArrays
from evenhand.core.state import NoPromises, State, posterior_means
from evenhand.environment import Environment
from evenhand.policies.policy import Policy, PolicySetup
from evenhand.problem import Problem
from evenhand.promise_rows import arrays_of
from evenhand.results import Anytime
from evenhand.results.anytime import USUAL, Moments
from evenhand.simulation._promise_tally import PromiseTally, new_promise_tally, promise_moments
from evenhand.simulation._tally import Tally, moments_of, new_tally


class Streams(NamedTuple):
    """Five independent random streams, so that every policy faces the same world."""

    availability: Random
    rewards: Random
    delay: Random
    policy: Random
    contexts: Random


class Record(NamedTuple):
    """What a run leaves behind: totals at the checkpoints, the final state, what was learned.

    ``behind`` is a total, too: in how many rounds so far some arm was behind.
    """

    expected: Floats
    realised: Floats
    behind: Integers
    state: State
    tally: Tally
    promises: PromiseTally | NoPromises
    half_life: float

    @property
    def estimates(self) -> Floats:
        """Each arm's mean as estimated in the end."""
        return posterior_means(self.state, self.half_life)

    def columns(self, problem: Problem) -> tuple[Any, ...]:
        """Return what the run leaves, in the order of ``RUN_COLUMNS``."""
        lists = self.expected, self.realised, self.state.played, self.estimates
        return *lists, *self.moments(problem.floors), *promise_moments(self.promises, problem.rows)

    def moments(self, floors: Floats) -> Moments:
        """Return what was kept of every moment."""
        return moments_of(self.tally, floors, int(self.state.rounds[0]), self.behind)


def new_record(run: Run) -> Record:
    """Return the record of a run that has not begun."""
    kept, arms = run.checkpoints.size, len(run.environment.problem.arms)
    return Record(
        np.zeros(kept),
        np.zeros(kept),
        np.zeros(kept, dtype=np.int64),
        run.environment.problem.first_state(),
        new_tally(run.anytime.settings_for(run.horizon), arms),
        new_promise_tally(run.anytime.settings_for(run.horizon), run.environment.problem.rows.size),
        run.policy.options.half_life,
    )


@dataclass(frozen=True)
class Run:
    """A policy in an environment for a number of rounds; replications differ in streams alone."""

    environment: Environment
    policy: Policy
    horizon: int
    checkpoints: Integers
    delay: Delay = 0
    anytime: Anytime = USUAL

    def __post_init__(self) -> None:
        check_learns(self.policy, contexts=bool(self.environment.problem.features))
        self.policy.check_keeps(self.environment.problem)

    @cached_property
    def resolved(self) -> Policy:
        """The policy, with what depends on the problem settled."""
        return self.policy.resolved(self.environment.problem)

    def new_memory(self) -> Any:
        """Return the policy's memory before the first round."""
        problem = self.environment.problem
        columns = len(problem.features.columns)
        return self.resolved.new_memory(len(problem.arms), columns, problem.rows.size)

    def new_promises(self) -> PromiseArrays | NoPromises:
        """Return what is promised beyond floors, before the first round."""
        problem = self.environment.problem
        return arrays_of(problem.rows, problem.weights, self.resolved.options.surplus)

    def new_belief(self) -> tuple[Any, Floats]:
        """Return the belief's statistics before the first round, and the array of the context."""
        known, problem = self.resolved.known, self.environment.problem
        columns = len(problem.features.columns)
        belief = known.start(len(problem.arms), columns)
        context = belief.context if known.regresses else np.empty(columns)
        context[:1] = 1.0
        if known.regresses:
            for arm, prior in problem.priors.items():
                known.add_prior(belief, problem.arms.index(arm), *prior)
            known.refresh_all(belief, self.resolved.options, 1.0)
        return belief, context

    @property
    def wait(self) -> Wait:
        """The delay as numbers."""
        return as_wait(self.delay)

    @cached_property
    def constants(self) -> tuple[object, ...]:
        """The policy's constants, computed once; a simulation knows the means."""
        nature = self.environment
        if nature.changes and self.policy.knows_nature:
            fail("nature that a policy knows", "the same throughout", self.policy.label())
        # With contexts, the means over all of them take a moment to compute, and nobody needs them.
        means = nature.means if nature.contexts is None else None
        setup = PolicySetup(nature.problem, self.horizon, means, nature.awake)
        return self.resolved.constants(setup)


def check_learns(policy: Policy, *, contexts: bool) -> None:
    """Raise for a policy that knows nature's means where these depend on contexts."""
    if contexts and policy.knows_nature:
        rule = "one that learns: with contexts nature's means depend on the round"
        fail("policy in an environment with contexts", rule, policy.name)


class RunControl(NamedTuple):
    """Shared with a running engine: the rounds it has done, and a wish to stop (non-zero)."""

    done: Integers
    stop: Integers


def new_control() -> RunControl:
    """Return a control at zero.

    Only the first entries are used: the others keep two workers' numbers off one cache line.
    """
    return RunControl(np.zeros(16, dtype=np.int64), np.zeros(16, dtype=np.int64))


def streams(seed: int, replication: int) -> Streams:
    """Return the streams of a replication: they depend on (seed, replication) and nothing else.

    >>> streams(7, 0).policy.random() == streams(7, 0).policy.random()
    True
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(replication,))
    return Streams(*(np.random.Generator(np.random.PCG64(s)) for s in sequence.spawn(5)))


# First and later rounds at which a simulation keeps totals; a sweep keeps fewer.
MANY_CHECKPOINTS = (100, 400)


def checkpoints(
    horizon: int, first: int = MANY_CHECKPOINTS[0], later: int = MANY_CHECKPOINTS[1]
) -> Integers:
    """Return the rounds at which totals are kept: the first ones, then some up to the horizon.

    The later ones are spread logarithmically, so that their number does not grow with the horizon.

    >>> checkpoints(3)
    array([1, 2, 3])
    >>> len(checkpoints(10_000_000)) <= 500
    True
    >>> checkpoints(10_000, first=2, later=4)
    array([    1,     2,     3,    45,   669, 10000])
    """
    start = np.arange(1, min(horizon, first) + 1, dtype=np.int64)
    if horizon <= first:
        return frozen(start)
    rest = np.rint(np.geomspace(first + 1, horizon, later)).astype(np.int64)
    return frozen(np.unique(np.concatenate([start, rest, [horizon]])))
