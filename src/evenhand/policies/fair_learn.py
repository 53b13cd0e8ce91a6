"""FAIR-LEARN: a base learner, unless an arm is too far behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from evenhand.core.arrays import Floats, Random
from evenhand.core.checks import Limits, check_number
from evenhand.core.state import DecisionView
from evenhand.policies._base_learner import Base, WithBase, base_values
from evenhand.policies.families import WithSurplus
from evenhand.policies.policy import NoMemory, PolicySetup


class FairLearnConstants(NamedTuple):
    """How far behind is too far, a score above every other, and the base learner."""

    alpha: float
    above: float
    base: Base


def score(
    scores: Floats, view: DecisionView, constants: FairLearnConstants, memory: NoMemory, rng: Random
) -> None:
    """Score ``above + Q_i`` if an arm is owed more than alpha plays, else ``w_i estimate_i``."""
    base_values(scores, view, constants.base)
    for j in range(view.awake.size):
        i = view.awake[j]
        debt = view.state.debts[i]
        if debt > constants.alpha:
            scores[j] = constants.above + debt


def overdue_bonuses(view: DecisionView, constants: FairLearnConstants, memory: NoMemory) -> None:
    """Write ``sign_j (above + Q_j)`` as the bonus of a promise that is behind by over alpha."""
    for j in range(view.promises.debts.size):
        debt = view.promises.debts[j]
        late = debt > constants.alpha
        view.promises.bonuses[j] = view.promises.sign[j] * (constants.above + debt) if late else 0.0


@dataclass(frozen=True, kw_only=True)
class FairLearn(WithBase, WithSurplus):
    r"""Plays the arms that are too far behind, else asks a base learner (FAIR-LEARN).

    .. math:: \text{score}_i = \begin{cases}
        w_{\max} + 1 + t k_i - h_i(t) & \text{if } t k_i - h_i(t) > \alpha \\
        w_i \, \text{estimate}_i & \text{else} \end{cases}

    with t the rounds so far and h_i the arm's plays. Published for one play: with m, those most
    behind come first, and the base learner has the places that are left. Other promises count like
    floors; an upper bound that is exceeded by more than alpha forbids its arms.

    >>> FairLearn(alpha=2, base="ucb").label()
    'fair-learn base=ucb alpha=2'

    Parameters
    ----------
    alpha
        By more than how many plays an arm must be behind, at least 0. Left to the user in the
        publication; here 0, which promises most.
    surplus
        See :class:`WithSurplus`.
    base, belief, width, ridge, rewards, half_life, exploration
        See :class:`WithBase`.

    References
    ----------
    Patil, Ghalme, Nair, Narahari: Achieving Fairness in the Stochastic Multi-Armed Bandit Problem,
    JMLR 22(174), 2021, Algorithm 1.
    """

    name = "fair-learn"
    keeps = "promises"
    score = staticmethod(score)
    alpha: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = check_number(f"alpha of policy {self.name!r}", self.alpha, Limits(0.0))
        object.__setattr__(self, "alpha", alpha)

    def bonus_rows(self) -> Callable[..., None]:
        return overdue_bonuses

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        above = self.above_all(setup.problem)
        return FairLearnConstants(self.alpha, above, self.learner)
