"""Nature: a problem, the arms' true means, how rewards are drawn and which arms are awake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from evenhand.availability import Availability, Independent, Trace
from evenhand.core.arrays import Floats, frozen
from evenhand.core.checks import Limits, check_number, check_per_arm, check_whole, fail
from evenhand.core.nature import Awake, Changes, Payoffs
from evenhand.errors import InputError
from evenhand.problem import Problem

__all__ = ["Bernoulli", "Beta", "Change", "Environment", "Recorded", "Rewards"]


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
        check_number("concentration", self.concentration, Limits(0.1))


@dataclass(frozen=True, eq=False)
class Recorded:
    """Rewards that were observed: a table of rounds x arms beside a trace.

    An entry counts only where the trace says that the arm was awake, and must be in [0, 1] there.
    """

    rewards: object


Rewards: TypeAlias = Bernoulli | Beta | Recorded


@dataclass(frozen=True, eq=False)
class Change:
    """Nature is another one after so many rounds; what is left out stays as it was.

    Parameters
    ----------
    after
        The number of rounds played before the change.
    means, availability
        As for :class:`Environment`; independent arms only.

    Examples
    --------
    >>> Change(after=10_000, means=[0.7, 0.5, 0.4]).after
    10000
    """

    after: int
    means: object = None
    availability: object = None


@dataclass(frozen=True, eq=False, repr=False)
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
    changes
        :class:`~evenhand.Change` by change, of arms that wake independently; what changes in other
        ways is replayed from a trace.

    Attributes
    ----------
    awake, payoffs
        How arms wake and what they return at first, as arrays.
    changed
        What they do after each change.

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
    changes: tuple[Change, ...]
    awake: Awake
    payoffs: Payoffs
    changed: Changes

    def __init__(
        self,
        problem: Problem,
        means: object = None,
        availability: object = 1.0,
        rewards: Rewards | None = None,
        changes: Sequence[Change] = (),
    ) -> None:
        if not isinstance(problem, Problem):
            fail("problem", "a Problem", problem)
        if problem.features:
            rule = "without features: contexts are for agents, and are not simulated"
            fail("problem of an environment", rule, ", ".join(problem.features))
        if not isinstance(rewards, Rewards | None):
            fail("rewards", "Bernoulli(), Beta(concentration) or Recorded(table)", rewards)
        if not isinstance(availability, Availability):
            availability = Independent(availability)
        rewards = Bernoulli() if rewards is None else rewards
        awake = availability.arrays(problem.arms)
        payoffs = _payoffs(problem, means, availability, rewards, awake)
        changes = _check_changes(changes, availability, rewards)
        for name, value in (
            ("problem", problem),
            ("means", payoffs.means),
            ("availability", availability),
            ("rewards", rewards),
            ("changes", changes),
            ("awake", awake),
            ("payoffs", payoffs),
            ("changed", _changed(changes, problem, awake, payoffs)),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        kinds = f"{type(self.availability).__name__}, {type(self.rewards).__name__}"
        if self.changes:
            kinds += f", {len(self.changes)} changes"
        return f"Environment({len(self.problem.arms)} arms, {self.problem.plays} plays, {kinds})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by construction: arrays that are unpickled would no longer be read-only."""
        means = None if isinstance(self.rewards, Recorded) else self.means
        return Environment, (self.problem, means, self.availability, self.rewards, self.changes)

    def segments(self, horizon: int) -> list[tuple[int, Environment]]:
        """Return how long each nature lasts within a horizon, and that nature on its own.

        >>> calm = Environment(Problem(2, plays=1), means=[0.2, 0.8])
        >>> [rounds for rounds, _ in calm.segments(100)]
        [100]
        >>> wild = Environment(Problem(2, plays=1), [0.2, 0.8], changes=[Change(60, [0.8, 0.2])])
        >>> [(rounds, nature.means.tolist()) for rounds, nature in wild.segments(100)]
        [(60, [0.2, 0.8]), (40, [0.8, 0.2])]
        """
        if not self.changes:
            return [(horizon, self)]
        starts = [0, *self.changed.starts.tolist(), horizon]
        means = [self.means, *self.changed.means]
        probabilities = [self.awake.probabilities, *self.changed.probabilities]
        return [
            (min(stop, horizon) - start, Environment(self.problem, mean, chance, self.rewards))
            for start, stop, mean, chance in zip(
                starts, starts[1:], means, probabilities, strict=False
            )
            if start < horizon
        ]

    def of_rounds(self, horizon: int) -> Environment:
        """Return the environment of the first rounds: of a trace no more than those, means and all.

        >>> trace = Trace([[1, 0], [0, 1], [0, 1]])
        >>> Environment(Problem(2, plays=1), 0.5, trace).of_rounds(2).longest_horizon
        2
        """
        if self.longest_horizon is None or horizon >= self.longest_horizon:
            return self
        trace = Trace(self.awake.members[:horizon])
        if isinstance(self.rewards, Recorded):
            rewards = Recorded(self.payoffs.recorded[:horizon])
            return Environment(self.problem, availability=trace, rewards=rewards)
        return Environment(self.problem, self.means, trace, self.rewards)

    def check_horizon(self, horizon: int | None) -> int:
        """Return a checked number of rounds, which a trace limits and gives by default."""
        longest = self.longest_horizon
        if horizon is None:
            if longest is None:
                raise InputError("horizon must be given unless a trace is replayed, got none")
            return longest
        horizon = check_whole("horizon", horizon, least=1)
        if longest is not None and horizon > longest:
            fail("horizon", f"at most the {longest} rounds of the trace", horizon)
        return horizon

    @property
    def longest_horizon(self) -> int | None:
        """How many rounds there are to replay; None if there is no limit."""
        return len(self.awake.members) if isinstance(self.availability, Trace) else None


def _check_changes(
    given: object, availability: Availability, rewards: Rewards
) -> tuple[Change, ...]:
    """Return changes in the order of their rounds, or raise InputError."""
    changes = tuple(given) if isinstance(given, list | tuple) else (given,)
    after = 0
    for change in changes:
        if not isinstance(change, Change):
            fail("changes", "a list of Change", change)
        if check_whole("after of a change", change.after, least=1) <= after:
            fail("after of a change", f"later than the change before it, {after}", change.after)
        after = change.after
    if changes and (not isinstance(availability, Independent) or isinstance(rewards, Recorded)):
        kinds = f"{type(availability).__name__} and {type(rewards).__name__}"
        fail("an environment that changes", "of independent arms; replay a trace instead", kinds)
    return changes


def _changed(
    changes: Sequence[Change], problem: Problem, awake: Awake, payoffs: Payoffs
) -> Changes:
    """Return what arms do after each change, checked."""
    if not changes:
        return Changes()
    means, probabilities = [payoffs.means], [awake.probabilities]
    for change in changes:
        new, other = change.means, change.availability
        means.append(means[-1] if new is None else check_per_arm("mean", problem.arms, new))
        if other is None:
            probabilities.append(probabilities[-1])
            continue
        how = other if isinstance(other, Availability) else Independent(other)
        if not isinstance(how, Independent):
            fail("availability of a change", "that of independent arms", type(how).__name__)
        probabilities.append(how.arrays(problem.arms).probabilities)
    return Changes(
        frozen(np.array([change.after for change in changes], dtype=np.int64)),
        frozen(np.array(probabilities[1:])),
        frozen(np.array(means[1:])),
        frozen(problem.weights * np.array(means[1:])),
    )


def _payoffs(
    problem: Problem, means: object, availability: Availability, rewards: Rewards, awake: Awake
) -> Payoffs:
    """Return what arms return, checked; the means of recorded rewards are those of the record."""
    recorded = frozen(np.empty((0, 0)))
    if isinstance(rewards, Recorded):
        if means is not None:
            fail("means", "left out when rewards are recorded", means)
        recorded = _recorded_table(rewards.rewards, availability, awake, problem.arms)
        means = _recorded_means(recorded, awake)
    elif means is None:
        raise InputError("means must be given unless rewards are recorded")
    true = check_per_arm("mean", problem.arms, means)
    concentration = rewards.concentration if isinstance(rewards, Beta) else 0.0
    return Payoffs(true, frozen(problem.weights * true), float(concentration), recorded)


def _recorded_table(
    given: object, availability: Availability, awake: Awake, arms: Sequence[str]
) -> Floats:
    """Check recorded rewards against their trace; entries of sleeping arms become 0."""
    if not isinstance(availability, Trace):
        fail("availability", "a Trace when rewards are recorded", type(availability).__name__)
    try:
        table = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        fail("recorded rewards", "a table of numbers, rounds x arms", type(given).__name__)
    if table.shape != awake.members.shape:
        fail("recorded rewards", f"of the trace's shape {awake.members.shape}", table.shape)
    wrong = awake.members & ~((table >= 0.0) & (table <= 1.0))
    if wrong.any():
        row, column = (int(index[0]) for index in np.nonzero(wrong))
        fail(
            f"recorded reward of arm {arms[column]!r} in round {row + 1}",
            "a number in [0, 1]",
            float(table[row, column]),
        )
    table[~awake.members] = 0.0
    return frozen(table)


def _recorded_means(recorded: Floats, awake: Awake) -> Floats:
    """Mean over the rounds in which the arm was awake; 0 for an arm that never was."""
    means: Floats = recorded.sum(axis=0) / np.maximum(awake.members.sum(axis=0), 1)
    return np.minimum(means, 1.0)
