"""Nature: a problem, the arms' true means, how rewards are drawn and which arms are awake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.availability import Availability, Independent, Trace
from evenhand.changes import Change, changed_arrays, check_changes
from evenhand.contexts import Contexts, ContextTable, DrawnContexts, RecordedContexts
from evenhand.contextual import (
    awake_at_first,
    check_contexts,
    context_arrays,
    means_given,
    refuse_responses,
)
from evenhand.core.arrays import Floats, frozen
from evenhand.core.checks import check_per_arm, check_whole, fail
from evenhand.core.contexts import ContextArrays
from evenhand.core.nature import Awake, Changes, Payoffs
from evenhand.errors import InputError
from evenhand.problem import Problem
from evenhand.responses import (
    ByCategory,
    LinearMean,
    LogisticMean,
    means_in,
)
from evenhand.rewards import Bernoulli, Beta, Recorded, Rewards, recorded_means, recorded_table

__all__ = [
    "Bernoulli",
    "Beta",
    "ByCategory",
    "Change",
    "DrawnContexts",
    "Environment",
    "LinearMean",
    "LogisticMean",
    "Recorded",
    "RecordedContexts",
]


@dataclass(frozen=True, eq=False, repr=False)
class Environment:
    """A problem together with nature's secrets.

    Parameters
    ----------
    problem
        What the learner may know.
    means
        True mean rewards (u_i) in [0, 1]; a scalar stands for all. Where the problem has features,
        an arm's may be a :class:`~evenhand.LinearMean`, a :class:`~evenhand.LogisticMean` or a
        :class:`~evenhand.ByCategory`. Left out for recorded rewards, whose means are those of the
        record.
    availability
        :class:`~evenhand.Independent`, :class:`~evenhand.Joint` or :class:`~evenhand.Trace`; one
        number, or one for each arm, means independent arms, and one of them may be a
        :class:`~evenhand.ByCategory`.
    rewards
        :class:`~evenhand.Bernoulli`, :class:`~evenhand.Beta` or :class:`~evenhand.Recorded`.
    changes
        :class:`~evenhand.Change` by change, of arms that wake independently; what changes in other
        ways is replayed from a trace.
    contexts
        Where the problem has features: :class:`~evenhand.DrawnContexts`, uniform ones if left out,
        or :class:`~evenhand.RecordedContexts`.

    Attributes
    ----------
    awake, payoffs
        How arms wake and what they return at first, as arrays.
    changed, contextual
        What they do after each change, and in each context.

    Examples
    --------
    Setting 1 of the paper:

    >>> problem = Problem(3, plays=2, floors=[0.5, 0.6, 0.4])
    >>> environment = Environment(problem, means=[0.4, 0.5, 0.7], availability=[0.9, 0.8, 0.7])
    >>> environment.means
    array([0.4, 0.5, 0.7])

    Two kinds of visitors:

    >>> from evenhand import ByCategory
    >>> problem = Problem(["news", "film"], plays=1, features={"evening": bool})
    >>> film = ByCategory("evening", {"yes": 0.8, "no": 0.2})
    >>> Environment(problem, means=[0.4, film]).means
    array([0.4, 0.5])
    """

    problem: Problem
    availability: Availability
    rewards: Rewards
    changes: tuple[Change, ...]
    contexts: Contexts | None
    awake: Awake
    payoffs: Payoffs
    changed: Changes
    contextual: ContextArrays

    def __init__(
        self,
        problem: Problem,
        means: object = None,
        availability: object = 1.0,
        rewards: Rewards | None = None,
        changes: Sequence[Change] = (),
        contexts: Contexts | None = None,
    ) -> None:
        if not isinstance(problem, Problem):
            fail("problem", "a Problem", problem)
        if not isinstance(rewards, Rewards | None):
            fail("rewards", "Bernoulli(), Beta(concentration) or Recorded(table)", rewards)
        if not isinstance(availability, Availability):
            availability = Independent(availability)
        rewards = Bernoulli() if rewards is None else rewards
        changes = check_changes(changes, availability, rewards)
        contexts = check_contexts(problem, contexts, len(changes))
        if contexts is None:
            refuse_responses(means, availability)
            awake, contextual = availability.arrays(problem.arms), ContextArrays()
            payoffs = _payoffs(problem, means, availability, rewards, awake)
        else:
            awake = awake_at_first(problem, availability)
            # Those of a round are written when its context is known.
            first = means if isinstance(rewards, Recorded) or means is None else 0.0
            payoffs = _payoffs(problem, first, availability, rewards, awake)
            contextual = context_arrays(problem, means, availability, rewards, contexts)
        for name, value in (
            ("problem", problem),
            ("availability", availability),
            ("rewards", rewards),
            ("changes", changes),
            ("contexts", contexts),
            ("awake", awake),
            ("payoffs", payoffs),
            ("changed", changed_arrays(changes, problem, awake, payoffs)),
            ("contextual", contextual),
        ):
            object.__setattr__(self, name, value)

    @cached_property
    def means(self) -> Floats:
        """Each arm's true mean; with contexts the mean over those, or over a sample of them."""
        if self.contexts is None:
            return self.payoffs.means
        if isinstance(self.rewards, Recorded):
            return recorded_means(self.payoffs.recorded, self.awake)
        table = self.context_table
        found: Floats = table.probabilities @ means_in(self.contextual, table.contexts)
        return frozen(found)

    @property
    def given_means(self) -> object:
        """What ``means`` were given, as far as it matters; None if rewards are recorded."""
        if isinstance(self.rewards, Recorded):
            return None
        return self.payoffs.means if self.contexts is None else means_given(self.contextual)

    @property
    def replays_both(self) -> bool:
        """Whether awake sets and contexts are both replayed, a row a round."""
        replayed = isinstance(self.contexts, RecordedContexts) and self.contexts.replayed
        return replayed and isinstance(self.availability, Trace)

    @cached_property
    def context_table(self) -> ContextTable:
        """The contexts with their probabilities: all of them, or a sample."""
        assert self.contexts is not None
        arrays = self.contextual
        if not arrays.resampled:
            arrays = arrays._replace(recorded=arrays.recorded[: self.longest_horizon])
        return self.contexts.table(self.problem.features, arrays)

    def __repr__(self) -> str:
        kinds = f"{type(self.availability).__name__}, {type(self.rewards).__name__}"
        if self.changes:
            kinds += f", {len(self.changes)} changes"
        if self.contexts is not None:
            kinds += f", {type(self.contexts).__name__}"
        return f"Environment({len(self.problem.arms)} arms, {self.problem.plays} plays, {kinds})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by construction: arrays that are unpickled would no longer be read-only."""
        nature = self.availability, self.rewards, self.changes, self.contexts
        return Environment, (self.problem, self.given_means, *nature)

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
        availability, rewards, contexts = self.availability, self.rewards, self.contexts
        if isinstance(availability, Trace):
            availability = Trace(self.awake.members[:horizon])
        if isinstance(rewards, Recorded):
            rewards = Recorded(self.payoffs.recorded[:horizon])
        if isinstance(contexts, RecordedContexts) and contexts.replayed:
            contexts = contexts.first(horizon)
        return Environment(self.problem, self.given_means, availability, rewards, contexts=contexts)

    def check_horizon(self, horizon: int | None) -> int:
        """Return a checked number of rounds, which what is replayed limits and gives by default."""
        longest = self.longest_horizon
        if horizon is None:
            if longest is None:
                raise InputError("horizon must be given unless a trace is replayed, got none")
            return longest
        horizon = check_whole("horizon", horizon, least=1)
        if longest is not None and horizon > longest:
            what = "trace" if isinstance(self.availability, Trace) else "recorded contexts"
            fail("horizon", f"at most the {longest} rounds of the {what}", horizon)
        return horizon

    @property
    def longest_horizon(self) -> int | None:
        """How many rounds there are to replay; None if there is no limit."""
        lengths = [len(self.awake.members)] if isinstance(self.availability, Trace) else []
        if isinstance(self.contexts, RecordedContexts) and self.contexts.replayed:
            lengths.append(len(self.contexts.rows))
        return min(lengths) if lengths else None


def _payoffs(
    problem: Problem, means: object, availability: Availability, rewards: Rewards, awake: Awake
) -> Payoffs:
    """Return what arms return, checked; the means of recorded rewards are those of the record."""
    recorded = frozen(np.empty((0, 0)))
    if isinstance(rewards, Recorded):
        if means is not None:
            fail("means", "left out when rewards are recorded", means)
        recorded = recorded_table(rewards.rewards, availability, awake, problem.arms)
        means = recorded_means(recorded, awake)
    elif means is None:
        raise InputError("means must be given unless rewards are recorded")
    true = check_per_arm("mean", problem.arms, means)
    concentration = rewards.concentration if isinstance(rewards, Beta) else 0.0
    return Payoffs(true, frozen(problem.weights * true), float(concentration), recorded)
