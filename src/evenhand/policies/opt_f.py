"""The best stationary policy that knows everything and keeps the floors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Integers, Random
from evenhand.core.state import DecisionView
from evenhand.optimum.mixture import Mixture
from evenhand.optimum.solver import solve_mixture
from evenhand.policies.policy import NoMemory, Policy, PolicySetup


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
    no_belief = "it knows the means"
    score = staticmethod(score)
    knows_nature = True

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        problem, (means, awake) = setup.problem, self.secrets(setup)
        values = problem.weights * means
        return solve_mixture(values, problem.floors, problem.plays, awake, problem.arms)
