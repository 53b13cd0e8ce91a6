"""A linear program that grows by columns: HiGHS restarts from its last basis."""

from __future__ import annotations

import math
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.errors import EvenhandError

# Strategies of HiGHS. Columns that are added leave a basis feasible for the primal simplex.
DUAL, PRIMAL = 1, 4
ATTEMPTS = ((PRIMAL, 1e-10), (DUAL, 1e-10), (DUAL, 1e-9), (DUAL, 1e-7))
# HiGHS takes smaller entries for zero.
SMALLEST_ENTRY = 1e-9
MOST_PIVOTS = 1_000_000


class ProgramSolution(NamedTuple):
    """The optimum, the columns' weights, and what a unit of each row costs (at least 0)."""

    value: float
    weights: Floats
    duals: Floats


class GrowingProgram:
    """Maximise ``gains . w`` over ``w >= 0`` with ``A w >= lower`` and one last row ``= 1``.

    >>> program = GrowingProgram(np.array([0.25]))
    >>> program.add(1.0, np.array([0.0]), 1.0)
    >>> program.add(0.0, np.array([1.0]), 1.0)
    >>> program.solve().weights.tolist()
    [0.75, 0.25]
    """

    def __init__(self, lower: Floats) -> None:
        self._highs = _new_solver()
        self._highs.changeObjectiveSense(_highspy().ObjSense.kMaximize)
        for least in lower.tolist():
            self._highs.addRow(least, math.inf, 0, [], [])
        self._highs.addRow(1.0, 1.0, 0, [], [])
        self._rows = lower.size
        self._indices = np.arange(lower.size + 1, dtype=np.int32)

    def add(self, gain: float, entries: Floats, share: float) -> None:
        """Add a column; ``share`` is its entry in the last row."""
        values = np.append(entries, share)
        used = np.flatnonzero(np.abs(values) > SMALLEST_ENTRY)
        self._highs.addCol(gain, 0.0, math.inf, used.size, self._indices[used], values[used])

    def solve(self, *, afresh: bool = False) -> ProgramSolution:
        """Return the optimum over the present columns, from the last basis or afresh.

        Where rounding keeps HiGHS from closing, it starts afresh in another way, at last with wider
        tolerances; the caller measures what is left of a gap.
        """
        if afresh:
            self._start_afresh()
        for strategy, tolerance in ATTEMPTS[1:] if afresh else ATTEMPTS:
            self._highs.setOptionValue("simplex_strategy", strategy)
            self._highs.setOptionValue("primal_feasibility_tolerance", tolerance)
            self._highs.setOptionValue("dual_feasibility_tolerance", tolerance)
            self._highs.run()
            status = self._highs.getModelStatus()
            if status == _highspy().HighsModelStatus.kOptimal:
                return self._solution()
            self._start_afresh()
        reason = self._highs.modelStatusToString(status)
        raise EvenhandError(f"HiGHS could not solve the program of the optimum: {reason}")

    def _start_afresh(self) -> None:
        program, self._highs = self._highs.getLp(), _new_solver()
        self._highs.passModel(program)

    def _solution(self) -> ProgramSolution:
        solution = self._highs.getSolution()
        return ProgramSolution(
            float(self._highs.getObjectiveValue()),
            np.maximum(solution.col_value, 0.0),
            np.maximum(-np.array(solution.row_dual)[: self._rows], 0.0),
        )


@cache
def _highspy() -> Any:
    """Load HiGHS when a table has to be solved: most programs never do."""
    return import_module("highspy")


def _new_solver() -> Any:
    solver = _highspy().Highs()
    solver.silent()
    solver.setOptionValue("simplex_iteration_limit", MOST_PIVOTS)
    return solver
