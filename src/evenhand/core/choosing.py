"""The best of the awake arms: selection in linear time, ties at random.

Plain functions on arrays: interpreted and compiled they give the same bits.
"""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats, Integers, Random

FEW_PLAYS = 16


def choose(
    chosen: Integers, awake: Integers, scores: Floats, scratch: Floats, plays: int, rng: Random
) -> int:
    """Write the ``plays`` awake arms with the best scores in ascending order; return how many.

    With no more awake arms than plays, all are chosen and the scores are not looked at. Costs
    O(awake) on average. Arms that tie for the last plays get them with equal probability, and only
    then is a random number drawn. A score that is not a number counts as the lowest.
    """
    count = choose_clear(chosen, awake, scores, scratch, plays, rng)
    if count >= 0:
        return count
    threshold = scratch[0]
    left, ties = plays, 0
    for j in range(awake.size):
        left -= scores[j] > threshold
        ties += scores[j] == threshold
    count = 0
    for j in range(awake.size):
        taken = scores[j] > threshold
        if scores[j] == threshold:
            taken = left == ties or rng.random() * ties < left
            left -= taken
            ties -= 1
        chosen[count] = awake[j]
        count += taken
    return count


def choose_clear(
    chosen: Integers, awake: Integers, scores: Floats, scratch: Floats, plays: int, rng: Random
) -> int:
    """Do as :func:`choose` where no arms tie for the last plays; else return -1.

    No random number is drawn. The score for which they tie is in ``scratch[0]`` then.
    """
    if awake.size <= plays:
        for j in range(awake.size):
            chosen[j] = awake[j]
        return awake.size
    threshold = threshold_of(scores, scratch, awake.size, plays)
    least = 0
    for j in range(awake.size):
        least += scores[j] >= threshold
    if least > plays:
        scratch[0] = threshold
        return -1
    count, j = 0, 0
    while count < plays:
        chosen[count] = awake[j]
        count += scores[j] >= threshold
        j += 1
    return count


def choose_willing(
    chosen: Integers, awake: Integers, scores: Floats, scratch: Floats, plays: int, rng: Random
) -> int:
    """Do as :func:`choose`, but leave out arms with a score below 0: their plays stay empty."""
    count = write_willing(chosen, awake, scores, plays)
    return count if count >= 0 else choose(chosen, awake, scores, scratch, plays, rng)


def choose_willing_clear(
    chosen: Integers, awake: Integers, scores: Floats, scratch: Floats, plays: int, rng: Random
) -> int:
    """Do as :func:`choose_clear`, but leave out arms with a score below 0."""
    count = write_willing(chosen, awake, scores, plays)
    return count if count >= 0 else choose_clear(chosen, awake, scores, scratch, plays, rng)


def write_willing(chosen: Integers, awake: Integers, scores: Floats, plays: int) -> int:
    """Write the arms with a score of at least 0, if they are no more than plays; else return -1.

    >>> write_willing(np.empty(2, int), np.arange(3), np.array([0.5, -0.1, 0.2]), plays=2)
    2
    """
    willing = 0
    for j in range(awake.size):
        willing += scores[j] >= 0.0
    if willing > plays:
        return -1
    count = 0
    for j in range(awake.size):
        if scores[j] >= 0.0:
            chosen[count] = awake[j]
            count += 1
    return count


def threshold_of(scores: Floats, scratch: Floats, size: int, plays: int) -> float:
    """Return the ``plays``-th largest score; one that is not a number becomes the lowest."""
    for j in range(size):
        if scores[j] != scores[j]:
            scores[j] = -np.inf
    if plays <= FEW_PLAYS:
        return least_of_best(scores, scratch, size, plays)
    for j in range(size):
        scratch[j] = scores[j]
    return nth_largest(scratch, size, plays)


def least_of_best(scores: Floats, best: Floats, size: int, plays: int) -> float:
    """Return the least of the ``plays`` best scores, which are kept while the scores pass by.

    For few plays: a better score replaces the least one, and the new least one is searched for.
    That happens seldom, and takes the same steps each time.

    >>> least_of_best(np.array([0.1, 0.9, 0.5, 0.9]), np.empty(4), 4, 3)
    np.float64(0.5)
    """
    least, at = np.inf, 0
    for j in range(plays):
        best[j] = scores[j]
        lower = best[j] < least
        least, at = best[j] if lower else least, j if lower else at
    for j in range(plays, size):
        if scores[j] > least:
            best[at] = scores[j]
            least, at = best[0], 0
            for k in range(1, plays):
                lower = best[k] < least
                least, at = best[k] if lower else least, k if lower else at
    return least


def nth_largest(values: Floats, size: int, rank: int) -> float:
    """Return the ``rank``-th largest of the first ``size`` values, reordering them.

    Hoare's selection: linear time on average, also for sorted and for equal values.

    >>> nth_largest(np.array([0.1, 0.9, 0.5, 0.9]), 4, 3)
    np.float64(0.5)
    """
    left, right, target = 0, size - 1, rank - 1
    while left < right:
        pivot = values[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if target <= j:
            right = j
        elif target >= i:
            left = i
        else:
            break
    found: float = values[target]
    return found
