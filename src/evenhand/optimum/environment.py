"""What every regret is measured against: the optimum of an environment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import fail
from evenhand.environment import Environment
from evenhand.errors import InfeasibleFloors, InputError
from evenhand.optimum.solver import Optimum, solve


def find_optimum(environment: Environment) -> Optimum:
    """Return the exact optimum of an environment, with prices, rates and headroom.

    Independent availability takes O(N m log N); a joint table, and the sets that a trace holds, a
    linear program. The same on plain arrays is :func:`evenhand.optimum.solver`.

    Raises
    ------
    InfeasibleFloors
        If no policy could keep the floors, with the certificate.

    Examples
    --------
    Setting 2 of the paper:

    >>> from evenhand import Environment, Problem
    >>> problem = Problem(6, plays=3, floors=[0.4, 0.45, 0.3, 0.45, 0.3, 0.4])
    >>> best = find_optimum(Environment(
    ...     problem,
    ...     means=[0.52, 0.51, 0.49, 0.48, 0.7, 0.8],
    ...     availability=[0.7, 0.6, 0.7, 0.8, 0.7, 0.6],
    ... ))
    >>> round(best.with_floors, 8), round(best.without_floors, 8)
    (1.77281712, 1.78390728)
    >>> best.prices.round(6)
    array([0.  , 0.01, 0.03, 0.04, 0.  , 0.  ])
    """
    if not isinstance(environment, Environment):
        rule = "an Environment: the optimum depends on means and availability"
        fail("environment", rule, environment)
    if environment.changes:
        raise InputError("an environment that changes has an optimum for each of its segments only")
    problem = environment.problem
    values = environment.payoffs.values
    return solve(values, problem.floors, problem.plays, environment.awake, problem.arms)


class Best(NamedTuple):
    """Opt-F, or None if the floors are infeasible, and Opt-NF: rewards per round."""

    with_floors: float | None
    without_floors: float


def find_best(environment: Environment) -> Best:
    """Return what regret is measured against, also where no policy could keep the floors."""
    try:
        best = find_optimum(environment)
    except InfeasibleFloors:
        values, plays = environment.payoffs.values, environment.problem.plays
        free = solve(values, np.zeros(values.size), plays, environment.awake)
        return Best(None, free.without_floors)
    return Best(best.with_floors, best.without_floors)


def best_up_to(environment: Environment, rounds: Integers) -> tuple[Best, Floats | None]:
    """Return the best per round over all rounds, and with floors up to each of some rounds.

    In a world that changes, that is the optimum of every segment for as long as it lasts, with
    the floors kept in each of them.
    """
    lasting = environment.segments(int(rounds[-1]))
    found = [find_best(nature) for _, nature in lasting]
    lengths = np.array([length for length, _ in lasting], dtype=np.float64)
    free = float(lengths @ [best.without_floors for best in found]) / lengths.sum()
    if len(found) == 1:
        return found[0], None
    if any(best.with_floors is None for best in found):
        return Best(None, free), None
    ends, starts = np.cumsum(lengths), np.cumsum(lengths) - lengths
    spent = np.clip(rounds[:, None], starts, ends) - starts
    optima = spent @ np.array([best.with_floors for best in found]) / rounds
    return Best(float(optima[-1]), free), optima
