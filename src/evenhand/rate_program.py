"""A linear program over rates: what promises leave, and whether they fit.

The variables are the rates of the arms, ``0 <= x_i <= most_i`` with ``sum x <= plays``; promises
are rows. Other limits on rates are looked for in a solution, and added if it breaks them, until it
breaks none: :meth:`RateProgram.broken` finds them. Arms that never sleep have no others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.arrays import Floats
from evenhand.promise_rows import AT_LEAST, Rows

TIGHT = 1e-10
MOST_TURNS = 20_000
# More than any row of this size can have; HiGHS takes far larger bounds for infinity.
BEYOND = 1e9


class Missing(NamedTuple):
    """By how much rows must be missed together at least, and the multipliers that prove it.

    Each row is divided by its size, so that none is too small to count; ``weights`` are the
    multipliers of the rows as they are.
    """

    total: float
    multipliers: Floats
    weights: Floats


class Limit(NamedTuple):
    """Some arms, and the most that their rates may add up to."""

    arms: NDArray[np.int32]
    most: float


class RateSolution(NamedTuple):
    """The value, the rates, and what a unit of each row costs, at least 0."""

    value: float
    rates: Floats
    prices: Floats


class RateProgram:
    """Rates of arms, of which a play earns ``values``, with limits that are found as needed."""

    def __init__(self, values: Floats, most: Floats, plays: float) -> None:
        self.values, self._most = values, most
        everyone = np.arange(values.size, dtype=np.int32)
        self._limits = [Limit(everyone, plays)]

    def broken(self, rates: Floats) -> Sequence[Limit]:
        """Return limits that rates break; arms that never sleep have none beside the first."""
        return ()

    def missing(self, rows: Rows) -> Missing:
        """Return by how much rows must be missed."""
        solver = self._program(rows)
        for number in range(rows.size):
            solver.addCol(1.0, 0.0, math.inf, 1, [number], [1.0])
        self._run(solver)
        prices = self._prices(solver, rows)
        return Missing(float(solver.getObjectiveValue()), prices * self._sizes(rows), prices)

    def most(self, rows: Rows, weights: Floats) -> float:
        """Return the most of the weighted sum of lower rows that upper rows allow."""
        gains = np.zeros(self.values.size)
        for number, weight in enumerate(weights.tolist()):
            arms, coefficients = rows.entries(number, self.values)
            gains[arms] += weight * coefficients
        solver = self._program(rows.take(rows.sign != AT_LEAST), gains)
        self._run(solver)
        return float(solver.getObjectiveValue())

    def headroom(self, rows: Rows) -> float:
        """Return the largest common multiplier of lower bounds with which all rows fit."""
        lower = (rows.sign == AT_LEAST) & (rows.bound > 0.0)
        if not lower.any():
            return math.inf
        none = np.zeros(self.values.size)
        solver = self._program(rows._replace(bound=np.where(lower, 0.0, rows.bound)), none)
        used = np.flatnonzero(lower).astype(np.int32)
        needs = np.minimum(rows.bound[used] / self._sizes(rows)[used], BEYOND)
        solver.addCol(1.0, 0.0, math.inf, used.size, used, -needs)
        self._run(solver)
        return float(solver.getObjectiveValue())

    def best(self, rows: Rows, penalty: float = 0.0) -> RateSolution | None:
        """Return the best rates that keep all rows; None if there are none.

        With a penalty, rows may be missed at that price.
        """
        solver = self._program(rows, self.values)
        if penalty > 0.0:
            for number in range(rows.size):
                solver.addCol(-penalty, 0.0, math.inf, 1, [number], [1.0])
        if not self._run(solver):
            return None
        rates = np.array(solver.getSolution().col_value)[: self.values.size]
        value = float(solver.getObjectiveValue())
        return RateSolution(value, np.maximum(rates, 0.0), self._prices(solver, rows))

    def _program(self, rows: Rows, gains: Floats | None = None) -> Any:
        """Return the program with all limits found so far; gains are maximised, if there are any.

        Row j of the program is row j of the promises, divided by its largest coefficient:
        ``sign (c . x) >= sign b``.
        """
        highspy, arms = import_module("highspy"), self.values.size
        solver = highspy.Highs()
        solver.silent()
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            solver.setOptionValue(name, TIGHT)
        solver.addVars(arms, np.zeros(arms), self._most)
        if gains is not None:
            solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
            solver.changeColsCost(arms, np.arange(arms, dtype=np.int32), gains)
        bounds = np.minimum(rows.bound / (sizes := self._sizes(rows)), BEYOND)
        for number, sign in enumerate(rows.sign.tolist()):
            used, coefficients = rows.entries(number, self.values)
            own = sign * coefficients / sizes[number]
            solver.addRow(sign * float(bounds[number]), math.inf, used.size, used, own)
        for limit in self._limits:
            _add(solver, limit)
        return solver

    def _run(self, solver: Any) -> bool:
        """Solve, and add limits that the solution breaks, until there are none; False if empty."""
        optimal = import_module("highspy").HighsModelStatus.kOptimal
        for _ in range(MOST_TURNS):
            solver.run()
            if solver.getModelStatus() != optimal:
                return False
            rates = np.array(solver.getSolution().col_value)[: self.values.size]
            broken = self.broken(rates)
            if not broken:
                return True
            for limit in broken:
                _add(solver, limit)
            self._limits += broken
        return False

    def _sizes(self, rows: Rows) -> Floats:
        """Return the largest coefficient of each row; 1 where all are 0."""
        largest = [
            float(rows.entries(j, self.values)[1].max(initial=0.0)) for j in range(rows.size)
        ]
        return np.array([size or 1.0 for size in largest])

    def _prices(self, solver: Any, rows: Rows) -> Floats:
        """Return what a unit of each row costs, whatever sign the solver gives it."""
        duals = np.abs(np.array(solver.getSolution().row_dual)[: rows.size])
        found: Floats = duals / self._sizes(rows)
        return found


def _add(solver: Any, limit: Limit) -> None:
    solver.addRow(-math.inf, limit.most, limit.arms.size, limit.arms, np.ones(limit.arms.size))
