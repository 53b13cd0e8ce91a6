"""The deterministic oracle of the paper's proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.state import State
from evenhand.core.terms import Terms
from evenhand.policies.families import WithEta
from evenhand.policies.policy import NoMemory, Situation


class OracleConstants(NamedTuple):
    """Eta and the true means."""

    eta: float
    means: Floats


def score(
    scores: Floats,
    awake: Integers,
    samples: Floats,
    state: State,
    terms: Terms,
    constants: OracleConstants,
    memory: NoMemory,
    rng: np.random.Generator,
) -> None:
    """Score ``Q_i / eta + w_i u_i`` with the true mean u_i."""
    for j in range(awake.size):
        i = awake[j]
        scores[j] = state.debts[i] / constants.eta + terms.weights[i] * constants.means[i]


@dataclass(frozen=True, kw_only=True)
class Oracle(WithEta):
    r"""Knows the true means, uses debts (A'(t) in the paper's proof).

    .. math:: \text{score}_i = \frac{Q_i(t)}{\eta} + w_i u_i

    It serves comparisons only: an agent that knew the means would have nothing to learn.

    Parameters
    ----------
    eta
        How much reward outweighs debt: a number above 0, infinity, or ``"paper"`` for
        sqrt(N T / (m ln T)).
    debt
        ``"cumulative"`` or ``"reflected"``.

    Examples
    --------
    >>> Oracle(eta=1).label()
    'oracle eta=1'

    References
    ----------
    Huang, Xu, Hu, Wang, Pan: Thompson Sampling for Combinatorial Semi-bandits with Sleeping Arms
    and Long-Term Fairness Constraints, proof sketch of Theorem 2.
    """

    name = "oracle"
    randomness = "none"
    score = staticmethod(score)
    knows_nature = True

    def constants(self, situation: Situation) -> tuple[Any, ...]:
        """Return eta and the means."""
        return OracleConstants(self.eta_for(situation), self.secrets(situation).means)
