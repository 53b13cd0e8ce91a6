"""What happened so far: one NamedTuple of arrays, the same for every policy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.fading import fade, rounds_lived
from evenhand.core.terms import Terms, plays_due


class State(NamedTuple):
    """Arrays with one entry per arm, except the first three, which have one in all.

    Attributes
    ----------
    rounds
        How many decisions have been made.
    cancelled
        How many were taken back, and are not among the rounds. What is forgotten goes by both: so
        nothing is ever of a time to come.
    epoch
        In how many half-lives from the first round the weights of a forgetful policy are counted.
    played
        In how many rounds the arm was played.
    awake_counts
        In how many it was awake; of a forgetful policy, their weights.
    feedbacks, reward_sums
        How many of its rewards have arrived, and their sum; or what they weigh.
    debts
        The virtual queues Q_i, how many plays the arm is behind.
    """

    rounds: Integers
    cancelled: Integers
    epoch: Integers
    played: Integers
    awake_counts: Floats
    feedbacks: Floats
    reward_sums: Floats
    debts: Floats


# What adds up over decisions and feedback, arm by arm.
FADING = ("awake_counts", "feedbacks", "reward_sums")
SUMS = ("played", *FADING)


def new_state(arms: int) -> State:
    """Return the state before the first round.

    >>> new_state(2).debts
    array([0., 0.])
    """
    return State(
        rounds=np.zeros(1, dtype=np.int64),
        cancelled=np.zeros(1, dtype=np.int64),
        epoch=np.zeros(1, dtype=np.int64),
        played=np.zeros(arms, dtype=np.int64),
        awake_counts=np.zeros(arms),
        feedbacks=np.zeros(arms),
        reward_sums=np.zeros(arms),
        debts=np.zeros(arms),
    )


def faded(state: State, half_life: float) -> float:
    """Return the factor that brings the state's weights to the present; 1 without forgetting.

    >>> faded(new_state(2), 100.0)
    1.0
    """
    return fade(state.rounds[0] + state.cancelled[0], state.epoch[0], half_life)


def posterior(state: State, arms: Integers, half_life: float) -> tuple[Floats, Floats]:
    """Return alpha and beta of the Beta posteriors of some arms, Eq. (4).

    >>> posterior(new_state(3), np.array([0, 2]), np.inf)
    (array([1., 1.]), array([1., 1.]))
    """
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
    """Return each arm's estimated mean; draws no random numbers.

    >>> posterior_means(new_state(2), np.inf)
    array([0.5, 0.5])
    """
    now = faded(state, half_life)
    means: Floats = posterior_mean(now * state.reward_sums, now * state.feedbacks)
    return means


def awake_rates(state: State, terms: Terms, half_life: float) -> Floats:
    """Return the share of the rounds since it joined in which each arm was awake; 1 before any.

    An arm that is paused has no share. A plain function: interpreted and compiled it gives the
    same bits.

    >>> from evenhand import Problem
    >>> awake_rates(new_state(2), Problem(2, plays=1).terms, np.inf)
    array([1., 1.])
    """
    rates = np.ones(state.played.size)
    now = faded(state, half_life)
    for i in range(rates.size):
        present = rounds_lived(state.rounds[0] - terms.joined[i], half_life)
        if terms.paused[i]:
            rates[i] = 0.0
        elif present > 0.0:
            rates[i] = min(1.0, now * state.awake_counts[i] / present)
    return rates


def cumulative_debts(state: State, terms: Terms) -> Floats:
    """Return the debts of Eq. (5), ``max(t k_i - played_i, 0)``, of all arms.

    >>> from evenhand import Problem
    >>> cumulative_debts(new_state(2), Problem(2, plays=1, floors=0.5).terms)
    array([0., 0.])
    """
    due = plays_due(terms, slice(None), state.rounds[0])
    debts: Floats = np.maximum(due - state.played, 0.0)
    return debts


def copied(arrays: Any) -> Any:
    """Return a NamedTuple of arrays and numbers with arrays of its own.

    >>> copied(new_state(1)).played
    array([0])
    """
    own = (value.copy() if isinstance(value, np.ndarray) else value for value in arrays)
    return type(arrays)._make(own)


def with_new_arms(state: State, count: int) -> State:
    """Return the state with some more arms.

    >>> with_new_arms(new_state(2), 1).played
    array([0, 0, 0])
    """
    arms = state.played.size
    grown = new_state(arms + count)
    for old, new in zip(state, grown, strict=True):
        new[: old.size] = old
    return grown


def only_arms(state: State, arms: list[int]) -> State:
    """Return the state of some of the arms.

    >>> only_arms(new_state(3), [0, 2]).played
    array([0, 0])
    """
    clock = [array.copy() for array in state[:3]]
    return State._make([*clock, *(array[arms] for array in state[3:])])


def is_due(rounds: int, due: int, latest: int) -> bool:
    """Say whether something is to be worked out anew: in its round, or if the clock was set back.

    ``latest`` is when it would be due again if it were worked out now: decisions that were taken
    back may have left a round that is later than that.

    >>> is_due(10, due=10, latest=11), is_due(10, due=11, latest=11), is_due(10, due=90, latest=11)
    (True, False, True)
    """
    return rounds >= due or due > latest
