"""The best policy that knows everything and promises nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from evenhand.policies import oracle
from evenhand.policies.oracle import OracleConstants
from evenhand.policies.policy import Policy, PolicySetup


@dataclass(frozen=True, kw_only=True)
class OptNf(Policy):
    r"""Knows everything, ignores the floors: the best awake arms (Opt-NF).

    .. math:: \text{score}_i = w_i u_i

    >>> OptNf().label()
    'opt-nf'

    References
    ----------
    The paper (Huang, Xu, Hu, Wang, Pan), Section 5.1.
    """

    name = "opt-nf"
    keeps = "nothing"
    no_belief = "it knows the means"
    score = staticmethod(oracle.score)
    knows_nature = True

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        return OracleConstants(math.inf, self.secrets(setup)[0])
