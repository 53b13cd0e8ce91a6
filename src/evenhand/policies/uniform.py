"""The baseline that neither learns nor promises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.state import State
from evenhand.core.terms import Terms
from evenhand.policies.policy import Moment, NoConstants, NoMemory, Policy


def score(
    scores: Floats,
    awake: Integers,
    samples: Floats,
    state: State,
    terms: Terms,
    constants: NoConstants,
    memory: NoMemory,
    rng: np.random.Generator,
) -> None:
    """Score a uniform random number, the same for no two arms."""
    for j in range(awake.size):
        scores[j] = rng.random()


@dataclass(frozen=True, kw_only=True)
class Uniform(Policy):
    r"""Random awake arms, every set of m of them equally likely.

    .. math:: \text{score}_i \sim \mathrm{Uniform}[0, 1)

    Examples
    --------
    >>> Uniform().label()
    'uniform'
    """

    name = "uniform"
    score = staticmethod(score)

    def chances(self, moment: Moment) -> Floats | None:
        """Return the same chance for every arm."""
        return np.full(moment.awake.size, moment.terms.plays / moment.awake.size)
