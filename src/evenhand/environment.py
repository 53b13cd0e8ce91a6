"""Nature: a problem, the arms' true means, how rewards are drawn and which arms are awake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evenhand.arrays import Floats, frozen
from evenhand.availability import Availability, Independent, Sets, Trace
from evenhand.checks import fail, number, per_arm
from evenhand.errors import InputError
from evenhand.problem import Problem


class World(NamedTuple):
    """An environment as arrays, for the engines; the parts that do not apply are empty."""

    sets: Sets
    means: Floats
    values: Floats
    concentration: float
    recorded: Floats


def draw_rewards(rewards: Floats, world: World, now: int, rng: np.random.Generator) -> None:
    """Write every arm's reward for this round, played or not, so that all policies face the same.

    Bernoulli: 1 with probability u_i. Beta with concentration c: Beta(c u_i, c (1 - u_i)), and u_i
    itself where that is 0 or 1. Recorded: the row of this round.
    """
    for i in range(rewards.size):
        mean = world.means[i]
        if world.recorded.size > 0:
            rewards[i] = world.recorded[now, i]
        elif world.concentration > 0.0:
            inner = 0.0 < mean < 1.0
            shape = world.concentration * mean
            rewards[i] = rng.beta(shape, world.concentration - shape) if inner else mean
        else:
            rewards[i] = 1.0 if rng.random() < mean else 0.0


@dataclass(frozen=True)
class Bernoulli:
    """Rewards of 0 or 1."""


@dataclass(frozen=True)
class Beta:
    """Real rewards, Beta-distributed around the arm's mean.

    The larger the concentration, the closer to it. It is at least 0.1: below, NumPy and numba draw
    different numbers.

    >>> Beta(concentration=20)
    Beta(concentration=20)
    """

    concentration: float = 10.0

    def __post_init__(self) -> None:
        number("concentration", self.concentration, "of at least 0.1")


@dataclass(frozen=True, eq=False)
class Recorded:
    """Rewards that were observed: a table of rounds x arms beside a trace.

    An entry counts only where the trace says that the arm was awake, and must be in [0, 1] there.
    """

    rewards: object


Rewards: TypeAlias = Bernoulli | Beta | Recorded


class Environment:
    """A problem together with nature's secrets.

    Parameters
    ----------
    problem
        What the learner may know.
    means
        True mean rewards (u_i) in [0, 1]; a scalar stands for all. Left out for recorded rewards,
        whose means are those of the record.
    availability
        :class:`~evenhand.Independent`, :class:`~evenhand.Joint` or :class:`~evenhand.Trace`; one
        number, or one for each arm, means independent arms.
    rewards
        :class:`~evenhand.Bernoulli`, :class:`~evenhand.Beta` or :class:`~evenhand.Recorded`.

    Examples
    --------
    Setting 1 of the paper:

    >>> problem = Problem(3, plays=2, floors=[0.5, 0.6, 0.4])
    >>> environment = Environment(problem, means=[0.4, 0.5, 0.7], availability=[0.9, 0.8, 0.7])
    >>> environment.means
    array([0.4, 0.5, 0.7])
    """

    problem: Problem
    means: Floats
    availability: Availability
    rewards: Rewards
    world: World

    def __init__(
        self,
        problem: Problem,
        means: object = None,
        availability: object = 1.0,
        rewards: Rewards | None = None,
    ) -> None:
        if not isinstance(problem, Problem):
            fail("problem", "a Problem", problem)
        if not isinstance(rewards, Rewards | None):
            fail("rewards", "Bernoulli(), Beta(concentration) or Recorded(table)", rewards)
        if not isinstance(availability, Availability):
            availability = Independent(availability)
        self.problem = problem
        self.availability = availability
        self.rewards = Bernoulli() if rewards is None else rewards
        sets = availability.arrays(problem.arms)
        recorded = frozen(np.empty((0, 0)))
        if isinstance(self.rewards, Recorded):
            if means is not None:
                fail("means", "left out when rewards are recorded", means)
            recorded = recorded_table(self.rewards.rewards, availability, sets, problem.arms)
            means = _recorded_means(recorded, sets)
        elif means is None:
            raise InputError("means must be given unless rewards are recorded")
        self.means = per_arm("mean", problem.arms, means)
        concentration = self.rewards.concentration if isinstance(self.rewards, Beta) else 0.0
        values = frozen(problem.weights * self.means)
        self.world = World(sets, self.means, values, float(concentration), recorded)

    def __repr__(self) -> str:
        kinds = f"{type(self.availability).__name__}, {type(self.rewards).__name__}"
        return f"Environment({len(self.problem.arms)} arms, {self.problem.plays} plays, {kinds})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by construction: arrays that are unpickled would no longer be read-only."""
        means = None if isinstance(self.rewards, Recorded) else self.means
        return Environment, (self.problem, means, self.availability, self.rewards)

    def of_rounds(self, horizon: int) -> Environment:
        """Return the environment of the first rounds: of a trace no more than those, means and all.

        >>> trace = Trace([[1, 0], [0, 1], [0, 1]])
        >>> Environment(Problem(2, plays=1), 0.5, trace).of_rounds(2).longest_horizon
        2
        """
        if self.longest_horizon is None or horizon >= self.longest_horizon:
            return self
        trace = Trace(self.world.sets.members[:horizon])
        if isinstance(self.rewards, Recorded):
            rewards = Recorded(self.world.recorded[:horizon])
            return Environment(self.problem, availability=trace, rewards=rewards)
        return Environment(self.problem, self.means, trace, self.rewards)

    @property
    def longest_horizon(self) -> int | None:
        """How many rounds there are to replay; None if nature can go on for ever."""
        return len(self.world.sets.members) if isinstance(self.availability, Trace) else None


def recorded_table(
    given: object, availability: Availability, sets: Sets, arms: Sequence[str]
) -> Floats:
    """Check recorded rewards against their trace; entries of sleeping arms become 0."""
    if not isinstance(availability, Trace):
        fail("availability", "a Trace when rewards are recorded", type(availability).__name__)
    try:
        table = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        fail("recorded rewards", "a table of numbers, rounds x arms", type(given).__name__)
    if table.shape != sets.members.shape:
        fail("recorded rewards", f"of the trace's shape {sets.members.shape}", table.shape)
    wrong = sets.members & ~((table >= 0.0) & (table <= 1.0))
    if wrong.any():
        row, column = (int(index[0]) for index in np.nonzero(wrong))
        fail(
            f"recorded reward of arm {arms[column]!r} in round {row + 1}",
            "a number in [0, 1]",
            float(table[row, column]),
        )
    table[~sets.members] = 0.0
    return frozen(table)


def _recorded_means(recorded: Floats, sets: Sets) -> Floats:
    """Mean over the rounds in which the arm was awake; 0 for an arm that never was."""
    awake = sets.members.sum(axis=0)
    means: Floats = recorded.sum(axis=0) / np.maximum(awake, 1)
    return np.minimum(means, 1.0)
