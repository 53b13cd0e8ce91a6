"""The best stationary policy that knows everything and keeps the floors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Random, frozen
from evenhand.core.state import DecisionView
from evenhand.optimum.mixture import Mixture
from evenhand.optimum.solver import solve_mixture, solve_orders
from evenhand.policies.policy import NoMemory, Policy, PolicySetup, Score


def score(
    scores: Floats, view: DecisionView, constants: Mixture, memory: NoMemory, rng: Random
) -> None:
    """Score an arm's place in this round's priority order."""
    score_mixture(scores, view.awake, constants, rng)


def score_mixture(scores: Floats, awake: Integers, mixture: Any, rng: Random) -> None:
    """Write an arm's place in the order drawn from a mixture: one draw per block with a choice."""
    blocks = mixture.first.size - 1
    drawn = np.empty(blocks, dtype=np.int64)
    for b in range(blocks):
        order, last = mixture.first[b], mixture.first[b + 1] - 1
        if order < last:
            draw = rng.random()
            while order < last and mixture.cumulative[order] <= draw:
                order += 1
        drawn[b] = order
    for j in range(awake.size):
        i = awake[j]
        b = mixture.block[i]
        rank = mixture.ranks[mixture.offset[drawn[b]] + mixture.slot[i]]
        scores[j] = -(mixture.start[b] + rank)


class OrderMixture(NamedTuple):
    """Priority orders with cumulative weights: each arm's rank, -1 if it is not to be played."""

    cumulative: Floats
    ranks: Integers


def score_orders(
    scores: Floats, view: DecisionView, constants: OrderMixture, memory: NoMemory, rng: Random
) -> None:
    """Score an arm's place in the order drawn for this round; below 0 where it has none."""
    draw, order, last = rng.random(), 0, constants.cumulative.size - 1
    while order < last and constants.cumulative[order] <= draw:
        order += 1
    arms = constants.ranks.shape[1]
    for j in range(view.awake.size):
        rank = constants.ranks[order, view.awake[j]]
        scores[j] = arms - rank if rank >= 0 else -1.0


@dataclass(frozen=True, kw_only=True)
class OptF(Policy):
    r"""Knows everything, keeps the floors: a mixture of priority orders (Opt-F).

    .. math::
        \max \sum_i w_i u_i x_i \quad \text{over the achievable rates } x
        \text{ with } x_i \ge k_i

    In every round one priority order is drawn, and the first m awake arms of it are played. The
    weights are such that the rates are optimal, exactly, in expectation.

    >>> OptF().label()
    'opt-f'

    References
    ----------
    The paper (Huang, Xu, Hu, Wang, Pan), program (2).
    """

    name = "opt-f"
    keeps = "promises"
    no_belief = "it knows the means"
    score = staticmethod(score)
    knows_nature = True

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        problem, (means, awake) = setup.problem, self.secrets(setup)
        given = problem.weights * means, problem.floors, problem.plays, awake, problem.arms
        if not problem.rows.size:
            return solve_mixture(*given)
        found = solve_orders(*given, problem.rows)
        ranks = np.full(found.choices.shape, -1)
        for row, order in zip(ranks, found.choices, strict=True):
            listed = order[order >= 0]
            row[listed] = np.arange(listed.size)
        return OrderMixture(np.cumsum(found.weights), frozen(ranks))

    def scoring_with(self, *, promised: bool) -> Score:
        return score_orders if promised else self.scoring
