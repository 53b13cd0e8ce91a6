"""Thompson sampling with virtual queues, the paper's Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.core.arrays import Floats, Random
from evenhand.core.state import DecisionView
from evenhand.policies.families import EtaOnly, WithEta, WithSamples
from evenhand.policies.policy import NoMemory


def score(
    scores: Floats, view: DecisionView, constants: EtaOnly, memory: NoMemory, rng: Random
) -> None:
    """Score ``max(Q_i, 0) / eta + w_i theta_i`` with theta_i the arm's sample, Eq. (6)."""
    for j in range(view.awake.size):
        i = view.awake[j]
        owed = max(view.state.debts[i], 0.0)
        scores[j] = owed / constants.eta + view.problem.weights[i] * view.samples[j]


@dataclass(frozen=True, kw_only=True)
class TscsfB(WithSamples, WithEta):
    r"""Thompson sampling with Beta priors and virtual queues (the paper's algorithm).

    .. math::
        A(t) \in \arg\max_{A \subseteq Z(t), |A| \le m} \sum_{i \in A}
        \left( \frac{\max(Q_i(t), 0)}{\eta} + w_i \theta_i(t) \right), \qquad
        \theta_i(t) \sim \mathrm{Beta}(\alpha_i, \beta_i)

    >>> TscsfB(eta=1000).label()
    'tscsf-b eta=1000'

    Parameters
    ----------
    eta
        How much reward outweighs debt: a number above 0, infinity, or ``"paper"`` for
        sqrt(N T / (m ln T)) (Corollary 1).
    surplus
        Infinity, Eq. (5), or 0, as in the paper's proof and in LFG; see :class:`WithSurplus`.
    belief, width, ridge, rewards, half_life, exploration
        See :class:`WithBelief`, :class:`WithSamples` and :class:`Policy`.

    References
    ----------
    Huang, Xu, Hu, Wang, Pan: Thompson Sampling for Combinatorial Semi-bandits with Sleeping Arms
    and Long-Term Fairness Constraints, Algorithm 1.
    """

    name = "tscsf-b"
    score = staticmethod(score)
