"""Learning with Fairness Guarantee, the paper's rival."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from evenhand.core.arrays import Floats, Random
from evenhand.core.round import StepOptions
from evenhand.core.state import DecisionView
from evenhand.policies.families import WithBelief, WithEta
from evenhand.policies.policy import NoMemory, PolicySetup


class LfgConstants(NamedTuple):
    """Eta, and whether the upper bounds are those of a regression, and so among the samples."""

    eta: float
    regresses: bool


def score(
    scores: Floats, view: DecisionView, constants: LfgConstants, memory: NoMemory, rng: Random
) -> None:
    """Score ``Q_i / eta + w_i ubar_i`` with ubar_i the truncated upper confidence bound."""
    spread = 1.5 * math.log(view.state.rounds[0] + 1)
    for j in range(view.awake.size):
        i = view.awake[j]
        if constants.regresses:
            estimate = view.samples[j]
        else:
            estimate = upper_bound(view.state.feedbacks[i], view.state.reward_sums[i], spread)
        owed = max(view.state.debts[i], 0.0)
        scores[j] = owed / constants.eta + view.problem.weights[i] * estimate


def upper_bound(feedbacks: float, reward_sum: float, spread: float) -> float:
    """Return ``min(1, mean_i + sqrt(spread / feedbacks_i))``, and 1 before any feedback.

    >>> upper_bound(4.0, 1.0, spread=0.25), upper_bound(0.0, 0.0, spread=0.25)
    (0.5, 1.0)
    """
    if feedbacks <= 0.0:
        return 1.0
    return min(1.0, reward_sum / feedbacks + math.sqrt(spread / feedbacks))


@dataclass(frozen=True, kw_only=True)
class WithBounds(WithBelief):
    """Base of the policies that score upper confidence bounds."""

    @property
    def options(self) -> StepOptions:
        regresses = self.known.regresses
        return super().options._replace(sampled=regresses, optimistic=regresses)


@dataclass(frozen=True, kw_only=True)
class Lfg(WithBounds, WithEta):
    r"""Upper confidence bounds with virtual queues (Li, Liu, Ji).

    .. math::
        \text{score}_i = \frac{Q_i(t)}{\eta} + w_i \bar u_i(t), \qquad
        \bar u_i(t) = \min\left(1, \hat u_i + \sqrt{\frac{3 \ln t}{2 h_i}}\right)

    with t counted from 1, and 1 while h_i = 0. Here h_i counts the rewards that have arrived: the
    plays of the publication, unless feedback is late. With a regression as belief the bound is
    ``min(1, x . mu_i + width sqrt(x' A_i^-1 x))``: RBCS-F of Huang et al.

    >>> Lfg(eta="paper").label()
    'lfg eta=paper'

    Parameters
    ----------
    eta
        See :class:`WithEta`.
    surplus
        0, as published, or infinity, Eq. (5) of the TSCSF-B paper; see :class:`WithSurplus`.
    belief, width, ridge
        See :class:`WithBelief`.

    References
    ----------
    Li, Liu, Ji: Combinatorial Sleeping Bandits with Fairness Constraints, INFOCOM 2019. Huang, Lin,
    Wu, Gu: An Efficiency-boosting Client Selection Scheme for Federated Learning with Fairness
    Guarantee, IEEE TPDS 2021.
    """

    name = "lfg"
    randomness = "none"
    score = staticmethod(score)
    surplus: float = 0.0

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        return LfgConstants(self.eta_for(setup), self.known.regresses)
