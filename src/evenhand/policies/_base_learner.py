"""Rivals that put rules of their own on top of a base learner: Thompson samples or upper bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from evenhand.core.arrays import Floats
from evenhand.core.checks import check_choice
from evenhand.core.round import StepOptions
from evenhand.core.state import DecisionView, faded
from evenhand.policies.families import WithSamples
from evenhand.policies.lfg import upper_bound
from evenhand.policies.policy import Randomness

BaseLearner: TypeAlias = Literal["thompson", "ucb"]


class Base(NamedTuple):
    """Which base learner there is: one that scores upper bounds or not, and what it forgets."""

    upper: bool
    half_life: float


def base_values(values: Floats, view: DecisionView, base: Base) -> None:
    """Write ``w_i estimate_i`` of the awake arms: from their samples, or their upper bounds."""
    if not base.upper:
        for j in range(view.awake.size):
            values[j] = view.problem.weights[view.awake[j]] * view.samples[j]
        return
    now, spread = faded(view.state, base.half_life), 1.5 * math.log(view.state.rounds[0] + 1)
    for j in range(view.awake.size):
        i = view.awake[j]
        bound = upper_bound(now * view.state.feedbacks[i], now * view.state.reward_sums[i], spread)
        values[j] = view.problem.weights[i] * bound


@dataclass(frozen=True, kw_only=True)
class WithBase(WithSamples):
    """Base of the policies that ask a base learner.

    Parameters
    ----------
    base
        ``"thompson"``, or ``"ucb"`` for LFG's truncated upper confidence bound.
    belief, width, ridge, rewards, half_life, exploration
        See :class:`WithBelief`, :class:`WithSamples` and :class:`Policy`.
    """

    base: BaseLearner = "thompson"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"base of policy {self.name!r}", self.base, ("thompson", "ucb"))

    @property
    def randomness(self) -> Randomness:
        return "samples" if self.base == "thompson" else "none"

    @property
    def learner(self) -> Base:
        """The base learner, as scoring functions know it."""
        return Base(self.base == "ucb" and not self.known.regresses, self.half_life)

    @property
    def options(self) -> StepOptions:
        """Upper bounds of a regression take the place of samples."""
        optimistic = self.base == "ucb" and self.known.regresses
        options = super().options
        return options._replace(sampled=options.sampled or optimistic, optimistic=optimistic)
