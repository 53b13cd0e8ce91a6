"""How many of a growing set of independent arms are awake: the Poisson-binomial recursion.

``counts[c]`` is the probability that exactly ``c`` arms are awake, for c below the number of
plays, and ``window`` holds the first and last c that matter. The chance h that a further arm
finds a free play is the sum of the counts, so adding arm i raises the expected number of plays
f by ``p_i h``. Plain functions: interpreted and compiled they give the same bits.
"""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats, Integers

NEGLIGIBLE = 1e-30


def no_arms(counts: Floats, window: Integers) -> float:
    """Start with the empty set; return the chance of a free play, which is 1."""
    for c in range(counts.size):
        counts[c] = 0.0
    counts[0] = 1.0
    window[0] = 0
    window[1] = 0
    return 1.0


def add_arm(counts: Floats, window: Integers, chance: float, probability: float) -> float:
    """Add an arm that is awake with this probability; return the new chance of a free play.

    >>> counts, window = np.zeros(2), np.zeros(2, dtype=np.int64)
    >>> chance = no_arms(counts, window)
    >>> chance = add_arm(counts, window, chance, 0.5)
    >>> float(add_arm(counts, window, chance, 0.5))  # 1 - P(both awake)
    0.75
    """
    first, last = window[0], window[1]
    if chance == 0.0 or probability == 0.0:
        return chance
    chance -= probability * counts[counts.size - 1]
    asleep = 1.0 - probability
    if last < counts.size - 1:
        last += 1
    for c in range(last, first, -1):
        counts[c] = counts[c] * asleep + counts[c - 1] * probability
    counts[first] *= asleep
    while first < last and counts[first] < NEGLIGIBLE:
        counts[first] = 0.0
        first += 1
    window[0] = first
    window[1] = last
    if chance < 0.25:
        chance = 0.0
        for c in range(first, last + 1):
            chance += counts[c]
    return chance if chance > NEGLIGIBLE else 0.0


def rates_of_order(
    order: Integers, probabilities: Floats, counts: Floats, window: Integers, chance: float
) -> Floats:
    """Return each arm's rate when play follows one priority order: a vertex of the polymatroid.

    ``x_i = p_i P(fewer than m arms before i are awake)``; the arms before the first one are in
    ``counts``, and the arms of the order are added to them.

    >>> counts, window = np.zeros(1), np.zeros(2, dtype=np.int64)
    >>> chance = no_arms(counts, window)
    >>> rates_of_order(np.array([1, 0]), np.array([0.5, 0.8]), counts, window, chance)
    array([0.1, 0.8])
    """
    rates = np.zeros(probabilities.size)
    for j in range(order.size):
        i = order[j]
        rates[i] = probabilities[i] * chance
        chance = add_arm(counts, window, chance, probabilities[i])
    return rates
