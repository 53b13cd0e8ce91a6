"""Possible rounds with contexts as rows: probabilities, values, and who is awake."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.nature import Awake

# Another one than that of contexts: both drawn from the same numbers would depend on each other.
SETS_SEED = 2


class Rows(NamedTuple):
    """Possible rounds, a row each: probability, weighted means, and awake probabilities."""

    probabilities: Floats
    values: Floats
    awake: Floats
    plays: int
    exact: bool

    @property
    def availability(self) -> Floats:
        """How often each arm is awake."""
        rates: Floats = self.probabilities @ self.awake
        return rates


def cross(
    probabilities: Floats, values: Floats, awake: Awake, plays: int, sample: int, exact: bool
) -> Rows:
    """Return every context with every awake set of a table; a sample of pairs if they are many.

    >>> sets = Awake(members=np.eye(2, dtype=bool), set_probabilities=np.array([0.25, 0.75]))
    >>> cross(np.ones(1), np.ones((1, 2)), sets, 1, sample=10, exact=True).probabilities
    array([0.75, 0.25])
    """
    members, inverse = np.unique(awake.members, axis=0, return_inverse=True)
    chances: Floats = np.bincount(inverse.ravel(), awake.set_probabilities).astype(np.float64)
    contexts, sets = len(probabilities), len(members)
    if contexts * sets <= max(sample, contexts):
        first, second = np.divmod(np.arange(contexts * sets), sets)
        both = probabilities[first] * chances[second]
        return Rows(both, values[first], members[second].astype(float), plays, exact)
    rng, count = np.random.default_rng(SETS_SEED), max(sample, contexts)
    first = rng.choice(contexts, count, p=probabilities) if exact else np.arange(count) % contexts
    second = rng.choice(sets, count, p=chances / chances.sum())
    equal = np.full(count, 1.0 / count)
    return Rows(equal, values[first], members[second].astype(float), plays, exact=False)


def row_rates(rows: Rows, scores: Floats) -> Floats:
    """Return each arm's rate in every row, if arms go first by their scores in that row.

    >>> rows = Rows(np.ones(1), np.ones((1, 2)), np.array([[0.5, 0.8]]), 1, exact=True)
    >>> row_rates(rows, np.array([[0.0, 1.0]]))
    array([[0.1, 0.8]])
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    awake, rates = np.take_along_axis(rows.awake, order, axis=1), np.empty_like(scores)
    # counts[c] is the probability that c of the arms before are awake, for c below the plays.
    counts = np.zeros((rows.plays, len(scores)))
    counts[0] = 1.0
    for rank in range(scores.shape[1]):
        rates[:, rank] = awake[:, rank] * counts.sum(axis=0)
        moved = counts * awake[:, rank]
        counts -= moved
        counts[1:] += moved[:-1]
    found = np.empty_like(rates)
    np.put_along_axis(found, order, rates, axis=1)
    return found


def merged(rows: Rows) -> Rows:
    """Return rows of different awake probabilities: whether floors fit depends on nothing else."""
    awake, inverse = np.unique(rows.awake, axis=0, return_inverse=True)
    together: Floats = np.bincount(inverse.ravel(), rows.probabilities).astype(np.float64)
    return rows._replace(probabilities=together, values=np.zeros_like(awake), awake=awake)
