"""The optimum for any distribution over awake sets: column generation with HiGHS.

The rates that can be achieved are the mixtures of the rates of priority orders (for each awake
set, the m awake arms that come first). So the linear program over all (set, arm) pairs is solved
with one column per priority order that matters: the duals of a small program give the next order,
and the duality gap says when no further one can help. The mixture is the optimal policy itself.

Rows are scaled by how often their arm is awake, so that an arm which seldom is counts like the
others, down to what is lost in the duality gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Masks
from evenhand.errors import EvenhandError
from evenhand.optimum._growing import SMALLEST_ENTRY, GrowingProgram, ProgramSolution

# A gap at which to stop, one that is still accepted as rounding, and the most orders to try.
GAP, ROUNDING_GAP, MOST_STEPS = 1e-11, 1e-8, 20_000
SMOOTHING = 0.7
# What missing a floor costs: prices need never exceed the largest value (along a chain of arms that
# take each other's places values cancel), so a little more than that keeps every floor.
PENALTY = 1.25


class Table(NamedTuple):
    """Different awake sets, one column each (a row an arm), and their probabilities."""

    awake: Masks
    probabilities: Floats
    plays: int

    @property
    def availability(self) -> Floats:
        """How often each arm is awake."""
        rates: Floats = self.awake @ self.probabilities
        return rates


class Solution(NamedTuple):
    """A mixture of priority orders, its rates, and the multipliers that prove it optimal."""

    value: float
    bound: float
    rates: Floats
    multipliers: Floats
    orders: Integers
    weights: Floats


def distinct(members: Masks, probabilities: Floats, plays: int) -> Table:
    """Merge equal sets (one row each) and drop those that never occur."""
    packed = np.packbits(members, axis=1)
    keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    total = np.bincount(inverse.ravel(), weights=probabilities).astype(np.float64)
    used = total > 0.0
    return Table(np.ascontiguousarray(members[first[used]].T), total[used], plays)


def rates_of(table: Table, order: Integers) -> Floats:
    """Return each arm's rate when play follows one priority order.

    >>> table = Table(np.array([[True, False], [True, True]]), np.array([0.5, 0.5]), 1)
    >>> rates_of(table, np.array([0, 1]))
    array([0.5, 0.5])
    """
    rates = np.zeros(order.size)
    left = table.probabilities.copy()
    taken = np.zeros(left.size, dtype=np.int32)
    for i in order:
        awake = table.awake[i]
        rates[i] = awake @ left
        taken += awake
        left *= taken < table.plays
    return rates


class Growth(NamedTuple):
    """A program over mixtures that grows by the rates of orders.

    ``solve``, from the last basis or afresh, returns its optimum, the mixture's weights and its
    multipliers. By any multipliers y no mixture can exceed ``d . x - c``, maximised over all rates
    x, where ``bounding(y)`` is (d, c), which is affine in y.
    """

    add: Callable[[Floats], None]
    solve: Callable[[bool], ProgramSolution]
    bounding: Callable[[Floats], tuple[Floats, float]]


def best_mixture(table: Table, values: Floats, floors: Floats, start: Integers) -> Solution:
    """Maximise ``values . x`` over the rates x with ``x >= floors``, which are feasible.

    ``start`` holds orders to begin with. The multipliers are the floors' prices.
    """
    scale = float(values.max()) or 1.0
    scaled, own = values / scale, table.availability
    bound = np.flatnonzero(floors > 0.0)
    program = GrowingProgram(floors[bound] / own[bound])
    for row, often in zip(np.eye(bound.size), own[bound], strict=True):
        program.add(-PENALTY * float(often), row, 0.0)

    def add(rates: Floats) -> None:
        program.add(float(scaled @ rates), rates[bound] / own[bound], 1.0)

    def solve(afresh: bool) -> ProgramSolution:
        value, weights, duals = program.solve(afresh=afresh)
        prices = np.zeros(values.size)
        prices[bound] = duals / own[bound]
        return ProgramSolution(value, weights[bound.size :], prices)

    def bounding(prices: Floats) -> tuple[Floats, float]:
        return scaled + prices, float(prices @ floors)

    found = _grow(table, start, Growth(add, solve, bounding))
    return found._replace(
        value=float(values @ found.rates),
        bound=found.bound * scale,
        multipliers=found.multipliers * scale,
    )


def widest_mixture(table: Table, floors: Floats) -> Solution:
    """Maximise the common multiplier of the floors, not all zero; its value is the headroom.

    The multipliers are weights on the arms for which no rates could do better. Arms with a floor
    are awake at times.
    """
    own = table.availability
    shares = np.divide(floors, own, out=np.zeros(floors.size), where=floors > 0.0)
    scale = float(shares.max())
    bound = np.flatnonzero(shares > SMALLEST_ENTRY * scale)
    program = GrowingProgram(np.zeros(bound.size))
    program.add(1.0, -shares[bound] / scale, 0.0)

    def add(rates: Floats) -> None:
        program.add(0.0, rates[bound] / own[bound], 1.0)

    def solve(afresh: bool) -> ProgramSolution:
        value, weights, duals = program.solve(afresh=afresh)
        burden = np.zeros(floors.size)
        burden[bound] = duals / own[bound]
        return ProgramSolution(value / scale, weights[1:], burden / (burden @ floors))

    def bounding(burden: Floats) -> tuple[Floats, float]:
        return burden, 0.0

    start = np.argsort(-shares, kind="stable")[None, :]
    return _grow(table, start, Growth(add, solve, bounding))


class Orders:
    """The priority orders of a growing program, each of them once, with their rates."""

    def __init__(self, growth: Growth) -> None:
        self._growth = growth
        self._rates: dict[bytes, Floats] = {}
        self._orders: list[Integers] = []

    def add(self, order: Integers, rates: Floats) -> bool:
        """Add an order, unless it is there; say whether it was new."""
        new = order.tobytes() not in self._rates
        if new:
            self._rates[order.tobytes()] = rates
            self._orders.append(order)
            self._growth.add(rates)
        return new

    def mixed(self, weights: Floats) -> tuple[Floats, Integers, Floats]:
        """Return the rates of a mixture, the orders that it has, and their shares."""
        used = np.flatnonzero(weights > 0.0)
        shares: Floats = weights[used] / weights[used].sum()
        rates: Floats = shares @ np.array(list(self._rates.values()))[used]
        return rates, np.array(self._orders)[used], shares


def _grow(table: Table, start: Integers, growth: Growth) -> Solution:
    """Add priority orders until the duality gap closes.

    The next order is looked for between the program's multipliers and the best ones so far: those
    of the program swing, and alone they take almost twice as many steps (Wentges 1997).
    """
    orders = Orders(growth)
    for order in start:
        orders.add(order, rates_of(table, order))
    value, bound, best = 0.0, math.inf, np.empty(0)
    stuck, steps = 0, 0
    while stuck < 2 and bound - value > GAP * (1.0 + abs(value)) and steps < MOST_STEPS:
        steps += 1
        # A warm start may miss a column that helps; a cold start finds it.
        value, weights, multipliers = growth.solve(stuck > 0)
        stuck += 1
        between = [SMOOTHING * best + (1.0 - SMOOTHING) * multipliers] if best.size else []
        for point in (*between, multipliers):
            direction, offset = growth.bounding(point)
            order = np.argsort(-direction, kind="stable")
            rates = rates_of(table, order)
            limit = float(direction @ rates) - offset
            if limit < bound:
                bound, best = limit, point
            if orders.add(order, rates):
                stuck = 0
                break
    if bound - value > ROUNDING_GAP * (1.0 + abs(value)):
        raise EvenhandError(
            f"the optimum of the table of awake sets could not be found: {value:.12g} can be had, "
            f"but the most is proved to be {bound:.12g} only, after {steps:,} steps"
        )
    rates, kept, shares = orders.mixed(weights)
    return Solution(value, bound, rates, best, kept, shares)
