"""The baseline that neither learns nor promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Random
from evenhand.core.state import DecisionView
from evenhand.policies.policy import NoConstants, NoMemory, Policy


def score(
    scores: Floats, view: DecisionView, constants: NoConstants, memory: NoMemory, rng: Random
) -> None:
    """Score a uniform random number, the same for no two arms."""
    for j in range(view.awake.size):
        scores[j] = rng.random()


@dataclass(frozen=True, kw_only=True)
class Uniform(Policy):
    r"""Random awake arms, every set of m of them equally likely.

    .. math:: \text{score}_i \sim \mathrm{Uniform}[0, 1)

    >>> Uniform().label()
    'uniform'
    """

    name = "uniform"
    keeps = "nothing"
    no_belief = "it looks at no rewards"
    score = staticmethod(score)

    def probabilities(self, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
        return np.full(view.awake.size, view.problem.plays / view.awake.size)
