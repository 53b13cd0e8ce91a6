"""Thompson sampling that promises nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from evenhand.policies import _tscsf_b as tscsf_b
from evenhand.policies._policy import EtaOnly, Policy, RewardForm, Situation, binarises


@dataclass(frozen=True, kw_only=True)
class Thompson(Policy):
    r"""Thompson sampling with Beta priors, no debts (TSCSF-B with eta = infinity).

    .. math::
        \text{score}_i = w_i \theta_i(t), \qquad
        \theta_i(t) \sim \mathrm{Beta}(\alpha_i, \beta_i)

    Parameters
    ----------
    rewards
        Real rewards are learned as they are (``"fractional"``) or as coin flips
        (``"binarised"``).

    Examples
    --------
    >>> Thompson().label()
    'thompson'

    References
    ----------
    Huang, Xu, Hu, Wang, Pan: Thompson Sampling for Combinatorial Semi-bandits with Sleeping Arms
    and Long-Term Fairness Constraints, the remark after Theorem 2.
    """

    name = "thompson"
    score = staticmethod(tscsf_b.score)
    rewards: RewardForm = "fractional"

    def __post_init__(self) -> None:
        binarises(self.name, self.rewards)

    @property
    def binarised(self) -> bool:
        """Whether a real reward is learned as a coin flip."""
        return binarises(self.name, self.rewards)

    def constants(self, situation: Situation) -> tuple[Any, ...]:
        """Return an infinite eta: debts do not count."""
        return EtaOnly(math.inf)
