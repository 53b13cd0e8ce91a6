"""Worlds with promises of every kind, for the study: groups, ceilings, exact shares, reward."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from evenhand.core.arrays import Floats, Random
from evenhand.environment import Environment
from evenhand.generate import random_environment
from evenhand.lab.science._worlds import latent_states
from evenhand.optimum.environment import follow_priority
from evenhand.problem import Problem
from evenhand.promises import Promise

# A lower bound is so much of what some policy reaches, an upper one so much more.
LIGHTEST, TIGHTEST = 0.6, 0.9
ORDERS, FEATURES = 6, 5


def independent_arms(rng: Random, horizon: int) -> Environment:
    """Return independent arms with promises: N 6 to 20, m 1 to 4."""
    arms, plays = int(rng.integers(6, 21)), int(rng.integers(1, 5))
    return promised(rng, random_environment(rng, arms, plays, tightness=0.3))


def dependent_arms(rng: Random, horizon: int) -> Environment:
    """Return arms that a hidden state wakes together, with promises."""
    return promised(rng, latent_states(rng, horizon))


def contextual_arms(rng: Random, horizon: int) -> Environment:
    """Return arms whose means depend on five features, with promises: N 6 to 20, m 1 to 4."""
    arms, plays = int(rng.integers(6, 21)), int(rng.integers(1, 5))
    return promised(rng, random_environment(rng, arms, plays, 0.3, FEATURES))


PROMISED: Mapping[str, Callable[[Random, int], Environment]] = {
    "promises, independent arms": independent_arms,
    "promises, dependent arms": dependent_arms,
    "promises, contexts": contextual_arms,
}


def promised(rng: Random, nature: Environment) -> Environment:
    """Return an environment with promises of every kind in place of its floors.

    The bounds are around what a random policy reaches, so that all of them can be kept: two groups
    that may overlap and a reward of one arm have at least 60 to 90% of that, two arms have at most
    1.1 to 1.7 times it, and one arm has exactly that.

    >>> environment = independent_arms(np.random.default_rng(1), horizon=100)
    >>> [promise.name for promise in environment.problem.promises]
    ['first group', 'second group', 'exact', 'revenue']
    """
    before = nature.problem
    arms, names = len(before.arms), before.arms
    rates, earned = reached(rng, nature)
    groups = [rng.choice(arms, int(rng.integers(2, arms // 2 + 1)), replace=False) for _ in "12"]
    order = rng.permutation(arms)
    exact, paid, capped = int(order[0]), int(order[1]), order[2:4]
    tight = rng.uniform(LIGHTEST, TIGHTEST, 3)
    promises = [
        Promise([names[i] for i in group], at_least=part * float(rates[group].sum()), name=name)
        for group, part, name in zip(groups, tight, ("first group", "second group"), strict=False)
    ]
    promises.append(Promise([names[exact]], exactly=float(rates[exact]), name="exact"))
    least = float(tight[2] * earned[paid])
    promises.append(Promise([names[paid]], at_least=least, of="reward", name="revenue"))
    ceilings = np.ones(arms)
    ceilings[capped] = np.minimum(rates[capped] / rng.uniform(LIGHTEST, TIGHTEST, 2), 1.0)
    problem = Problem(
        names, before.plays, features=before.features, ceilings=ceilings, promises=promises
    )
    given = nature.given_means, nature.availability, nature.rewards, (), nature.contexts
    return Environment(problem, *given)


def reached(rng: Random, nature: Environment) -> tuple[Floats, Floats]:
    """Return plays and reward a round of a policy that draws one of some random orders."""
    arms = len(nature.problem.arms)
    found = [
        follow_priority(nature, 1.0 + rng.permutation(arms).astype(np.float64))
        for _ in range(ORDERS)
    ]
    rates, earned = (np.array(part) for part in zip(*found, strict=True))
    weights = rng.dirichlet(np.ones(ORDERS))
    return weights @ rates, weights @ earned
