r"""The optimum with contexts: column generation over prices, on rows of possible rounds.

A row s is a context with its values r_si and its awake probabilities; a round is row s with the
probability p_s. What some prices choose is, in every row, the priority order by ``r_si +
lambda_i``; so a column of the program is what some prices choose, and a mixture of prices is the
optimal policy. Which arms of a row are awake is not drawn: their rates follow from the order
exactly, by the recursion of :mod:`evenhand.optimum._counting`, for all rows at once.

The rows are all combinations of categories, all recorded contexts, or a sample of contexts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.nature import Awake
from evenhand.optimum._joint import GAP, PENALTY, Choice, Solution, maximise, widen
from evenhand.optimum.solver import (
    ROUNDING,
    Optimum,
    check_awake,
    infeasible,
    kept_floors,
    worst_level,
)

# The gap of a sample is far below its standard error.
SAMPLE_GAP = 1e-6
FEW_ROWS = 1_000
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


def solve_rows(rows: Rows, waking: Rows, floors: Floats, arms: tuple[str, ...]) -> Optimum:
    """Return the optimum of possible rounds, or raise the certificate.

    ``waking`` are rows by which it is decided whether floors fit. That depends on awake
    probabilities alone, so they are exact even if ``rows`` are a sample.
    """
    scale = float(rows.values.max(initial=0.0)) or 1.0
    scaled = rows._replace(values=rows.values / scale)
    room, kept, start = _fitting(waking, floors, arms)
    best = _best(scaled, kept, start)
    prices, own = best.multipliers, waking.availability
    chosen = row_rates(scaled, scaled.values + prices)
    duals = ((scaled.values + prices) * chosen).sum(axis=1) - float(prices @ kept)
    error = 0.0 if rows.exact else float(np.std(duals, ddof=1)) / math.sqrt(len(duals))
    common = widen(_priority(waking), own, np.ones(own.size)).value if own.all() else 0.0
    return Optimum(
        arms,
        floors,
        with_floors=best.value * scale,
        without_floors=choose(scaled, np.zeros(floors.size)).value * scale,
        bound=best.bound * scale,
        rates=best.rates,
        prices=prices * scale,
        floor_headroom=room,
        largest_common_floor=common,
        standard_error=error * scale,
    )


def choose(rows: Rows, prices: Floats) -> Choice:
    """Return what prices choose."""
    chosen = row_rates(rows, rows.values + prices)
    value = float(rows.probabilities @ (rows.values * chosen).sum(axis=1))
    return Choice(prices, value, rows.probabilities @ chosen)


def _best(rows: Rows, floors: Floats, start: Floats) -> Solution:
    """Maximise the value; of many rows, first on some of them, for prices to begin with.

    No price exceeds the largest value times the arms: along a chain of arms that take each other's
    places, each may do so in another context.
    """
    if not rows.exact:
        if len(rows.values) > 2 * FEW_ROWS:
            some = np.full(FEW_ROWS, 1.0 / FEW_ROWS)
            fewer = Rows(some, rows.values[:FEW_ROWS], rows.awake[:FEW_ROWS], rows.plays, False)
            start = np.concatenate([start, _best(fewer, floors, start).choices])
        floors = _attainable(rows, floors)
    begin = [choose(rows, prices) for prices in start]
    gap, penalty = GAP if rows.exact else SAMPLE_GAP, PENALTY * floors.size
    own = rows.availability
    return maximise(lambda prices: choose(rows, prices), begin, own, floors, penalty, gap)


def _attainable(rows: Rows, floors: Floats) -> Floats:
    """Return floors as far as a sample can keep them: arms may be awake less often in it."""
    own = rows.availability
    some = np.where(own > 0.0, floors, 0.0)
    if not some.any():
        return some
    return kept_floors(some, widen(_priority(merged(rows)), own, some).value)


def _fitting(rows: Rows, floors: Floats, arms: tuple[str, ...]) -> tuple[float, Floats, Floats]:
    """Return headroom, floors that fit, and prices to begin with, or raise the certificate.

    Whether floors fit does not depend on values: an arm of a larger weight goes first in all rows.
    """
    begin, own = np.zeros((1, floors.size)), rows.availability
    if not floors.any():
        return np.inf, floors, begin
    check_awake(floors, own, arms)
    widest = widen(_priority(rows), own, floors)
    if widest.value < 1.0 - ROUNDING:
        order = np.argsort(-widest.multipliers, kind="stable")
        rates = _priority(rows)(widest.multipliers).rates
        raise infeasible(*worst_level(floors, order, rates), widest.value, floors, own, arms)
    # Prices far above all values put arms into the order of the burdens.
    ranks = np.argsort(np.argsort(widest.choices, axis=1, kind="stable"), axis=1)
    far = np.concatenate([begin, 2.0 * ranks])
    return widest.value, kept_floors(floors, widest.value), far


def _priority(rows: Rows) -> Callable[[Floats], Choice]:
    """Return what gives arms of larger weights priority, in all rows alike."""

    def follow(burden: Floats) -> Choice:
        rates = row_rates(rows, np.broadcast_to(burden, rows.awake.shape))
        return Choice(burden, 0.0, rows.probabilities @ rates)

    return follow


def merged(rows: Rows) -> Rows:
    """Return rows of different awake probabilities: whether floors fit depends on nothing else."""
    awake, inverse = np.unique(rows.awake, axis=0, return_inverse=True)
    together: Floats = np.bincount(inverse.ravel(), rows.probabilities).astype(np.float64)
    return rows._replace(probabilities=together, values=np.zeros_like(awake), awake=awake)
