"""What a policy remembers: one NamedTuple of arrays, the same for every policy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand.arrays import Floats, Integers

JOINED, SINCE, PROMISED, PRICE = range(4)


class State(NamedTuple):
    """Arrays with one entry per arm, except ``rounds``.

    Few arrays, since every one of them costs a compiled loop some nanoseconds a round; the rows of
    ``plan`` have names of their own outside of compiled functions.

    Attributes
    ----------
    rounds
        How many decisions have been made, and from which round on the prices are due to be
        computed anew (``refresh``).
    played, awake_counts
        In how many rounds the arm was played, and awake.
    feedbacks, reward_sums
        How many of its rewards have arrived, and their sum.
    debts
        The virtual queues Q_i, how many plays the arm is behind.
    plan
        Four rows. ``joined``: after how many rounds the arm joined. ``since`` and ``promised``:
        the round at which its present floor took effect, and the plays it had been promised by
        then (0 unless arms join or floors change in mid-run). ``prices``, for policies that
        compute them: what each floor costs in reward per round.
    """

    rounds: Integers
    played: Integers
    awake_counts: Integers
    feedbacks: Integers
    reward_sums: Floats
    debts: Floats
    plan: Floats

    @property
    def refresh(self) -> Integers:
        """From which round on the prices are due."""
        return self.rounds[1:]

    @property
    def joined(self) -> Floats:
        """After how many rounds each arm joined."""
        return self.plan[JOINED, :]

    @property
    def since(self) -> Floats:
        """The round at which each arm's floor took effect."""
        return self.plan[SINCE, :]

    @property
    def promised(self) -> Floats:
        """The plays each arm had been promised by then."""
        return self.plan[PROMISED, :]

    @property
    def prices(self) -> Floats:
        """What each floor costs."""
        return self.plan[PRICE, :]


def new_state(arms: int) -> State:
    """Return the state before the first round.

    >>> new_state(2).debts
    array([0., 0.])
    """

    def zeros() -> Integers:
        return np.zeros(arms, dtype=np.int64)

    return State(
        rounds=np.zeros(2, dtype=np.int64),
        played=zeros(),
        awake_counts=zeros(),
        feedbacks=zeros(),
        reward_sums=np.zeros(arms),
        debts=np.zeros(arms),
        plan=np.zeros((4, arms)),
    )


def posterior_means(state: State) -> Floats:
    r"""Return each arm's estimated mean under a uniform prior; draws no random numbers.

    .. math:: \frac{1 + \text{sum of rewards}_i}{2 + \text{feedbacks}_i}

    >>> posterior_means(new_state(2))
    array([0.5, 0.5])
    """
    means: Floats = (1.0 + state.reward_sums) / (2.0 + state.feedbacks)
    return means


def awake_rates(state: State) -> Floats:
    """Return the share of the rounds since it joined in which each arm was awake; 1 before any.

    A plain function: interpreted and compiled it gives the same bits.

    >>> awake_rates(new_state(2))
    array([1., 1.])
    """
    rates = np.ones(state.played.size)
    for i in range(rates.size):
        present = state.rounds[0] - state.plan[JOINED, i]
        if present > 0.0:
            rates[i] = state.awake_counts[i] / present
    return rates


def with_new_arm(state: State) -> State:
    """Return the state with one more arm, which is owed nothing as yet.

    >>> with_new_arm(new_state(2)).played
    array([0, 0, 0])
    """
    arms = state.played.size
    grown = new_state(arms + 1)
    for old, new in zip(state[1:], grown[1:], strict=True):
        new[..., :arms] = old
    grown.joined[-1] = grown.since[-1] = state.rounds[0]
    return grown._replace(rounds=state.rounds)


def only_arms(state: State, arms: list[int]) -> State:
    """Return the state of some of the arms.

    >>> only_arms(new_state(3), [0, 2]).played
    array([0, 0])
    """
    return State._make([state.rounds, *(array[..., arms].copy() for array in state[1:])])
