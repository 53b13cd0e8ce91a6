"""Promises first, rewards with what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Random
from evenhand.core.promises import PromiseArrays
from evenhand.core.state import DecisionView
from evenhand.policies.families import WithSamples, WithSurplus
from evenhand.policies.policy import NoConstants, NoMemory
from evenhand.policies.probabilities import Lines


def score(
    scores: Floats, view: DecisionView, constants: NoConstants, memory: NoMemory, rng: Random
) -> None:
    """Score an arm's place in the order by debt, then by ``w_i theta_i``.

    The place is exact however large the debts are, which one weighted sum could not be. Both
    sorts are stable, so NumPy and the compiler agree on the order.
    """
    debts = np.empty(view.awake.size)
    estimates = np.empty(view.awake.size)
    for j in range(view.awake.size):
        i = view.awake[j]
        debts[j] = max(view.state.debts[i], 0.0)
        estimates[j] = view.problem.weights[i] * view.samples[j]
    by_estimate = np.argsort(estimates, kind="mergesort")
    order = by_estimate[np.argsort(debts[by_estimate], kind="mergesort")]
    rank = 0
    for k in range(order.size):
        j, before = order[k], order[k - 1]
        if k > 0 and (debts[j] != debts[before] or estimates[j] != estimates[before]):
            rank += 1
        scores[j] = rank


def first_bonuses(view: DecisionView, constants: NoConstants, memory: NoMemory) -> None:
    """Write ``sign_j N max(Q_j, 0)`` as the bonus of a promise: places are below N."""
    arms = view.problem.weights.size
    for j in range(view.promises.debts.size):
        owed = max(view.promises.debts[j], 0.0)
        view.promises.bonuses[j] = view.promises.sign[j] * owed * arms


@dataclass(frozen=True, kw_only=True)
class FloorFirst(WithSamples, WithSurplus):
    r"""Largest debt first, then best Thompson sample (TSCSF-B with eta towards 0).

    .. math:: i \text{ before } j \iff (Q_i, w_i \theta_i) > (Q_j, w_j \theta_j)
        \text{ in lexicographic order}

    Promises beyond floors come before floors, the farther behind the earlier.

    >>> FloorFirst(surplus=0).label()
    'floor-first surplus=0'

    Parameters
    ----------
    surplus
        See :class:`WithSurplus`.
    belief, width, ridge, rewards, half_life, exploration
        See :class:`WithBelief`, :class:`WithSamples` and :class:`Policy`.

    References
    ----------
    The paper (Huang, Xu, Hu, Wang, Pan), Eq. (6) as eta tends to 0.
    """

    name = "floor-first"
    keeps = "promises"
    score = staticmethod(score)

    def bonus_rows(self) -> Callable[..., None]:
        return first_bonuses

    def probabilities(self, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
        if isinstance(view.promises, PromiseArrays):
            return None
        return super().probabilities(view, constants, memory)

    def lines(self, view: DecisionView, constants: Any, memory: Any) -> Lines:
        debts = np.maximum(view.state.debts[view.awake], 0.0)
        weights = view.problem.weights[view.awake]
        return Lines(debts, np.zeros(debts.size), weights)
