"""What a policy remembers: one NamedTuple of arrays, the same for every policy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand.arrays import Floats, Integers


class State(NamedTuple):
    """Arrays with one entry per arm, except the first two.

    Attributes
    ----------
    rounds
        One number: how many decisions have been made.
    refresh
        One number: from which round on the prices are due to be computed anew.
    played, awake_counts
        In how many rounds the arm was played, and awake.
    feedbacks, reward_sums
        How many of its rewards have arrived, and their sum.
    debts
        The virtual queues Q_i, how many plays the arm is behind.
    joined
        After how many rounds the arm joined.
    since, promised
        The round at which the arm's present floor took effect, and the plays it had been promised
        by then (0 and 0.0 unless arms join or floors change in mid-run).
    prices, targets
        For policies that compute them: what each floor costs in reward per round, and the floors
        themselves, or as much of them as can be kept.
    """

    rounds: Integers
    refresh: Integers
    played: Integers
    awake_counts: Integers
    feedbacks: Integers
    reward_sums: Floats
    debts: Floats
    joined: Integers
    since: Integers
    promised: Floats
    prices: Floats
    targets: Floats


SHARED = 2


def new_state(arms: int) -> State:
    """Return the state before the first round.

    >>> new_state(2).debts
    array([0., 0.])
    """

    def zeros() -> Integers:
        return np.zeros(arms, dtype=np.int64)

    return State(
        rounds=np.zeros(1, dtype=np.int64),
        refresh=np.zeros(1, dtype=np.int64),
        played=zeros(),
        awake_counts=zeros(),
        feedbacks=zeros(),
        reward_sums=np.zeros(arms),
        debts=np.zeros(arms),
        joined=zeros(),
        since=zeros(),
        promised=np.zeros(arms),
        prices=np.zeros(arms),
        targets=np.zeros(arms),
    )


def posterior_means(state: State) -> Floats:
    r"""Return each arm's estimated mean under a uniform prior; draws no random numbers.

    .. math:: \frac{1 + \text{sum of rewards}_i}{2 + \text{feedbacks}_i}

    >>> posterior_means(new_state(2))
    array([0.5, 0.5])
    """
    means: Floats = (1.0 + state.reward_sums) / (2.0 + state.feedbacks)
    return means


def with_new_arm(state: State) -> State:
    """Return the state with one more arm, which is owed nothing as yet.

    >>> with_new_arm(new_state(2)).played
    array([0, 0, 0])
    """
    arrays = [np.append(array, np.zeros(1, array.dtype)) for array in state[SHARED:]]
    grown = State._make([*state[:SHARED], *arrays])
    grown.joined[-1] = grown.since[-1] = state.rounds[0]
    return grown


def only_arms(state: State, arms: list[int]) -> State:
    """Return the state of some of the arms.

    >>> only_arms(new_state(3), [0, 2]).played
    array([0, 0])
    """
    return State._make([*state[:SHARED], *(array[arms] for array in state[SHARED:])])
