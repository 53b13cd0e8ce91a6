r"""The optimum with any promises: column generation, whatever the availability and the contexts.

Rows j (:mod:`evenhand.promise_rows`) ask for :math:`s_j \sum_i c_{ji} x_i \ge s_j b_j`. For
multipliers :math:`\lambda \ge 0` the program separates by round: the best m awake arms by
:math:`r_i + \sum_j s_j \lambda_j c_{ji}` are played, none below 0. So a column is what some
multipliers choose, a small program mixes columns, and its multipliers are the next ones; the
duality gap says when no further column can help. The mixture is the optimal policy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.conflicts import TOLERANCE, conflict
from evenhand.core.arrays import Floats
from evenhand.optimum._growing import SMALLEST_ENTRY, GrowingProgram, ProgramSolution
from evenhand.optimum._joint import GAP, Choice, Growth, Solution, grow
from evenhand.optimum._natures import Nature, Scores
from evenhand.optimum.result import Optimum, limits_of, promise_figures
from evenhand.promise_rows import AT_LEAST, Rows, floor_rows, joined
from evenhand.rate_program import BEYOND, Missing

# What missing a row by its own size costs at first, in parts of the largest value, how much more if
# that was too little, and how often it may be.
PENALTY, DEARER, ATTEMPTS = 1e3, 1e2, 3
MISSED = 1e-9


class Outcome(NamedTuple):
    """The best mixture that keeps all rows, and what proves it.

    ``delivered`` is what each row has of plays or reward, ``prices`` are the rows' multipliers.
    """

    value: float
    bound: float
    rates: Floats
    delivered: Floats
    prices: Floats
    choices: NDArray[Any]
    weights: Floats


class Objective(NamedTuple):
    """What is maximised: so much of the reward, and fixed multipliers of what the rows have."""

    worth: float
    fixed: Floats

    def gain(self, choice: Choice) -> float:
        """Return what a choice is worth."""
        return self.worth * choice.value + float(self.fixed @ choice.entries)


class Program:
    """Mixtures of what multipliers of rows choose in a nature.

    Multipliers are kept in parts: row j is divided by the most that it could have, ``size``.
    """

    def __init__(self, nature: Nature, rows: Rows) -> None:
        self._nature, self._rows = nature, rows
        coefficients = np.where(rows.reward[:, None], nature.typical, 1.0) * rows.members
        sizes = coefficients @ nature.own
        self._size = np.where(sizes > 0.0, sizes, 1.0)
        self._least = rows.sign * rows.bound / self._size
        self._none = np.zeros(rows.size)
        self._plays_rows = rows.sign[:, None] * np.where(rows.reward[:, None], 0.0, rows.members)
        self._reward_rows = rows.sign[:, None] * np.where(rows.reward[:, None], rows.members, 0.0)

    def scores(self, multipliers: Floats, worth: float) -> Scores:
        """Return what multipliers of the rows add to plays and reward of every arm."""
        own = multipliers / self._size
        return Scores(own @ self._plays_rows, own @ self._reward_rows, worth)

    def choose(self, multipliers: Floats, worth: float) -> Choice:
        """Return what multipliers choose; ``entries`` are what the rows have of it, signed."""
        followed = self._nature.follow(self.scores(multipliers, worth))
        how, rates, earned = followed
        return self.again(Choice(how, float(earned.sum()), rates, earned=earned))

    def again(self, choice: Choice) -> Choice:
        """Return a choice of the same nature with what these rows have of it."""
        had = self._plays_rows @ choice.rates + self._reward_rows @ choice.earned
        return choice._replace(entries=had / self._size)

    def nothing(self) -> Choice:
        """Return the choice that plays nobody."""
        arms = self._nature.own.size
        nobody = Scores(np.full(arms, -1.0), np.zeros(arms), 0.0)
        how = self._nature.follow(nobody).how
        return self.again(Choice(how, 0.0, np.zeros(arms), earned=np.zeros(arms)))

    def least_missing(self) -> tuple[Missing, tuple[Choice, ...]]:
        """Return by how much the rows must be missed, and choices that miss them no more."""
        least, penalties = np.minimum(self._least, BEYOND), np.ones(self._size.size)
        found = self._solve([self.nothing()], Objective(0.0, self._none), least, penalties)
        own = found.multipliers
        return Missing(max(-found.value, 0.0), own, own / self._size), found.used

    def most(self, weights: Floats) -> float:
        """Return the most that the rows can have by these weights while upper rows are kept."""
        least = np.where(self._rows.sign == AT_LEAST, -math.inf, self._least)
        objective = Objective(0.0, weights * self._size)
        penalties = np.full(self._size.size, PENALTY * float(objective.fixed.max()))
        return self._solve([self.nothing()], objective, least, penalties).value

    def best(self, begin: Sequence[Choice], gap: float = GAP) -> Outcome:
        """Return the best mixture that keeps the rows, which are feasible; values are 1 at most."""
        start = [self.nothing(), self.choose(self._none, 1.0), *begin]
        objective, penalty = Objective(1.0, self._none), PENALTY
        for _ in range(ATTEMPTS):
            penalties = np.full(self._size.size, penalty)
            found = self._solve(start, objective, self._least, penalties, gap)
            missed = np.maximum(self._least - found.entries, 0.0)
            if missed.max(initial=0.0) <= MISSED:
                break
            start, penalty = [*start, *found.used], penalty * DEARER
        return Outcome(
            float(found.weights @ [choice.value for choice in found.used]),
            found.bound,
            found.rates,
            found.entries * self._size * self._rows.sign,
            found.multipliers / self._size,
            found.choices,
            found.weights,
        )

    def headroom(self) -> float:
        """Return the largest common multiplier of lower bounds with which all rows fit."""
        lower = (self._rows.sign == AT_LEAST) & (self._rows.bound > 0.0)
        if not lower.any():
            return math.inf
        needs = np.where(lower, self._least, 0.0)
        unit = float(needs.max())
        program = GrowingProgram(np.where(lower, 0.0, self._least))
        program.add(1.0, -np.where(needs > SMALLEST_ENTRY * unit, needs / unit, 0.0), 0.0)
        upper = self._least * (self._rows.sign != AT_LEAST)

        def add(choice: Choice) -> None:
            program.add(0.0, choice.entries, 1.0)

        def solve(afresh: bool) -> ProgramSolution:
            value, weights, duals = program.solve(afresh=afresh)
            asked = float(duals @ needs)
            return ProgramSolution(value / unit, weights[1:], duals / asked if asked else duals)

        def limit(burden: Floats, choice: Choice) -> float:
            return float(burden @ (choice.entries - upper)) if burden @ needs else math.inf

        def choose(burden: Floats) -> Choice:
            return self.choose(burden, 0.0)

        begin = [self.nothing(), choose(np.where(lower, 1.0, 0.0))]
        return grow(begin, Growth(choose, add, solve, limit), GAP).value

    def _solve(
        self,
        begin: Sequence[Choice],
        objective: Objective,
        least: Floats,
        penalties: Floats,
        gap: float = GAP,
    ) -> Solution:
        """Maximise an objective, minus a penalty for what rows lack of their least."""
        program, count = GrowingProgram(least), self._rows.size
        asked = np.where(np.isfinite(least), least, 0.0)
        for row, penalty in zip(np.eye(count), penalties.tolist(), strict=True):
            program.add(-penalty, row, 0.0)

        def add(choice: Choice) -> None:
            program.add(objective.gain(choice), choice.entries, 1.0)

        def solve(afresh: bool) -> ProgramSolution:
            value, weights, duals = program.solve(afresh=afresh)
            return ProgramSolution(value, weights[count:], duals)

        def limit(multipliers: Floats, choice: Choice) -> float:
            return objective.gain(choice) + float(multipliers @ (choice.entries - asked))

        def choose(multipliers: Floats) -> Choice:
            return self.choose(objective.fixed + multipliers, objective.worth)

        return grow(begin, Growth(choose, add, solve, limit), gap)


class AchievableIn:
    """What can be achieved in a nature, for the search for a conflict."""

    def __init__(self, nature: Nature) -> None:
        self._nature = nature

    def missing(self, rows: Rows) -> Missing:
        """Return by how much rows must be missed."""
        return Program(self._nature, rows).least_missing()[0]

    def most(self, rows: Rows, weights: Floats) -> float:
        """Return the most of the weighted sum of lower rows that upper rows allow."""
        return Program(self._nature, rows).most(weights)

    def headroom(self, rows: Rows) -> float:
        """Return the largest common multiplier of lower bounds with which all rows fit."""
        return Program(self._nature, rows).headroom()


class Promised(NamedTuple):
    """A nature, what was promised in it, and whose."""

    nature: Nature
    floors: Floats
    rows: Rows
    arms: tuple[str, ...]

    @property
    def all_rows(self) -> Rows:
        """The rows of floors, then the others."""
        return joined(floor_rows(self.arms, self.floors), self.rows)


def check_kept(given: Promised) -> tuple[Choice, ...]:
    """Return choices that keep all promises between them, or raise the certificate."""
    missing, begin = Program(given.nature, given.all_rows).least_missing()
    if missing.total > TOLERANCE:
        error = conflict(given.all_rows, given.arms, AchievableIn(given.nature))
        if error is not None:
            raise error
    return begin


def best_promised(given: Promised, gap: float = GAP) -> Outcome:
    """Return the best mixture that keeps all promises, or raise the certificate."""
    begin, scale = check_kept(given), given.nature.scale
    rows = given.all_rows
    bounds = np.where(rows.reward, rows.bound / scale, rows.bound)
    program = Program(given.nature.scaled(scale), rows._replace(bound=bounds))
    parts = [c._replace(value=c.value / scale, earned=c.earned / scale) for c in begin]
    found = program.best([program.again(choice) for choice in parts], gap)
    units = np.where(rows.reward, scale, 1.0)
    return found._replace(
        value=found.value * scale,
        bound=found.bound * scale,
        delivered=found.delivered * units,
        prices=found.prices * scale / units,
    )


def solve_promised(given: Promised, gap: float = GAP) -> Optimum:
    """Return the optimum with all promises, or raise the certificate."""
    best, arms = best_promised(given, gap), len(given.arms)
    floors = given.floors > 0.0
    prices = np.zeros(arms)
    prices[floors] = best.prices[: floors.sum()]
    free = given.nature.follow(Scores(np.zeros(arms), np.zeros(arms)))
    own = slice(int(floors.sum()), None)
    return Optimum(
        given.arms,
        given.floors,
        with_floors=best.value,
        without_floors=float(free.earned.sum()),
        bound=best.bound,
        rates=best.rates,
        prices=prices,
        limits=partial(limits_of, AchievableIn(given.nature), given.arms, given.floors, given.rows),
        promises=promise_figures(given.rows, best.delivered[own], best.prices[own]),
    )
