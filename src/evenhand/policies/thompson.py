"""Thompson sampling that promises nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from evenhand.policies import tscsf_b
from evenhand.policies.families import EtaOnly, WithSamples
from evenhand.policies.policy import PolicySetup


@dataclass(frozen=True, kw_only=True)
class Thompson(WithSamples):
    r"""Thompson sampling with Beta priors, no debts (TSCSF-B with eta = infinity).

    .. math::
        \text{score}_i = w_i \theta_i(t), \qquad
        \theta_i(t) \sim \mathrm{Beta}(\alpha_i, \beta_i)

    >>> Thompson().label()
    'thompson'

    Parameters
    ----------
    belief, width, ridge, rewards, half_life, exploration
        See :class:`WithBelief`, :class:`WithSamples` and :class:`Policy`.

    References
    ----------
    The paper (Huang, Xu, Hu, Wang, Pan), the remark after Theorem 2.
    """

    name = "thompson"
    keeps = "nothing"
    score = staticmethod(tscsf_b.score)

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        return EtaOnly(math.inf)
