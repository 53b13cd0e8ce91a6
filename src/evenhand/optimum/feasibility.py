"""Which floors can be kept at all, for independent availability.

The set that minimises ``f(B) - k(B)`` is a prefix in descending ``k_i / p_i``, so floors are
feasible exactly if no such prefix is promised more than ``f(prefix)``. Plain functions.
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Floats, Integers
from evenhand.optimum.counting import add_arm, no_arms
from evenhand.optimum.independent import descending, promises


def prefix_plays(order: Integers, probabilities: Floats, plays: int) -> Floats:
    """Return ``f`` of every prefix of an order: the most plays a round that it can be given.

    >>> prefix_plays(np.array([0, 1]), np.array([0.5, 0.8]), 1)
    array([0.5, 0.9])
    """
    counts, window = np.zeros(plays), np.zeros(2, dtype=np.int64)
    chance = no_arms(counts, window)
    possible = np.zeros(order.size)
    total = 0.0
    for j in range(order.size):
        total += probabilities[order[j]] * chance
        chance = add_arm(counts, window, chance, probabilities[order[j]])
        possible[j] = total
    return possible


def headroom(floors: Floats, probabilities: Floats, plays: int) -> float:
    """Return the largest multiplier of all floors that is feasible; infinite without floors.

    >>> float(headroom(np.array([0.25, 0.2]), np.array([0.5, 0.8]), 1))
    2.0
    """
    order = descending(promises(floors, probabilities))
    possible = prefix_plays(order, probabilities, plays)
    least, promised = np.inf, 0.0
    for j in range(order.size):
        promised += floors[order[j]]
        if promised > 0.0:
            least = min(least, possible[j] / promised)
    return least


def worst_prefix(floors: Floats, probabilities: Floats, plays: int) -> tuple[Integers, Floats]:
    """Return the arms of the prefix that lacks most, and (promised, possible) of it."""
    order = descending(promises(floors, probabilities))
    promised = np.cumsum(floors[order])
    possible = prefix_plays(order, probabilities, plays)
    end = int(np.argmax(promised - possible))
    return np.sort(order[: end + 1]), np.array([promised[end], possible[end]])
