"""The floors' program on upper confidence bounds, solved again and again; its mixture is played."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.state import State, awake_rates, copied, is_due
from evenhand.core.terms import Terms
from evenhand.optimum.feasibility import attainable
from evenhand.optimum.independent import solve_independent
from evenhand.optimum.mixture import Mixture, empty_mixture, mix, mixture_chances
from evenhand.policies.lfg import upper_bound
from evenhand.policies.opt_f import score_mixture
from evenhand.policies.policy import Moment, NoConstants, Policy

GROWTH = 1.05
MOST_ORDERS = 256


class UcbLpMemory(NamedTuple):
    """The mixture that is played, as in :class:`Mixture`, and from which round on it is old."""

    block: Integers
    slot: Integers
    start: Integers
    first: Integers
    cumulative: Floats
    offset: Integers
    places: Integers
    refresh: Integers


def score(
    scores: Floats,
    awake: Integers,
    samples: Floats,
    state: State,
    terms: Terms,
    constants: NoConstants,
    memory: UcbLpMemory,
    rng: np.random.Generator,
) -> None:
    """Score an arm's place in the order drawn from the program's mixture."""
    if is_due(state.rounds[0], memory.refresh[0], next_refresh(state.rounds[0])):
        solve_again(state, terms, memory)
    score_mixture(scores, awake, memory, rng)


def solve_again(state: State, terms: Terms, memory: UcbLpMemory) -> None:
    """Solve the program on upper bounds and measured awake rates; floors only as far as they fit.

    Due again when the rounds have grown by a twentieth.
    """
    rounds, arms = state.rounds[0], terms.floors.size
    spread = 1.5 * math.log(rounds + 1)
    values = np.empty(arms)
    for i in range(arms):
        bound = upper_bound(state.feedbacks[i], state.reward_sums[i], spread)
        values[i] = terms.weights[i] * bound
    rates, plays = awake_rates(state, terms, np.inf), min(terms.plays, arms)
    kept = attainable(terms.floors, rates, plays)
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

    Examples
    --------
    >>> UcbLp().label()
    'ucb-lp'

    References
    ----------
    Liu, Xu, Wang, Fang: Combinatorial Bandits with Linear Constraints: Beyond Knapsacks and
    Fairness, NeurIPS 2022.
    """

    name = "ucb-lp"
    score = staticmethod(score)

    def chances(self, moment: Moment) -> Floats | None:
        """Return the chances over the mixture's orders."""
        memory = copied(moment.memory)
        rounds = moment.state.rounds[0]
        if is_due(rounds, memory.refresh[0], next_refresh(rounds)):
            solve_again(moment.state, moment.terms, memory)
        return mixture_chances(memory, moment.awake, moment.terms.plays)

    def new_memory(self, arms: int) -> tuple[Any, ...]:
        """Return a mixture that is due at once."""
        room: Mixture = empty_mixture(arms, arms, arms, arms * min(arms, MOST_ORDERS))
        return UcbLpMemory(*room, np.zeros(1, dtype=np.int64))
