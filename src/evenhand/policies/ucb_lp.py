"""The floors' program on upper confidence bounds, solved again and again; its mixture is played."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Random
from evenhand.core.schema import Column, copied
from evenhand.core.state import DecisionView, ProblemArrays, State, awake_rates, is_due
from evenhand.optimum.feasibility import attainable
from evenhand.optimum.independent import solve_independent
from evenhand.optimum.mixture import mix, mixture_chances
from evenhand.policies.lfg import upper_bound
from evenhand.policies.opt_f import score_mixture
from evenhand.policies.policy import NoConstants, Policy

GROWTH = 1.05
MOST_ORDERS = 256


def most_places(arms: int) -> int:
    """Return how many places the orders of a mixture may have together."""
    return arms * min(arms, MOST_ORDERS)


def one_more(arms: int) -> int:
    """Return how many bounds so many parts have."""
    return arms + 1


ONE_MORE = Column(one_more, derived=True)


class UcbLpMemory(NamedTuple):
    """The mixture that is played, as in :class:`Mixture`, and from which round on it is old."""

    block: Annotated[Integers, Column("arm", derived=True)]
    slot: Annotated[Integers, Column("arm", derived=True)]
    start: Annotated[Integers, ONE_MORE]
    first: Annotated[Integers, ONE_MORE]
    cumulative: Annotated[Floats, Column("arm", derived=True)]
    offset: Annotated[Integers, ONE_MORE]
    ranks: Annotated[Integers, Column(most_places, derived=True)]
    refresh: Annotated[Integers, Column("one", derived=True)]


def score(
    scores: Floats, view: DecisionView, constants: NoConstants, memory: UcbLpMemory, rng: Random
) -> None:
    """Score an arm's place in the order drawn from the program's mixture."""
    if is_due(view.state.rounds[0], memory.refresh[0], next_refresh(view.state.rounds[0])):
        solve_again(view.state, view.problem, memory)
    score_mixture(scores, view.awake, memory, rng)


def solve_again(state: State, problem: ProblemArrays, memory: UcbLpMemory) -> None:
    """Solve the program on upper bounds and measured awake rates; floors only as far as they fit.

    Due again when the rounds have grown by a twentieth.
    """
    rounds, arms = state.rounds[0], problem.floors.size
    spread = 1.5 * math.log(rounds + 1)
    values = np.empty(arms)
    for i in range(arms):
        bound = upper_bound(state.feedbacks[i], state.reward_sums[i], spread)
        values[i] = problem.weights[i] * bound
    rates, plays = awake_rates(state, problem, np.inf), min(problem.plays, arms)
    kept = attainable(problem.floors, rates, plays)
    shares, _, _, entry = solve_independent(values, kept, rates, plays)
    mix(memory, shares, entry, rates, plays, MOST_ORDERS)
    memory.refresh[0] = next_refresh(rounds)


def next_refresh(rounds: int) -> int:
    """Return the round in which a mixture that is made now is old."""
    return max(rounds + 1, int(rounds * GROWTH))


@dataclass(frozen=True, kw_only=True)
class UcbLp(Policy):
    r"""Plays the mixture that solves the floors' program on upper confidence bounds (UCB-LP).

    .. math::
        \max \sum_i w_i \bar u_i x_i \quad \text{over the achievable rates } x
        \text{ with } x_i \ge k_i, \qquad
        \bar u_i = \min\left(1, \hat u_i + \sqrt{\frac{3 \ln t}{2 h_i}}\right)

    The rates are achievable if arms wake independently, as often as measured. Floors are kept in
    the mean of the mixture; nothing makes up for what chance takes away. The publication solves the
    program in every round: here it is solved again when the rounds have grown by a twentieth. The
    radius is LFG's.

    >>> UcbLp().label()
    'ucb-lp'

    References
    ----------
    Liu, Xu, Wang, Fang: Combinatorial Bandits with Linear Constraints: Beyond Knapsacks and
    Fairness, NeurIPS 2022.
    """

    name = "ucb-lp"
    no_belief = "its program has one value for each arm, whatever the context"
    memory = UcbLpMemory
    score = staticmethod(score)

    def probabilities(self, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
        mixture, rounds = copied(memory), view.state.rounds[0]
        if is_due(rounds, mixture.refresh[0], next_refresh(rounds)):
            solve_again(view.state, view.problem, mixture)
        return mixture_chances(mixture, view.awake, view.problem.plays)
