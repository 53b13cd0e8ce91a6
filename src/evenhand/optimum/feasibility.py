"""Which floors can be kept at all, for independent availability.

The set that minimises ``f(B) - k(B)`` is a prefix in descending ``k_i / p_i``, so floors are
feasible exactly if no such prefix is promised more than ``f(prefix)``. Plain functions.
"""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.optimum._counting import NEGLIGIBLE, add_arm, no_arms
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
        if promised > NEGLIGIBLE:
            least = min(least, possible[j] / promised)
    return least


def attainable(floors: Floats, probabilities: Floats, plays: int) -> Floats:
    """Return the floors, or where they do not fit the fairest part of them that does.

    Max-min fair: the prefix that lacks most gets the same fraction of each of its floors, what is
    left over is shared among the others in the same way, and no arm gets more than its floor. The
    fractions are the slopes of the lower convex hull of (promised, possible) over the prefixes.

    >>> attainable(np.array([0.5, 1.0, 0.1]), np.array([1.0, 1.0, 0.1]), 1).round(6).tolist()
    [0.3125, 0.625, 0.0625]
    """
    order = descending(promises(floors, probabilities))
    possible = prefix_plays(order, probabilities, plays)
    corners = np.zeros(order.size + 1, dtype=np.int64)
    promised = np.zeros(order.size + 1)
    given = np.zeros(order.size + 1)
    count = 1
    for j in range(order.size):
        promised[j + 1] = promised[j] + floors[order[j]]
        given[j + 1] = possible[j]
        while count > 1 and turns_right(
            promised, given, corners[count - 2], corners[count - 1], j + 1
        ):
            count -= 1
        corners[count] = j + 1
        count += 1
    kept = floors.copy()
    for c in range(1, count):
        start, end = corners[c - 1], corners[c]
        width = promised[end] - promised[start]
        gain = given[end] - given[start]
        share = gain / width if gain < width else 1.0
        for j in range(start, end):
            kept[order[j]] *= share
    return kept


def turns_right(x: Floats, y: Floats, a: int, b: int, c: int) -> bool:
    """Say whether corner b lies on or above the line from a to c."""
    above: bool = (y[b] - y[a]) * (x[c] - x[a]) >= (y[c] - y[a]) * (x[b] - x[a])
    return above


def worst_prefix(floors: Floats, probabilities: Floats, plays: int) -> tuple[Integers, Floats]:
    """Return the arms of the prefix that lacks most, and (promised, possible) of it."""
    order = descending(promises(floors, probabilities))
    promised = np.cumsum(floors[order])
    possible = prefix_plays(order, probabilities, plays)
    end = int(np.argmax(promised - possible))
    return np.sort(order[: end + 1]), np.array([promised[end], possible[end]])
