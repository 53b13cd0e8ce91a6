"""What every regret is measured against: the optimum of an environment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand.availability import Trace
from evenhand.contexts import RecordedContexts
from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import fail
from evenhand.environment import Environment
from evenhand.errors import InfeasibleFloors, InputError
from evenhand.optimum.contextual import Rows, cross, solve_rows
from evenhand.optimum.solver import Optimum, solve
from evenhand.responses import means_in


def find_optimum(environment: Environment) -> Optimum:
    """Return the exact optimum of an environment, with prices, rates and headroom.

    Independent availability takes O(N m log N); a joint table, and the sets that a trace holds, a
    linear program. The same on plain arrays is :func:`evenhand.optimum.solver`.

    With contexts it is exact for few combinations of categories, and for recorded contexts. For
    others it is that of a sample of contexts, of the size that the environment's contexts name, and
    ``standard_error`` says how far off that is. Where rewards are recorded with contexts, it is
    the best in hindsight: it knows every reward.

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
    return _solve(environment, environment.problem.floors)


def _solve(environment: Environment, floors: Floats) -> Optimum:
    problem, plays = environment.problem, environment.problem.plays
    if environment.contexts is not None:
        return solve_rows(rows_of(environment), floors, problem.arms)
    return solve(environment.payoffs.values, floors, plays, environment.awake, problem.arms)


def rows_of(environment: Environment) -> Rows:
    """Return the rounds that are possible with contexts, or a sample of them."""
    problem, arrays, awake = environment.problem, environment.contextual, environment.awake
    contexts, rewards = environment.contexts, environment.payoffs.recorded
    assert contexts is not None
    plays = min(problem.plays, len(problem.arms))
    replayed = isinstance(contexts, RecordedContexts) and contexts.replayed
    if replayed and isinstance(environment.availability, Trace):
        rounds = environment.longest_horizon
        seen = arrays.recorded[:rounds]
        means = rewards[:rounds] if rewards.size else means_in(arrays, seen)
        equal, members = np.full(len(seen), 1.0 / len(seen)), awake.members[:rounds]
        return Rows(equal, problem.weights * means, members.astype(np.float64), plays, exact=True)
    rows, probabilities, exact = environment.context_table
    values = problem.weights * means_in(arrays, rows)
    if awake.members.size:
        return cross(probabilities, values, awake, plays, contexts.sample, exact)
    likely = np.broadcast_to(awake.probabilities, values.shape)
    if arrays.availability.size:
        likely = np.clip(rows @ arrays.availability.T, 0.0, 1.0)
    return Rows(probabilities, values, likely, plays, exact)


class Best(NamedTuple):
    """Opt-F, or None if the floors are infeasible, and Opt-NF: rewards per round.

    ``standard_error`` is that of Opt-F, 0 if it is exact.
    """

    with_floors: float | None
    without_floors: float
    standard_error: float = 0.0


def find_best(environment: Environment) -> Best:
    """Return what regret is measured against, also where no policy could keep the floors."""
    try:
        best = find_optimum(environment)
    except InfeasibleFloors:
        free = _solve(environment, np.zeros(environment.problem.floors.size))
        return Best(None, free.without_floors)
    return Best(best.with_floors, best.without_floors, best.standard_error)


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
