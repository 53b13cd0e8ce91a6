"""Quantities that the literature measures regret in."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence


def divergence(p: float, q: float) -> float:
    r"""Return the Kullback-Leibler divergence of two coins.

    .. math:: kl(p, q) = p \ln \frac pq + (1 - p) \ln \frac{1 - p}{1 - q}

    >>> round(divergence(0.5, 0.75), 6), divergence(0.3, 0.3)
    (0.143841, 0.0)
    """
    heads = p * math.log(p / q) if p > 0.0 else 0.0
    tails = (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return heads + tails


def lai_robbins(means: Sequence[float]) -> float:
    r"""Return Lai and Robbins' constant: no good learner's regret grows slower than it times ln T.

    .. math:: \sum_{i : u_i < u^*} \frac{u^* - u_i}{kl(u_i, u^*)}

    References
    ----------
    Lai, Robbins: Asymptotically efficient adaptive allocation rules, Advances in Applied
    Mathematics 6, 1985.

    Examples
    --------
    >>> round(lai_robbins([0.5, 0.75]), 4)
    1.738
    """
    top = max(means)
    return sum((top - mean) / divergence(mean, top) for mean in means if mean < top)


def neighbour_gaps(means: Sequence[float]) -> float:
    r"""Return the sum of 1 over the gaps between neighbours in the order of means.

    .. math:: \sum_{i} \frac{1}{u_{(i)} - u_{(i + 1)}}

    Regret against the best ordering is of the order of it times ln T, and no less.

    References
    ----------
    Kleinberg, Niculescu-Mizil, Sharma: Regret bounds for sleeping experts and bandits, Machine
    Learning 80, 2010.

    Examples
    --------
    >>> neighbour_gaps([0.5, 0.75, 0.25])
    8.0
    """
    order = sorted(means)
    return sum(1.0 / (high - low) for low, high in itertools.pairwise(order))


def best_ordering(means: Sequence[float], probabilities: Sequence[float]) -> float:
    """Return the reward of the best ordering of independent arms, all orderings tried.

    One play a round goes to the first arm of the ordering that is awake.

    >>> best_ordering([0.5, 1.0], [1.0, 0.5])
    0.75
    """

    def reward(ordering: Sequence[int]) -> float:
        total, asleep = 0.0, 1.0
        for i in ordering:
            total += asleep * probabilities[i] * means[i]
            asleep *= 1.0 - probabilities[i]
        return total

    return max(reward(ordering) for ordering in itertools.permutations(range(len(means))))
