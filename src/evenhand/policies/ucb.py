"""Upper confidence bounds that promise nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from evenhand.policies import lfg
from evenhand.policies.lfg import LfgConstants, WithBounds
from evenhand.policies.policy import PolicySetup


@dataclass(frozen=True, kw_only=True)
class Ucb(WithBounds):
    r"""Upper confidence bounds, no debts (LFG with eta = infinity).

    .. math:: \text{score}_i = w_i \min\left(1, \hat u_i + \sqrt{\frac{3 \ln t}{2 h_i}}\right)

    >>> Ucb().label()
    'ucb'

    Parameters
    ----------
    belief, width, ridge
        See :class:`WithBelief`; the bound of a regression is that of :class:`Lfg`.

    References
    ----------
    Li, Liu, Ji: Combinatorial Sleeping Bandits with Fairness Constraints, INFOCOM 2019.
    """

    name = "ucb"
    keeps = "nothing"
    randomness = "none"
    score = staticmethod(lfg.score)

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        return LfgConstants(math.inf, self.known.regresses)
