"""The deterministic oracle of the paper's proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from evenhand.core.arrays import Floats, Random
from evenhand.core.state import DecisionView
from evenhand.policies.families import WithEta
from evenhand.policies.policy import NoMemory, PolicySetup


class OracleConstants(NamedTuple):
    """Eta and the true means."""

    eta: float
    means: Floats


def score(
    scores: Floats, view: DecisionView, constants: OracleConstants, memory: NoMemory, rng: Random
) -> None:
    """Score ``Q_i / eta + w_i u_i`` with the true mean u_i."""
    for j in range(view.awake.size):
        i = view.awake[j]
        owed = max(view.state.debts[i], 0.0)
        scores[j] = owed / constants.eta + view.problem.weights[i] * constants.means[i]


@dataclass(frozen=True, kw_only=True)
class Oracle(WithEta):
    r"""Knows the true means, uses debts (A'(t) in the paper's proof).

    .. math:: \text{score}_i = \frac{Q_i(t)}{\eta} + w_i u_i

    It serves comparisons only: an agent that knew the means would have nothing to learn.

    >>> Oracle(eta=1).label()
    'oracle eta=1'

    Parameters
    ----------
    eta, surplus
        See :class:`WithEta`.

    References
    ----------
    The paper (Huang, Xu, Hu, Wang, Pan), proof sketch of Theorem 2.
    """

    name = "oracle"
    no_belief = "it knows the means"
    randomness = "none"
    score = staticmethod(score)
    knows_nature = True

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        return OracleConstants(self.eta_for(setup), self.secrets(setup)[0])
