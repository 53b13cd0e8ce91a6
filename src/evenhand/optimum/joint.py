"""The optimum for any distribution over awake sets: column generation with HiGHS.

The rates that can be achieved are the mixtures of the rates of priority orders (for each awake
set, the m awake arms that come first). So the linear program over all (set, arm) pairs is solved
with one column per priority order that matters: the duals of a small program give the next order,
and the duality gap says when no further one can help. The mixture is the optimal policy itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from evenhand.arrays import Floats, Integers, Masks
from evenhand.errors import EvenhandError

GAP = 1e-11
SMALLEST = 1e-8
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Table(NamedTuple):
    """Different awake sets, one row each, and their probabilities."""

    members: Masks
    chances: Floats
    plays: int


class Solution(NamedTuple):
    """A mixture of priority orders, its rates, and the multipliers that prove it optimal."""

    value: float
    bound: float
    rates: Floats
    multipliers: Floats
    orders: Integers
    weights: Floats


def distinct(members: Masks, chances: Floats, plays: int) -> Table:
    """Merge equal sets and drop those that never occur."""
    rows, inverse = np.unique(members, axis=0, return_inverse=True)
    total: Floats = np.zeros(len(rows))
    np.add.at(total, inverse.ravel(), chances)
    return Table(rows[total > 0.0], total[total > 0.0], plays)


def rates_of(table: Table, order: Integers) -> Floats:
    """Return each arm's rate when play follows one priority order.

    >>> table = Table(np.array([[True, True], [False, True]]), np.array([0.5, 0.5]), 1)
    >>> rates_of(table, np.array([0, 1]))
    array([0.5, 0.5])
    """
    awake = table.members[:, order]
    played = awake & (np.cumsum(awake, axis=1, dtype=np.int32) <= table.plays)
    rates = np.empty(order.size)
    rates[order] = table.chances @ played
    return rates


class Step(NamedTuple):
    """What a program over the present columns says: its value, and where to look for more.

    No mixture can exceed ``direction . x - offset``, maximised over all rates x.
    """

    value: float
    weights: Floats
    multipliers: Floats
    direction: Floats
    offset: float


def best_mixture(table: Table, values: Floats, floors: Floats, start: Integers) -> Solution:
    """Maximise ``values . x`` over the rates x with ``x >= floors``, which are feasible.

    ``start`` holds orders whose mixtures keep the floors. The multipliers are the floors' prices.
    """
    scale = float(values.max()) or 1.0
    scaled = values / scale

    def program(columns: Floats) -> Step:
        solved = linprog(
            -(columns @ scaled),
            A_ub=-columns.T,
            b_ub=-floors,
            A_eq=np.ones((1, len(columns))),
            b_eq=[1.0],
            method="highs",
            options=EXACT,
        )
        _check(solved)
        prices = np.maximum(-solved.ineqlin.marginals, 0.0)
        return Step(-solved.fun, solved.x, prices, scaled + prices, float(prices @ floors))

    found = _grow(table, list(start), program)
    return found._replace(
        value=found.value * scale,
        bound=found.bound * scale,
        multipliers=found.multipliers * scale,
    )


def widest_mixture(table: Table, floors: Floats) -> Solution:
    """Maximise the common multiplier of the floors, not all zero; its value is the headroom.

    The multipliers are weights on the arms for which no rates could do better.
    """
    scale = float(floors.max())
    scaled = np.where(floors > SMALLEST * scale, floors / scale, 0.0)

    def program(columns: Floats) -> Step:
        solved = linprog(
            np.append(np.zeros(len(columns)), -1.0),
            A_ub=np.column_stack([-columns.T, scaled]),
            b_ub=np.zeros(floors.size),
            A_eq=np.append(np.ones(len(columns)), 0.0)[None, :],
            b_eq=[1.0],
            method="highs",
            options=EXACT,
        )
        _check(solved)
        burden = np.maximum(-solved.ineqlin.marginals, 0.0)
        burden /= burden @ scaled
        return Step(-solved.fun, solved.x[:-1], burden, burden, 0.0)

    found = _grow(table, [np.argsort(-floors, kind="stable")], program)
    return found._replace(value=found.value / scale, bound=found.bound / scale)


def _check(solved: Any) -> None:
    if solved.status != 0:
        raise EvenhandError(f"HiGHS could not solve the program of the optimum: {solved.message}")


def _grow(table: Table, orders: list[Integers], program: Callable[[Floats], Step]) -> Solution:
    """Add priority orders until the duality gap closes."""
    columns = [rates_of(table, order) for order in orders]
    seen = {order.tobytes() for order in orders}
    while True:
        step = program(np.array(columns))
        order = np.argsort(-step.direction, kind="stable")
        column = rates_of(table, order)
        bound = float(step.direction @ column) - step.offset
        closed = bound - step.value <= GAP * (1.0 + abs(step.value))
        if closed or order.tobytes() in seen:
            break
        seen.add(order.tobytes())
        orders.append(order)
        columns.append(column)
    used = np.flatnonzero(step.weights > 0.0)
    weights = step.weights[used] / step.weights[used].sum()
    rates = weights @ np.array(columns)[used]
    return Solution(
        float(step.value), bound, rates, step.multipliers, np.array(orders)[used], weights
    )
