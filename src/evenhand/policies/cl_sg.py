"""Combinatorial learning with one shared Gaussian seed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Random
from evenhand.core.checks import POSITIVE, check_number
from evenhand.core.promises import PromiseArrays
from evenhand.core.state import DecisionView
from evenhand.policies.families import WithEta
from evenhand.policies.policy import NoMemory, PolicySetup
from evenhand.policies.probabilities import best_of_one_seed


class ClSgConstants(NamedTuple):
    """Eta and the scale of exploration."""

    eta: float
    gamma: float


def score(
    scores: Floats, view: DecisionView, constants: ClSgConstants, memory: NoMemory, rng: Random
) -> None:
    """Score ``Q_i / eta + w_i (mean_i + z sqrt(gamma ln t / (h_i + 1)))`` with one z for all."""
    score_seed(scores, view, constants, rng.standard_normal())


def score_seed(scores: Floats, view: DecisionView, constants: ClSgConstants, seed: float) -> None:
    """Write the scores that the shared seed z gives."""
    spread = constants.gamma * math.log(view.state.rounds[0] + 1)
    for j in range(view.awake.size):
        i = view.awake[j]
        feedbacks = view.state.feedbacks[i]
        mean = view.state.reward_sums[i] / feedbacks if feedbacks > 0 else 0.0
        estimate = mean + seed * math.sqrt(spread / (feedbacks + 1))
        owed = max(view.state.debts[i], 0.0)
        scores[j] = owed / constants.eta + view.problem.weights[i] * estimate


@dataclass(frozen=True, kw_only=True)
class ClSg(WithEta):
    r"""One Gaussian seed a round moves all estimates together (CL-SG), with debts.

    .. math::
        \text{score}_i = \frac{Q_i(t)}{\eta}
        + w_i \left( \hat u_i + z(t) \sqrt{\frac{\gamma \ln t}{h_i + 1}} \right), \qquad
        z(t) \sim \mathcal N(0, 1)

    with t counted from 1 and a mean of 0 while h_i = 0. Here h_i counts the rewards that have
    arrived: the plays of the publication, unless feedback is late. The debts are this project's
    addition: the published algorithm has no floors.

    >>> ClSg(gamma=0.5).label()
    'cl-sg gamma=0.5'

    Parameters
    ----------
    eta, surplus
        See :class:`WithEta`.
    gamma
        The scale of exploration, above 0.

    References
    ----------
    Hu, Pan, Huang: Worst-Case Regret Bounds for Combinatorial Thompson Sampling in Sleeping
    Semi-Bandits, 2026, arXiv 2605.09277.
    """

    name = "cl-sg"
    no_belief = "its estimates have one mean for each arm, and move together"
    score = staticmethod(score)
    gamma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        gamma = check_number(f"gamma of policy {self.name!r}", self.gamma, POSITIVE)
        object.__setattr__(self, "gamma", gamma)

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        return ClSgConstants(self.eta_for(setup), self.gamma)

    def probabilities(self, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
        if isinstance(view.promises, PromiseArrays):
            return None
        low, high = np.zeros((2, view.awake.size))
        score_seed(low, view, constants, 0.0)
        score_seed(high, view, constants, 1.0)
        return best_of_one_seed(low, high - low, view.problem.plays)
