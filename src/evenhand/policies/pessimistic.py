"""The pessimistic-optimistic algorithm: tightened queues, weights that grow with time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from evenhand.core.arrays import Floats, Random
from evenhand.core.checks import POSITIVE, Limits, check_number
from evenhand.core.round import StepOptions
from evenhand.core.state import DecisionView
from evenhand.policies._base_learner import Base, WithBase, base_values
from evenhand.policies.families import WithSurplus
from evenhand.policies.policy import NoMemory, PolicySetup


class PessimisticConstants(NamedTuple):
    """The scale of V, and the base learner."""

    eta: float
    base: Base


def score(
    scores: Floats,
    view: DecisionView,
    constants: PessimisticConstants,
    memory: NoMemory,
    rng: Random,
) -> None:
    """Score ``w_i estimate_i + Q_i / V_t``."""
    base_values(scores, view, constants.base)
    share = 1.0 / (constants.eta * math.sqrt(view.state.rounds[0] + 1))
    for j in range(view.awake.size):
        scores[j] += max(view.state.debts[view.awake[j]], 0.0) * share


def growing_bonuses(view: DecisionView, constants: PessimisticConstants, memory: NoMemory) -> None:
    """Write ``sign_j max(Q_j, 0) / V_t`` as the bonus of every promise."""
    share = 1.0 / (constants.eta * math.sqrt(view.state.rounds[0] + 1))
    for j in range(view.promises.debts.size):
        owed = max(view.promises.debts[j], 0.0)
        view.promises.bonuses[j] = view.promises.sign[j] * owed * share


@dataclass(frozen=True, kw_only=True)
class Pessimistic(WithBase, WithSurplus):
    r"""Promises a little more than the floors, less and less of it (pessimistic-optimistic).

    .. math::
        \text{score}_i = w_i \, \text{estimate}_i + w_{\max} \frac{Q_i(t)}{V_t}, \quad
        Q_i \leftarrow \max(Q_i + k_i (1 + \epsilon_t) - d_i, 0), \quad
        V_t = \eta \sqrt t, \quad \epsilon_t = \frac{c}{\sqrt t}

    with d_i = 1 if the arm was played. The publication's scales of V and epsilon have the number of
    constraints and Slater's constant in them, which are not known beforehand: ``eta`` and
    ``tightening`` stand for them here, and epsilon is in parts of the floor, so that a small floor
    is not tightened beyond what there is to give. An agent's debts are these queues, more than what
    was promised. Promises beyond floors have queues, too, that are not tightened.

    >>> Pessimistic(base="ucb").label()
    'pessimistic base=ucb'

    Parameters
    ----------
    eta
        The scale of V_t, above 0.
    tightening
        The scale c of epsilon_t, at least 0.
    surplus
        0, as published; see :class:`WithSurplus`.
    base, rewards, half_life, exploration
        See :class:`WithBase`.

    References
    ----------
    Liu, Li, Shi, Ying: An Efficient Pessimistic-Optimistic Algorithm for Stochastic Linear Bandits
    with General Constraints, NeurIPS 2021, arXiv 2102.05295.
    """

    name = "pessimistic"
    keeps = "promises"
    score = staticmethod(score)
    surplus: float = 0.0
    eta: float = 0.1
    tightening: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        eta = check_number(f"eta of policy {self.name!r}", self.eta, POSITIVE)
        least = Limits(0.0)
        tightening = check_number(f"tightening of policy {self.name!r}", self.tightening, least)
        object.__setattr__(self, "eta", eta)
        object.__setattr__(self, "tightening", tightening)

    def bonus_rows(self) -> Callable[..., None]:
        return growing_bonuses

    @property
    def options(self) -> StepOptions:
        return super().options._replace(tightening=self.tightening)

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        weight = float(setup.problem.weights.max()) or 1.0
        return PessimisticConstants(self.eta / weight, self.learner)
