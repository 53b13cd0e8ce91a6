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
from dataclasses import replace
from functools import partial

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.optimum._context_rows import Rows, merged, row_rates
from evenhand.optimum._joint import GAP, PENALTY, Choice, Solution, maximise, widen
from evenhand.optimum._natures import ContextRows, Scores
from evenhand.optimum.promised import Program, Promised, check_kept, solve_promised
from evenhand.optimum.result import Limits, Optimum
from evenhand.optimum.solver import (
    ROUNDING,
    check_awake,
    infeasible,
    kept_floors,
    worst_level,
)
from evenhand.promise_rows import AT_LEAST
from evenhand.promise_rows import Rows as PromisedRows

# The gap of a sample is far below its standard error.
SAMPLE_GAP = 1e-6
FEW_ROWS = 1_000
# By less than this part of the lower bounds a sample may be unable to keep them by chance.
NOISE = 0.02


def solve_rows(rows: Rows, waking: Rows, floors: Floats, arms: tuple[str, ...]) -> Optimum:
    """Return the optimum of possible rounds, or raise the certificate.

    ``waking`` are rows by which it is decided whether floors fit. That depends on awake
    probabilities alone, so they are exact even if ``rows`` are a sample.
    """
    scale = float(rows.values.max(initial=0.0)) or 1.0
    scaled = rows._replace(values=rows.values / scale)
    room, kept, start = _fitting(waking, floors, arms)
    best = _best(scaled, kept, start)
    prices = best.multipliers
    chosen = row_rates(scaled, scaled.values + prices)
    duals = ((scaled.values + prices) * chosen).sum(axis=1) - float(prices @ kept)
    error = 0.0 if rows.exact else float(np.std(duals, ddof=1)) / math.sqrt(len(duals))
    return Optimum(
        arms,
        floors,
        with_floors=best.value * scale,
        without_floors=choose(scaled, np.zeros(floors.size)).value * scale,
        bound=best.bound * scale,
        rates=best.rates,
        prices=prices * scale,
        limits=partial(_limits, room, waking),
        standard_error=error * scale,
    )


def solve_promised_rows(
    rows: Rows, waking: Rows, floors: Floats, promised: PromisedRows, arms: tuple[str, ...]
) -> Optimum:
    """Return the optimum with promises beyond floors, or raise the certificate.

    Of a sample of contexts, promises of plays are checked on ``waking``, which is exact. Lower
    bounds that the sample misses by little are lowered to what it can keep.
    """
    nature = ContextRows(rows)
    if rows.exact:
        return solve_promised(Promised(nature, floors, promised, arms))
    plays = promised.take(~promised.reward)
    check_kept(Promised(ContextRows(waking), floors, plays, arms))
    given = Promised(nature, floors, promised, arms)
    room = Program(nature, given.all_rows).headroom()
    if 1.0 - NOISE < room < 1.0:
        lower = promised.bound * np.where(promised.sign == AT_LEAST, room, 1.0)
        given = given._replace(floors=floors * room, rows=promised._replace(bound=lower))
    best = solve_promised(given, SAMPLE_GAP)
    return replace(best, floors=floors, standard_error=_promised_error(given, best))


def _promised_error(given: Promised, best: Optimum) -> float:
    """Return the standard error of an optimum on a sample: that of its dual value."""
    nature = given.nature
    assert isinstance(nature, ContextRows)
    sides = {one.name: one.price for one in best.promises}
    rows = given.rows
    # The sides of a promise differ in sign alone, so that their prices are one number.
    first = [index for index, name in enumerate(rows.names) if name not in rows.names[:index]]
    prices = np.array([sides[rows.names[index]] for index in first])
    members, reward = rows.members[first], rows.reward[first][:, None]
    offsets = best.prices + prices @ np.where(reward, 0.0, members)
    slopes = prices @ np.where(reward, members, 0.0)
    scores = Scores(offsets, slopes)
    duals = (np.maximum(nature.scores(scores), 0.0) * nature.by_row(scores)).sum(axis=1)
    return float(np.std(duals, ddof=1)) / math.sqrt(len(duals))


def _limits(room: float, waking: Rows) -> Limits:
    own = waking.availability
    common = widen(_priority(waking), own, np.ones(own.size)).value if own.all() else 0.0
    return Limits(room, common)


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
