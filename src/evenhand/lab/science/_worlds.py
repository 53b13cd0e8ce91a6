"""Worlds in which arms do not wake independently, or not for ever alike, for the study.

In each of them floors are near the most that can be kept, and taking the arms for independent
would get wrong how much that is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from evenhand.availability import Availability, Joint, Trace
from evenhand.contexts import Contexts, DrawnContexts, RecordedContexts
from evenhand.core.arrays import Random
from evenhand.environment import Change, Environment
from evenhand.errors import InfeasibleFloors
from evenhand.generate import random_environment
from evenhand.optimum.environment import find_optimum
from evenhand.optimum.feasibility import headroom
from evenhand.problem import Problem

World = Callable[[Random, int], Environment]
LIGHTEST, TIGHTEST = 0.8, 0.97
BLOCK = 500
DRIFT = "drift"


def exclusive_arms(rng: Random, horizon: int) -> Environment:
    """Return arms of which each round has one of four groups awake, beside some that always are."""
    arms = int(rng.integers(9, 21))
    group = rng.integers(0, 4, arms)
    group[:2] = -1
    sets = np.array([(group == number) | (group < 0) for number in range(4)])
    return tight(rng, Joint(sets, rng.dirichlet(np.full(4, 5.0)).tolist()), arms, plays=1)


def shifts(rng: Random, horizon: int) -> Environment:
    """Return arms in four shifts of which any may be on, and each arm now and then besides."""
    arms = int(rng.integers(9, 21))
    shift = rng.integers(0, 4, arms)
    on = rng.random((24, 4)) < 0.5
    sets = on[:, shift] | (rng.random((24, arms)) < 0.15)
    return tight(rng, Joint(sets, rng.dirichlet(np.ones(24)).tolist()), arms, plays=2)


def latent_states(rng: Random, horizon: int) -> Environment:
    """Return arms that a hidden state wakes together: each is nearly always awake in it, or never.

    Four states, each with 16 awake sets drawn from it.
    """
    arms = int(rng.integers(9, 21))
    likely = np.where(rng.random((4, arms)) < 0.5, 0.95, 0.05)
    likely[rng.integers(0, 4, arms), np.arange(arms)] = 0.95
    sets = rng.random((16, 4, arms)) < likely
    probabilities = np.tile(rng.dirichlet(np.full(4, 3.0)) / 16, 16)
    return tight(rng, Joint(sets.reshape(-1, arms), probabilities.tolist()), arms, plays=2)


def day_and_night(rng: Random, horizon: int) -> Environment:
    """Return arms awake by day, by night or always; days and nights are blocks of 500 rounds."""
    arms = int(rng.integers(9, 21))
    kind = rng.integers(0, 3, arms)
    day = (np.arange(horizon) // BLOCK % 2 == 0)[:, None]
    awake = np.where(kind == 0, day, np.where(kind == 1, ~day, True))
    return tight(rng, Trace(awake & (rng.random((horizon, arms)) < 0.8)), arms, plays=2)


def late_waking(rng: Random, horizon: int) -> Environment:
    """Return arms a third of which sleep through the first quarter of the rounds."""
    arms = int(rng.integers(9, 21))
    late = rng.random(arms) < 1 / 3
    late[0] = True
    early = (np.arange(horizon) < horizon // 4)[:, None]
    return tight(rng, Trace((rng.random((horizon, arms)) < 0.7) & ~(early & late)), arms, plays=2)


def drift(rng: Random, horizon: int) -> Environment:
    """Return independent arms whose means and awake rates are others in each third of the rounds.

    The floors can be kept in every third.
    """
    arms, plays = int(rng.integers(9, 21)), 2
    means, probabilities = rng.uniform(0.05, 0.95, (3, arms)), rng.uniform(0.4, 1.0, (3, arms))
    floors = rng.uniform(size=arms)
    room = min(headroom(floors, own, plays) for own in probabilities)
    problem = Problem(arms, plays, floors=floors * (room * rng.uniform(LIGHTEST, TIGHTEST)))
    third = horizon // 3
    changes = [Change(number * third, means[number], probabilities[number]) for number in (1, 2)]
    return Environment(problem, means[0], probabilities[0], changes=changes)


WORLDS: Mapping[str, World] = {
    "arms that exclude each other": exclusive_arms,
    "shifts": shifts,
    "latent states": latent_states,
    "day and night in blocks": day_and_night,
    "late waking": late_waking,
    DRIFT: drift,
}


def constant_feature(rng: Random) -> Environment:
    """Return arms that no context matters to, and one feature that is always the same."""
    same = RecordedContexts([{"x": 0.9}], order="resample")
    return _unaffected(rng, {"x": (0, 1)}, same)


def features_without_effect(rng: Random) -> Environment:
    """Return arms that no context matters to, and three features that vary."""
    features = {"x": (0, 1), "evening": bool, "country": ["de", "fr", "it"]}
    return _unaffected(rng, features, DrawnContexts())


UNINFORMATIVE: Mapping[str, Callable[[Random], Environment]] = {
    "a constant feature": constant_feature,
    "features without effect": features_without_effect,
}


def _unaffected(rng: Random, features: object, contexts: Contexts) -> Environment:
    arms, plays = int(rng.integers(5, 9)), int(rng.integers(1, 3))
    plain = random_environment(rng, arms, plays, (0.5, 0.9))
    problem = Problem(arms, plays, floors=plain.problem.floors, features=features)
    return Environment(problem, plain.means, plain.awake.probabilities, contexts=contexts)


def tight(rng: Random, availability: Availability, arms: int, plays: int) -> Environment:
    """Return an environment with random means, and floors at 80 to 97% of what can be kept.

    >>> environment = shifts(np.random.default_rng(1), horizon=100)
    >>> 1 / TIGHTEST < find_optimum(environment).floor_headroom < 1 / LIGHTEST
    True
    """
    means = rng.uniform(0.05, 0.95, arms)
    awake = availability.arrays([str(1 + i) for i in range(arms)])
    floors = rng.uniform(size=arms) * (awake.set_probabilities @ awake.members)
    try:
        problem = Problem(arms, plays, floors=floors, allow_impossible=True)
        room = find_optimum(Environment(problem, means, availability)).floor_headroom
    except InfeasibleFloors as error:
        room = error.floor_headroom
    kept = floors * (room * rng.uniform(LIGHTEST, TIGHTEST))
    return Environment(Problem(arms, plays, floors=kept), means, availability)
