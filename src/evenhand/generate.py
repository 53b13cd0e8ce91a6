"""Random environments whose floors are as tight as wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Random
from evenhand.core.checks import check_number, check_whole
from evenhand.core.jit import compiled_if_large
from evenhand.environment import Environment
from evenhand.optimum.feasibility import headroom
from evenhand.problem import Problem

__all__ = ["Generated", "random_environment"]


def random_environment(
    rng: Random, arms: int, plays: int, tightness: float | tuple[float, float]
) -> Environment:
    r"""Draw availability in [0.3, 1], means in [0.05, 0.95], and floors that can just be kept.

    Floors are drawn at random, then scaled by ``tightness`` times the largest factor that leaves
    them feasible: at 1 no floor could be raised together with all others. Two numbers are a range
    from which the tightness is drawn.

    >>> environment = random_environment(np.random.default_rng(7), 10, 3, tightness=0.5)
    >>> availability = environment.awake.probabilities
    >>> round(float(headroom(environment.problem.floors, availability, 3)), 9)
    2.0
    """
    probabilities, means = rng.uniform(0.3, 1.0, arms), rng.uniform(0.05, 0.95, arms)
    floors = rng.uniform(size=arms) * probabilities
    tight = rng.uniform(*tightness) if isinstance(tightness, tuple) else tightness
    floors *= tight * compiled_if_large(headroom, arms)(floors, probabilities, plays)
    return Environment(Problem(arms, plays, floors=floors), means, probabilities)


@dataclass(frozen=True)
class Generated:
    """A random environment as the numbers it is made of; the seed decides all of it.

    >>> Generated(arms=10, plays=3, tightness=0.9, seed=7).build()
    Environment(10 arms, 3 plays, Independent, Bernoulli)
    """

    arms: int
    plays: int
    tightness: float
    seed: int

    def __post_init__(self) -> None:
        for name, least in (("arms", 1), ("plays", 1), ("seed", 0)):
            checked = check_whole(f"{name} to generate", getattr(self, name), least=least)
            object.__setattr__(self, name, checked)
        tightness = check_number("tightness to generate", self.tightness)
        object.__setattr__(self, "tightness", tightness)

    def build(self) -> Environment:
        """Draw the environment."""
        rng = np.random.default_rng(self.seed)
        return random_environment(rng, self.arms, self.plays, self.tightness)
