"""Other libraries with contexts: a decision and its feedback, in the peers' own environment.

Run as a program, it reads which library and how large, and prints microseconds as JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

KEPT = 50


class Size(NamedTuple):
    """How many arms, plays and features."""

    arms: int
    plays: int
    features: int


class MabWiser:
    """LinTS: one draw of every arm, the best of them."""

    def __init__(self, size: Size) -> None:
        module = import_module("mabwiser.mab")
        self.size, arms = size, list(range(size.arms))
        self.bandit = module.MAB(arms, module.LearningPolicy.LinTS(alpha=0.25), seed=1)
        self.bandit.fit(arms, [0] * size.arms, np.zeros((size.arms, size.features)))

    def step(self, context: Any, rewards: Any) -> None:
        """Choose, play and learn."""
        drawn = self.bandit.predict_expectations(context[None, :])
        chosen = sorted(drawn, key=drawn.__getitem__)[-self.size.plays :]
        contexts = np.tile(context, (len(chosen), 1))
        self.bandit.partial_fit(chosen, [rewards[arm] for arm in chosen], contexts)


class River:
    """LinUCB with a model for each arm; it plays one arm."""

    def __init__(self, size: Size) -> None:
        module = import_module("river.bandit")
        self.policy, self.arms = module.LinUCBDisjoint(alpha=0.25, seed=1), list(range(size.arms))

    def step(self, context: Any, rewards: Any) -> None:
        """Choose, play and learn."""
        named = dict(enumerate(context.tolist()))
        arm = self.policy.pull(self.arms, context=named)
        self.policy.update(arm, named, float(rewards[arm]))


class BayesianBandits:
    """Thompson sampling with a normal regression for each arm; it plays one arm."""

    def __init__(self, size: Size) -> None:
        module = import_module("bayesianbandits")
        arms = [
            module.Arm(i, learner=module.NormalRegressor(alpha=1.0, beta=1.0))
            for i in range(size.arms)
        ]
        policy = module.ThompsonSampling()
        self.agent = module.ContextualAgent(arms, policy, random_seed=1)

    def step(self, context: Any, rewards: Any) -> None:
        """Choose, play and learn."""
        row = context[None, :]
        [arm] = self.agent.pull(row)
        self.agent.update(row, np.array([float(rewards[arm])]))


LEARNERS: dict[str, Callable[[Size], Any]] = {
    "mabwiser": MabWiser,
    "river": River,
    "bayesianbandits": BayesianBandits,
}


def measure(name: str, size: Size, seconds: float) -> float:
    """Return the median microseconds of a decision and its feedback, warmed up."""
    rng = np.random.default_rng(size.arms)
    contexts = rng.uniform(-1.0, 1.0, (KEPT, size.features))
    rewards = (rng.random((KEPT, size.arms)) < 0.5).astype(float)
    learner, times = LEARNERS[name](size), []
    end, number = time.perf_counter() + seconds, 0
    while time.perf_counter() < end or number < KEPT:
        start = time.perf_counter()
        learner.step(contexts[number % KEPT], rewards[number % KEPT])
        times.append(time.perf_counter() - start)
        number += 1
    return 1e6 * statistics.median(times[len(times) // 2 :])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = json.loads(sys.stdin.read())
    print(json.dumps(measure(given["name"], Size(*given["size"]), given["seconds"])))
