r"""Promises beyond floors, as arrays: their debts, and what they add to scores.

Row j has a sign (1: at least, -1: at most) and a bound a round. Its debt is how far it is behind,

.. math:: Q_j \leftarrow \max(Q_j + \text{sign}_j (b_j - d_j), -\text{surplus}_j)

with d_j what it had in the round: plays of its arms, counted when a decision is made, or their
weighted rewards, counted when they are told. A bonus of row j goes to every play of its arms, or to
every unit of their reward. Plain functions, interpreted and compiled.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from evenhand.core.arrays import Floats, Integers, Masks
from evenhand.core.schema import Column
from evenhand.core.state import DecisionView, State, posterior_mean


class PromiseState(NamedTuple):
    """What happened to each row: its debt, and the plays or the reward that it had in all."""

    debts: Annotated[Floats, Column("promise")]
    delivered: Annotated[Floats, Column("promise", adds_up=True)]


class PromiseArrays(NamedTuple):
    """The rows, and what happened to them.

    Attributes
    ----------
    sign, bound, reward, surplus
        Of each row, as in :class:`evenhand.promise_rows.Rows`; a paused row has a bound of 0.
    since, promised, begun
        The round at which its present bound took effect, what it had been promised by then, and
        the round at which it was made.
    settled, born
        After which decision its present bound took effect, and after which it was made.
    first, rows
        The rows of arm i are ``rows[first[i]]`` to ``rows[first[i + 1] - 1]``.
    weights
        Of each arm.
    debts, delivered
        See :class:`PromiseState`.
    had, bonuses
        Room for what each row had in a round, and for what it adds to scores.
    """

    sign: Floats
    bound: Floats
    reward: Masks
    surplus: Floats
    since: Floats
    promised: Floats
    begun: Floats
    settled: Floats
    born: Floats
    first: Integers
    rows: Integers
    weights: Floats
    debts: Floats
    delivered: Floats
    had: Floats
    bonuses: Floats


def advance_nothing(promises: Any, state: State, chosen: Integers, count: int) -> None:
    """Advance no promises: there are none beyond floors."""


def advance_promises(promises: PromiseArrays, state: State, chosen: Integers, count: int) -> None:
    """Count the plays of a round that was just decided, and update the debts of all rows."""
    for j in range(promises.had.size):
        promises.had[j] = 0.0
    for c in range(count):
        for k in range(promises.first[chosen[c]], promises.first[chosen[c] + 1]):
            if not promises.reward[promises.rows[k]]:
                promises.had[promises.rows[k]] += 1.0
    for j in range(promises.had.size):
        promises.delivered[j] += promises.had[j]
        if promises.surplus[j] == math.inf:
            due = (state.rounds[0] - promises.since[j]) * promises.bound[j] + promises.promised[j]
            promises.debts[j] = promises.sign[j] * (due - promises.delivered[j])
        else:
            grown = promises.sign[j] * (promises.bound[j] - promises.had[j])
            promises.debts[j] = max(promises.debts[j] + grown, -promises.surplus[j])


def credit_nothing(promises: Any, state: State, arm: int, reward: float) -> None:
    """Count a reward towards no promise."""


def credit_reward(promises: PromiseArrays, state: State, arm: int, reward: float) -> None:
    """Count a reward that was told towards the promises of reward that the arm is in."""
    earned = promises.weights[arm] * reward
    for k in range(promises.first[arm], promises.first[arm + 1]):
        j = promises.rows[k]
        if promises.reward[j]:
            promises.delivered[j] += earned
            if promises.surplus[j] == math.inf:
                due = (state.rounds[0] - promises.since[j]) * promises.bound[j]
                due += promises.promised[j]
                promises.debts[j] = promises.sign[j] * (due - promises.delivered[j])
            else:
                debt = promises.debts[j] - promises.sign[j] * earned
                promises.debts[j] = max(debt, -promises.surplus[j])


def add_bonuses(scores: Floats, view: DecisionView) -> None:
    """Add the bonuses of its rows to every awake arm's score: of a play, and of its reward.

    A score below 0 says that an upper bound forbids the arm; a sample that is below 0 does not.
    """
    promises = view.promises
    for a in range(view.awake.size):
        i = view.awake[a]
        bonus, share = 0.0, 0.0
        for k in range(promises.first[i], promises.first[i + 1]):
            j = promises.rows[k]
            if promises.reward[j]:
                share += promises.bonuses[j]
            else:
                bonus += promises.bonuses[j]
        if share != 0.0:
            bonus += share * promises.weights[i] * estimate(view, a)
        scores[a] += bonus
        if bonus >= 0.0 and scores[a] < 0.0:
            scores[a] = 0.0


def estimate(view: DecisionView, index: int) -> float:
    """Return what the belief expects of an awake arm: its sample."""
    found: float = view.samples[index]
    return found


def mean_estimate(view: DecisionView, index: int) -> float:
    """Return the posterior mean, for policies that score no samples."""
    i = view.awake[index]
    found: float = posterior_mean(view.state.reward_sums[i], view.state.feedbacks[i])
    return found
