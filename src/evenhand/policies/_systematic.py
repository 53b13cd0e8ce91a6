"""Systematic sampling: each arm exactly its chance, with one random number for all of them.

Lay the chances end to end and walk along them in steps of 1 from a random start in [0, 1): the arms
that are stepped on are drawn. Madow 1949.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from evenhand.core.arrays import Floats, Masks
from evenhand.policies.probabilities import Lines, best_of_lines

MANY_ARMS = 100


def stepped_on(before: float, after: float, start: float) -> bool:
    """Say whether the part of the way from ``before`` to ``after`` is stepped on.

    >>> stepped_on(0.0, 0.4, start=0.3), stepped_on(0.4, 1.0, start=0.3)
    (True, False)
    """
    return math.ceil(after - start) > math.ceil(before - start)


def draws(chances: Floats) -> Iterator[tuple[float, Masks]]:
    """Yield all that may be drawn: with what chance, and which arms.

    >>> [(round(chance, 2), drawn.tolist()) for chance, drawn in draws(np.array([0.4, 0.6]))]
    [(0.4, [True, False]), (0.6, [False, True])]
    """
    ends = np.cumsum(chances)
    starts = ends - chances
    corners = np.unique(np.concatenate([[0.0, 1.0], ends % 1.0]))
    for low, high in pairwise(corners.tolist()):
        middle = 0.5 * (low + high)
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        yield high - low, np.array([stepped_on(a, b, middle) for a, b in pairs])


def best_of_draws(
    chances: Floats, awake: Masks, weights: Floats, alphas: Floats, betas: Floats, plays: int
) -> Floats | None:
    """Return with what chance each awake arm is played if those drawn come before all others.

    Among those drawn, and among the others, weighted samples decide. ``chances`` are of all arms,
    the rest of the awake ones. None where there are too many arms to go through all draws.
    """
    if chances.size > MANY_ARMS:
        return None
    found = np.zeros(weights.size)
    for chance, drawn in draws(chances):
        lines = Lines(drawn[awake].astype(np.float64), np.zeros(weights.size), weights)
        found += chance * best_of_lines(lines, alphas, betas, plays)
    return found
