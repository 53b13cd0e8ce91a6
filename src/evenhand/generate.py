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
from evenhand.responses import LogisticMean

__all__ = ["Generated", "random_environment"]

_INTERCEPT_SIZE, _SLOPE_SIZE = 0.7, 0.8


def random_environment(
    rng: Random,
    arms: int,
    plays: int,
    tightness: float | tuple[float, float],
    features: int = 0,
) -> Environment:
    r"""Draw availability in [0.3, 1], means in [0.05, 0.95], and floors that can just be kept.

    With ``features`` above 0, contexts have so many numbers, uniform in [-1, 1], and the log-odds
    of each mean are linear in them. All coefficients are normal, the intercept's with a standard
    deviation of 0.7, the others with 0.8.

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
    if not features:
        return Environment(Problem(arms, plays, floors=floors), means, probabilities)
    names = {f"x{1 + number}": (-1.0, 1.0) for number in range(features)}
    problem = Problem(arms, plays, floors=floors, features=names)
    sizes = np.array([_INTERCEPT_SIZE, *[_SLOPE_SIZE] * features])
    truths = [LogisticMean(row) for row in rng.standard_normal((arms, 1 + features)) * sizes]
    return Environment(problem, truths, probabilities)


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
    features: int = 0

    def __post_init__(self) -> None:
        for name, least in (("arms", 1), ("plays", 1), ("seed", 0), ("features", 0)):
            checked = check_whole(f"{name} to generate", getattr(self, name), least=least)
            object.__setattr__(self, name, checked)
        tightness = check_number("tightness to generate", self.tightness)
        object.__setattr__(self, "tightness", tightness)

    def build(self) -> Environment:
        """Draw the environment."""
        rng = np.random.default_rng(self.seed)
        return random_environment(rng, self.arms, self.plays, self.tightness, self.features)
