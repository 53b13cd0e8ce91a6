"""The exact optimum on plain arrays, whatever the availability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.jit import LARGE, Maker, maker
from evenhand.core.nature import Awake
from evenhand.errors import Certificate, InfeasibleFloors
from evenhand.optimum._joint import Table, best_mixture, distinct, rates_of, widest_mixture
from evenhand.optimum._natures import nature_of
from evenhand.optimum.feasibility import headroom, worst_prefix
from evenhand.optimum.independent import descending, solve_independent, unbound_value
from evenhand.optimum.mixture import Block, Mixture, as_mixture, independent_blocks
from evenhand.optimum.promised import Outcome, Promised, best_promised, solve_promised
from evenhand.optimum.rates import solve_rates
from evenhand.optimum.result import Limits, Optimum
from evenhand.promise_rows import Rows

ROUNDING = 1e-10


def solve(
    values: Floats,
    floors: Floats,
    plays: int,
    awake: Awake,
    arms: Sequence[str] | None = None,
    *,
    compiled: bool | None = None,
    rows: Rows | None = None,
) -> Optimum:
    """Return the optimum for given values ``w_i u_i``, floors, plays and availability.

    Independent arms are solved by machine code if there are many of them, or if ``compiled`` says
    so; the bits are the same. ``rows`` are what is promised beyond floors.

    Raises
    ------
    InfeasiblePromises
        With the certificate; the arms are called by name, or by number if none are given.

    Examples
    --------
    Setting 1 of the paper:

    >>> awake = Awake(probabilities=np.array([0.9, 0.8, 0.7]))
    >>> values, floors = np.array([0.4, 0.5, 0.7]), np.array([0.5, 0.6, 0.4])
    >>> best = solve(values, floors, 2, awake)
    >>> round(best.with_floors, 6), round(best.without_floors, 6)
    (1.038, 1.0484)
    """
    plays, labels = min(plays, values.size), _labels(values.size, arms)
    if rows is not None and rows.size:
        if awake.probabilities.size:
            return solve_rates(values, floors, plays, awake.probabilities, labels, rows)
        return solve_promised(Promised(nature_of(values, awake, plays), floors, rows, labels))
    if awake.probabilities.size:
        if compiled is None:
            compiled = values.size > LARGE
        return _solve_independent(values, floors, plays, awake.probabilities, labels, compiled)
    table = distinct(awake.members, awake.set_probabilities, plays)
    return _solve_joint(values, floors, table, labels)


def solve_mixture(
    values: Floats, floors: Floats, plays: int, awake: Awake, arms: Sequence[str] | None = None
) -> Mixture:
    """Return the optimal policy as a mixture of priority orders; see :func:`solve`."""
    plays, labels = min(plays, values.size), _labels(values.size, arms)
    if awake.probabilities.size:
        made = maker(values.size > LARGE)
        kept = _fitting(floors, plays, awake.probabilities, labels, made)[1]
        solver = made(solve_independent)
        rates, _, _, entry = solver(values, kept, awake.probabilities, plays)
        return as_mixture(independent_blocks(rates, entry, awake.probabilities, plays))
    table = distinct(awake.members, awake.set_probabilities, plays)
    start = _start(table, floors, labels)
    solution = best_mixture(table, values, start.kept, start.orders)
    return as_mixture([Block(np.arange(values.size), solution.choices, solution.weights)])


def solve_orders(
    values: Floats, floors: Floats, plays: int, awake: Awake, arms: Sequence[str], rows: Rows
) -> Outcome:
    """Return the optimal policy with any promises: orders of arms, ended by -1, and weights."""
    nature = nature_of(values, awake, min(plays, values.size))
    return best_promised(Promised(nature, floors, rows, tuple(arms)))


def _labels(count: int, arms: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(str(1 + i) for i in range(count)) if arms is None else tuple(arms)


def check_awake(floors: Floats, own: Floats, arms: tuple[str, ...]) -> None:
    """Refuse a floor, whatever its size, on an arm that never wakes."""
    asleep = np.flatnonzero((floors > 0.0) & (own == 0.0))
    if asleep.size:
        raise infeasible(asleep, floors[asleep].sum(), 0.0, 0.0, floors, own, arms)


def kept_floors(floors: Floats, room: float) -> Floats:
    """Return floors that rounding has put a hair above the boundary as those on it."""
    return floors * min(room, 1.0)


def _fitting(
    floors: Floats, plays: int, probabilities: Floats, arms: tuple[str, ...], made: Maker
) -> tuple[float, Floats]:
    """Return the headroom and the floors on or inside the boundary, or raise the certificate."""
    room = check_fitting(floors, plays, probabilities, arms, made(headroom))
    return room, kept_floors(floors, room)


def check_fitting(
    floors: Floats,
    plays: int,
    probabilities: Floats,
    arms: tuple[str, ...],
    limit: Callable[..., float] = headroom,
) -> float:
    """Return the headroom of floors that can all be kept, or raise the certificate.

    >>> check_fitting(np.array([0.25, 0.2]), 1, np.array([0.5, 0.8]), ("a", "b"))
    2.0
    """
    check_awake(floors, probabilities, arms)
    room = float(limit(floors, probabilities, plays))
    if room < 1.0 - ROUNDING:
        members, (promised, possible) = worst_prefix(floors, probabilities, plays)
        raise infeasible(members, promised, possible, room, floors, probabilities, arms)
    return room


def _solve_independent(
    values: Floats,
    floors: Floats,
    plays: int,
    probabilities: Floats,
    arms: tuple[str, ...],
    compiled: bool,
) -> Optimum:
    made = maker(compiled)
    room, kept = _fitting(floors, plays, probabilities, arms, made)
    free, solver = made(unbound_value), made(solve_independent)
    rates, prices, bound, _ = solver(values, kept, probabilities, plays)
    return Optimum(
        arms,
        floors,
        with_floors=float(values @ rates),
        without_floors=float(free(values, probabilities, plays)),
        bound=float(bound),
        rates=rates,
        prices=prices,
        limits=partial(_independent_limits, room, probabilities, plays, compiled),
    )


def _independent_limits(room: float, probabilities: Floats, plays: int, compiled: bool) -> Limits:
    every = maker(compiled)(headroom)(np.ones(probabilities.size), probabilities, plays)
    return Limits(room, float(every))


class Start(NamedTuple):
    """What is known of a table before any value counts."""

    room: float
    kept: Floats
    orders: Integers


def _start(table: Table, floors: Floats, arms: tuple[str, ...]) -> Start:
    """Return the headroom, the floors on or inside the boundary, and orders that keep them.

    Floors that do not fit raise their certificate.
    """
    if not floors.any():
        return Start(np.inf, floors, np.arange(floors.size)[None, :])
    own = table.availability
    check_awake(floors, own, arms)
    widest = widest_mixture(table, floors)
    if widest.value < 1.0 - ROUNDING:
        order = descending(widest.multipliers)
        worst = worst_level(floors, order, rates_of(table, order))
        raise infeasible(*worst, widest.value, floors, own, arms)
    return Start(widest.value, kept_floors(floors, widest.value), widest.choices)


def _solve_joint(values: Floats, floors: Floats, table: Table, arms: tuple[str, ...]) -> Optimum:
    start = _start(table, floors, arms)
    best = best_mixture(table, values, start.kept, start.orders)
    return Optimum(
        arms,
        floors,
        with_floors=best.value,
        without_floors=float(values @ rates_of(table, descending(values))),
        bound=best.bound,
        rates=best.rates,
        prices=best.multipliers,
        limits=partial(_table_limits, start.room, table),
    )


def _table_limits(room: float, table: Table) -> Limits:
    """Return the largest floor that all arms could have, 0 if one of them never wakes."""
    own = table.availability
    return Limits(room, widest_mixture(table, np.ones(own.size)).value if own.all() else 0.0)


def worst_level(floors: Floats, order: Integers, rates: Floats) -> tuple[Integers, float, float]:
    """Return the first arms of an order whose promise exceeds most what they can be given.

    ``rates`` are those of the order; the arms together cannot be given more.
    """
    possible, promised = np.cumsum(rates[order]), np.cumsum(floors[order])
    end = int(np.argmax(promised - possible))
    return np.sort(order[: end + 1]), promised[end], possible[end]


def infeasible(
    members: Integers,
    promised: float,
    possible: float,
    room: float,
    floors: Floats,
    own: Floats,
    arms: tuple[str, ...],
) -> InfeasibleFloors:
    """Return the error that says which arms are promised too much, and by how much."""
    certificate = Certificate(tuple(arms[i] for i in members), float(promised), float(possible))
    high = np.flatnonzero(floors > own + ROUNDING)
    too_high = [(arms[i], float(floors[i]), float(own[i])) for i in high]
    return InfeasibleFloors(certificate, float(room), too_high)
