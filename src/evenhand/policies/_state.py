"""What happened so far: one NamedTuple of arrays, the same for every policy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand._base.arrays import Floats, Integers
from evenhand._base.terms import Terms


class State(NamedTuple):
    """Arrays with one entry per arm, except ``rounds``, which has one in all.

    Attributes
    ----------
    rounds
        How many decisions have been made.
    played, awake_counts
        In how many rounds the arm was played, and awake.
    feedbacks, reward_sums
        How many of its rewards have arrived, and their sum.
    debts
        The virtual queues Q_i, how many plays the arm is behind.
    """

    rounds: Integers
    played: Integers
    awake_counts: Integers
    feedbacks: Integers
    reward_sums: Floats
    debts: Floats


def new_state(arms: int) -> State:
    """Return the state before the first round.

    >>> new_state(2).debts
    array([0., 0.])
    """

    def zeros() -> Integers:
        return np.zeros(arms, dtype=np.int64)

    return State(
        rounds=np.zeros(1, dtype=np.int64),
        played=zeros(),
        awake_counts=zeros(),
        feedbacks=zeros(),
        reward_sums=np.zeros(arms),
        debts=np.zeros(arms),
    )


def posterior_mean(reward_sum: Any, feedbacks: Any) -> Any:
    r"""Return an arm's estimated mean under a uniform prior, or those of many arms.

    .. math:: \frac{1 + \text{sum of rewards}_i}{2 + \text{feedbacks}_i}

    >>> posterior_mean(1.0, 2)
    0.5
    """
    return (1.0 + reward_sum) / (2.0 + feedbacks)


def posterior_means(state: State) -> Floats:
    """Return each arm's estimated mean; draws no random numbers.

    >>> posterior_means(new_state(2))
    array([0.5, 0.5])
    """
    means: Floats = posterior_mean(state.reward_sums, state.feedbacks)
    return means


def awake_rates(state: State, terms: Terms) -> Floats:
    """Return the share of the rounds since it joined in which each arm was awake; 1 before any.

    A plain function: interpreted and compiled it gives the same bits.

    >>> from evenhand import Problem
    >>> awake_rates(new_state(2), Problem(2, plays=1).terms)
    array([1., 1.])
    """
    rates = np.ones(state.played.size)
    for i in range(rates.size):
        present = state.rounds[0] - terms.joined[i]
        if present > 0.0:
            rates[i] = state.awake_counts[i] / present
    return rates


def with_new_arm(state: State) -> State:
    """Return the state with one more arm.

    >>> with_new_arm(new_state(2)).played
    array([0, 0, 0])
    """
    arms = state.played.size
    grown = new_state(arms + 1)
    for old, new in zip(state[1:], grown[1:], strict=True):
        new[:arms] = old
    return grown._replace(rounds=state.rounds)


def only_arms(state: State, arms: list[int]) -> State:
    """Return the state of some of the arms.

    >>> only_arms(new_state(3), [0, 2]).played
    array([0, 0])
    """
    return State._make([state.rounds, *(array[arms].copy() for array in state[1:])])
