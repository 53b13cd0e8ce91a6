"""Nature as arrays: how arms wake and what they return, and the two functions that draw from it.

The readable engine and the compiled one both call these functions; the optimum and the oracles
read the same :class:`Awake`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Masks, Random, frozen


class Awake(NamedTuple):
    """How arms wake; the parts that do not apply are empty.

    ``probabilities`` of arms on their own, or ``members`` (a row a set) with their
    ``set_probabilities``; ``cumulative`` ones where sets are drawn, not replayed in order.
    """

    probabilities: Floats = frozen(np.empty(0))
    members: Masks = frozen(np.empty((0, 0), dtype=np.bool_))
    set_probabilities: Floats = frozen(np.empty(0))
    cumulative: Floats = frozen(np.empty(0))


class Payoffs(NamedTuple):
    """What arms return: means, their weighted ``values``, and how rewards are drawn.

    A ``concentration`` above 0 for Beta rewards; ``recorded`` rewards, or an empty table.
    """

    means: Floats
    values: Floats
    concentration: float
    recorded: Floats


class Changes(NamedTuple):
    """A nature that changes: after how many rounds, and what it is from then on, a row a change.

    All parts are empty where it stays the same.
    """

    starts: Integers = frozen(np.empty(0, dtype=np.int64))
    probabilities: Floats = frozen(np.empty((0, 0)))
    means: Floats = frozen(np.empty((0, 0)))
    values: Floats = frozen(np.empty((0, 0)))


def own_nature(awake: Awake, payoffs: Payoffs) -> tuple[Awake, Payoffs]:
    """Return a nature whose numbers may be overwritten when it changes."""
    probabilities, means, values = awake.probabilities, payoffs.means, payoffs.values
    return (
        Awake(probabilities.copy(), awake.members, awake.set_probabilities, awake.cumulative),
        Payoffs(means.copy(), values.copy(), payoffs.concentration, payoffs.recorded),
    )


def change_nature(awake: Awake, payoffs: Payoffs, changes: Changes, number: int) -> None:
    """Apply a change, counted from 0, to arrays of :func:`own_nature`.

    In place: a name that is rebound in a compiled loop costs more than the whole round.
    """
    for i in range(payoffs.means.size):
        awake.probabilities[i] = changes.probabilities[number, i]
        payoffs.means[i] = changes.means[number, i]
        payoffs.values[i] = changes.values[number, i]


def draw_awake(here: Integers, awake: Awake, now: int, rng: Random) -> int:
    """Write the indices of this round's awake arms in ascending order; return how many.

    One uniform number per arm (independent), one per round (joint table), none (trace).
    ``now`` counts rounds from 0.
    """
    count = 0
    if awake.probabilities.size > 0:
        for i in range(awake.probabilities.size):
            here[count] = i
            count += rng.random() < awake.probabilities[i]
        return count
    row = now
    if awake.cumulative.size > 0:
        draw = rng.random()
        row, end = 0, awake.cumulative.size - 1
        while row < end:
            middle = (row + end) // 2
            if awake.cumulative[middle] > draw:
                end = middle
            else:
                row = middle + 1
    for i in range(awake.members.shape[1]):
        here[count] = i
        count += awake.members[row, i]
    return count


def draw_rewards(rewards: Floats, payoffs: Payoffs, now: int, rng: Random) -> None:
    """Write every arm's reward for this round, played or not, so that all policies face the same.

    Bernoulli: 1 with probability u_i. Beta with concentration c: Beta(c u_i, c (1 - u_i)), and u_i
    itself where that is 0 or 1. Recorded: the row of this round.
    """
    for i in range(rewards.size):
        mean = payoffs.means[i]
        if payoffs.recorded.size > 0:
            rewards[i] = payoffs.recorded[now, i]
        elif payoffs.concentration > 0.0:
            inner = 0.0 < mean < 1.0
            shape = payoffs.concentration * mean
            rewards[i] = rng.beta(shape, payoffs.concentration - shape) if inner else mean
        else:
            rewards[i] = 1.0 if rng.random() < mean else 0.0
