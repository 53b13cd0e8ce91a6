"""What every regret is measured against: the optimum of an environment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand.availability import Trace
from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import fail
from evenhand.environment import Environment
from evenhand.errors import InfeasiblePromises, InputError
from evenhand.optimum._context_rows import SETS_SEED, Rows, cross, merged
from evenhand.optimum._natures import ContextRows, Nature, Scores, nature_of
from evenhand.optimum.contextual import solve_promised_rows, solve_rows
from evenhand.optimum.result import Optimum
from evenhand.optimum.solver import solve
from evenhand.promise_rows import Rows as PromisedRows
from evenhand.responses import means_in


def find_optimum(environment: Environment) -> Optimum:
    """Return the exact optimum of an environment, with prices, rates and headroom.

    Independent availability takes O(N m log N); a joint table, and the sets that a trace holds, a
    linear program, and so do promises beyond floors. The same on plain arrays is
    :func:`evenhand.optimum.solver`.

    With contexts it is exact for few combinations of categories, and for recorded contexts up to
    the size of the sample. For others it is that of a sample of contexts, whose size the contexts
    name, and ``standard_error`` is its standard error. Whether floors fit is not sampled, unless
    availability depends on too many combinations of categories. Where rewards are recorded with
    contexts, it is the best in hindsight: it knows every reward.

    Raises
    ------
    InfeasiblePromises
        If no policy could keep the promises, with the certificate.

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
    return _solve(environment, problem.floors, problem.rows if problem.rows.size else None)


def _solve(
    environment: Environment, floors: Floats, promised: PromisedRows | None = None
) -> Optimum:
    problem, plays = environment.problem, environment.problem.plays
    if environment.contexts is not None:
        waking, rows = waking_of(environment), rows_of(environment)
        if promised is not None:
            return solve_promised_rows(rows, waking, floors, promised, problem.arms)
        return solve_rows(rows, waking, floors, problem.arms)
    given = environment.payoffs.values, floors, plays, environment.awake, problem.arms
    return solve(*given, rows=promised)


def rows_of(environment: Environment) -> Rows:
    """Return the rounds that are possible with contexts, or a sample of them."""
    problem, arrays, awake = environment.problem, environment.contextual, environment.awake
    contexts, plays = environment.contexts, min(problem.plays, len(problem.arms))
    assert contexts is not None
    if environment.replays_both:
        return _replayed(environment, contexts.sample)
    rows, probabilities, exact = environment.context_table
    values = problem.weights * means_in(arrays, rows)
    if awake.members.size:
        return cross(probabilities, values, awake, plays, contexts.sample, exact)
    likely = np.broadcast_to(awake.probabilities, values.shape)
    if arrays.availability.size:
        likely = np.clip(rows @ arrays.availability.T, 0.0, 1.0)
    return Rows(probabilities, values, likely, plays, exact)


def _replayed(environment: Environment, sample: int) -> Rows:
    """Return the rounds of a trace with the contexts that are replayed beside it."""
    problem, arrays, rounds = environment.problem, environment.contextual, environment.awake.members
    chosen = np.arange(environment.longest_horizon or 0)
    if len(chosen) > sample:
        chosen = np.random.default_rng(SETS_SEED).choice(len(chosen), sample)
    rewards, equal = environment.payoffs.recorded, np.full(len(chosen), 1.0 / len(chosen))
    means = rewards[chosen] if rewards.size else means_in(arrays, arrays.recorded[chosen])
    awake, exact = rounds[chosen].astype(np.float64), len(chosen) == environment.longest_horizon
    plays = min(problem.plays, len(problem.arms))
    return Rows(equal, problem.weights * means, awake, plays, exact)


def waking_of(environment: Environment) -> Rows:
    """Return all that matters to whether floors fit: awake probabilities, not sampled if possible.

    They are those of the table of sets, or of the categories that availability depends on.
    """
    problem, arrays, awake = environment.problem, environment.contextual, environment.awake
    contexts, plays = environment.contexts, min(problem.plays, len(problem.arms))
    assert contexts is not None
    probabilities, likely = np.ones(1), awake.probabilities[None, :]
    if awake.members.size:
        rounds = len(awake.members)
        if isinstance(environment.availability, Trace):
            rounds = environment.longest_horizon or rounds
        likely = awake.members[:rounds].astype(np.float64)
        probabilities = awake.set_probabilities[:rounds] / awake.set_probabilities[:rounds].sum()
    elif arrays.availability.size:
        owners = np.array(problem.features.owners)
        only = set(owners[1:][arrays.availability[:, 1:].any(axis=0)].tolist())
        rows, probabilities, _ = contexts.table(problem.features, arrays, only)
        likely = np.clip(rows @ arrays.availability.T, 0.0, 1.0)
    return merged(Rows(probabilities, np.zeros_like(likely), likely, plays, exact=True))


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
    except InfeasiblePromises:
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


def follow_priority(environment: Environment, priority: Floats) -> tuple[Floats, Floats]:
    """Return each arm's plays and weighted reward a round, if the best awake ones by a priority go.

    Arms whose priority is not above 0 are never played.

    >>> from evenhand import Problem
    >>> nature = Environment(Problem(2, plays=1), means=[0.4, 0.5], availability=[0.5, 1.0])
    >>> follow_priority(nature, np.array([2.0, 1.0]))
    (array([0.5, 0.5]), array([0.2 , 0.25]))
    """
    plays, scores = environment.problem.plays, Scores(priority, np.zeros(priority.size), 0.0)
    if environment.contexts is not None:
        nature: Nature = ContextRows(rows_of(environment))
    else:
        nature = nature_of(environment.payoffs.values, environment.awake, plays)
    followed = nature.follow(scores)
    return followed.rates, followed.earned
