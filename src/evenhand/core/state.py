"""What happened, what was promised, and the one view of both that a scoring function gets."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Masks
from evenhand.core.fading import fade, rounds_lived
from evenhand.core.schema import Column

PER_ARM = Column("arm")


class State(NamedTuple):
    """What happened so far, the same for every policy.

    Attributes
    ----------
    rounds
        How many decisions have been made.
    cancelled
        How many were cancelled after others had followed; they are not among the rounds. What is
        forgotten goes by both, so that no decision is ever later than the present.
    epoch
        In how many half-lives from the first round the weights of a policy that forgets are
        counted.
    played
        In how many rounds the arm was played.
    awake_counts
        In how many it was awake; of a policy that forgets, their weights.
    feedbacks, reward_sums
        How many of its rewards have arrived, and their sum; or their weights.
    debts
        The virtual queues Q_i: how many plays the arm is behind; negative if it is ahead, down to
        minus the policy's surplus.
    """

    rounds: Annotated[Integers, Column("one", adds_up=True)]
    cancelled: Annotated[Integers, Column("one", adds_up=True)]
    epoch: Annotated[Integers, Column("one")]
    played: Annotated[Integers, Column("arm", adds_up=True)]
    awake_counts: Annotated[Floats, Column("arm", adds_up=True, fades=True)]
    feedbacks: Annotated[Floats, Column("arm", adds_up=True, fades=True)]
    reward_sums: Annotated[Floats, Column("arm", adds_up=True, fades=True)]
    debts: Annotated[Floats, PER_ARM]


class ProblemArrays(NamedTuple):
    """What was promised: it changes only with the arms.

    Attributes
    ----------
    plays
        At most how many arms are played in a round.
    weights, floors
        One of each per arm.
    joined
        After how many rounds the arm joined.
    since, promised
        The round at which its present floor took effect, and the plays it had been promised by
        then: 0 unless arms join or floors change in mid-run.
    paused
        Whether the arm takes no part for the time being; its floor is 0 then.
    """

    plays: int
    weights: Annotated[Floats, PER_ARM]
    floors: Annotated[Floats, PER_ARM]
    joined: Annotated[Floats, PER_ARM]
    since: Annotated[Floats, PER_ARM]
    promised: Annotated[Floats, PER_ARM]
    paused: Annotated[Masks, PER_ARM]


class NoStatistics(NamedTuple):
    """For a belief that needs no more than the state."""

    unused: float = 0.0


class NoPromises(NamedTuple):
    """For problems that promise nothing beyond floors."""

    unused: float = 0.0


class DecisionView(NamedTuple):
    """What a scoring function sees.

    Attributes
    ----------
    awake
        The indices of the arms that can be played, in ascending order.
    samples
        ``samples[j]`` was drawn from the belief about arm ``awake[j]``, if the policy wants
        samples.
    state, problem
        What happened, and what was promised; per arm, so by ``awake[j]``.
    belief
        The arrays that the belief has beside the state, the context among them.
    promises
        What is promised beyond floors, :class:`evenhand.core.promises.PromiseArrays`.
    """

    awake: Integers
    samples: Floats
    state: State
    problem: ProblemArrays
    belief: Any = NoStatistics()
    promises: Any = NoPromises()


def plays_due(problem: ProblemArrays, arm: Any, rounds: int) -> Any:
    """Return how many plays an arm has been promised by now: ``t k_i`` unless its floor changed.

    Those of many arms, if an array of them is given, or a slice.

    >>> none = np.zeros(1)
    >>> problem = ProblemArrays(1, np.ones(1), np.array([0.25]), none, none, none, none > 0)
    >>> float(plays_due(problem, 0, 100))
    25.0
    """
    return (rounds - problem.since[arm]) * problem.floors[arm] + problem.promised[arm]


def faded(state: State, half_life: float) -> float:
    """Return the factor that brings the state's weights to the present; 1 without forgetting."""
    return fade(state.rounds[0] + state.cancelled[0], state.epoch[0], half_life)


def posterior(state: State, arms: Integers, half_life: float) -> tuple[Floats, Floats]:
    """Return alpha and beta of the Beta posteriors of some arms, Eq. (4)."""
    now = faded(state, half_life)
    successes = now * state.reward_sums[arms]
    return 1.0 + successes, 1.0 + now * state.feedbacks[arms] - successes


def posterior_mean(reward_sum: Any, feedbacks: Any) -> Any:
    r"""Return an arm's estimated mean under a uniform prior, or those of many arms.

    .. math:: \frac{1 + \text{sum of rewards}_i}{2 + \text{feedbacks}_i}

    >>> posterior_mean(1.0, 2)
    0.5
    """
    return (1.0 + reward_sum) / (2.0 + feedbacks)


def posterior_means(state: State, half_life: float) -> Floats:
    """Return each arm's estimated mean; draws no random numbers."""
    now = faded(state, half_life)
    means: Floats = posterior_mean(now * state.reward_sums, now * state.feedbacks)
    return means


def awake_rates(state: State, problem: ProblemArrays, half_life: float) -> Floats:
    """Return the share of the rounds since it joined in which each arm was awake; 1 before any.

    An arm that is paused has no share.
    """
    rates = np.ones(state.played.size)
    now = faded(state, half_life)
    for i in range(rates.size):
        present = rounds_lived(state.rounds[0] - problem.joined[i], half_life)
        if problem.paused[i]:
            rates[i] = 0.0
        elif present > 0.0:
            rates[i] = min(1.0, now * state.awake_counts[i] / present)
    return rates


def cumulative_debts(state: State, problem: ProblemArrays) -> Floats:
    """Return the debts of Eq. (5), ``t k_i - played_i``, negative where an arm is ahead."""
    debts: Floats = plays_due(problem, slice(None), state.rounds[0]) - state.played
    return debts


def is_due(rounds: int, due: int, latest: int) -> bool:
    """Say whether something is to be recomputed: in its round, or if the clock was set back.

    ``latest`` is when it would be due again if it were computed now: decisions that were
    cancelled may have left a round that is later than that.

    >>> is_due(10, due=10, latest=11), is_due(10, due=11, latest=11), is_due(10, due=90, latest=11)
    (True, False, True)
    """
    return rounds >= due or due > latest
