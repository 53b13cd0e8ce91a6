"""Random environments whose floors are as tight as wanted."""

from __future__ import annotations

import numpy as np

from evenhand.environment import Environment
from evenhand.machine import suited
from evenhand.optimum.feasibility import headroom
from evenhand.problem import Problem


def random_environment(
    rng: np.random.Generator, arms: int, plays: int, tightness: float | tuple[float, float]
) -> Environment:
    r"""Draw availability in [0.3, 1], means in [0.05, 0.95], and floors that can just be kept.

    Floors are drawn at random, then scaled by ``tightness`` times the largest factor that leaves
    them feasible: at 1 no floor could be raised together with all others. Two numbers are a range
    from which the tightness is drawn.

    >>> environment = random_environment(np.random.default_rng(7), 10, 3, tightness=0.5)
    >>> availability = environment.world.sets.probabilities
    >>> round(float(headroom(environment.problem.floors, availability, 3)), 9)
    2.0
    """
    probabilities, means = rng.uniform(0.3, 1.0, arms), rng.uniform(0.05, 0.95, arms)
    floors = rng.uniform(size=arms) * probabilities
    tight = rng.uniform(*tightness) if isinstance(tightness, tuple) else tightness
    floors *= tight * suited(headroom, arms)(floors, probabilities, plays)
    return Environment(Problem(arms, plays, floors=floors), means, probabilities)
