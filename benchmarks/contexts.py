"""The agent with contexts against a loop of vectorised NumPy, and what a belief takes to hold."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.agent import Step, paired, ratio
from benchmarks.row import Row
from evenhand import Agent, Problem, make_policy
from evenhand.core.arrays import Floats

SIZES = ((10, 3), (100, 10), (1_000, 10))
FEATURES = 10
WIDTH = 0.25
POLICIES = ("tscsf-b", "priced")
LARGEST = (1_000, 50)


class NumpyLoop:
    """Linear Thompson sampling with debts: inverses by Sherman and Morrison, no checks, no log."""

    def __init__(self, problem: Problem) -> None:
        arms, size = len(problem.arms), FEATURES + 1
        self.rng, self.rounds, self.plays = np.random.default_rng(1), 0, problem.plays
        self.floors, self.played, self.debts = problem.floors, np.zeros(arms), np.zeros(arms)
        self.inverses = np.tile(np.eye(size), (arms, 1, 1))
        self.sums, self.means = np.zeros((arms, size)), np.zeros((arms, size))

    def step(self, context: Floats, rewards: Floats) -> None:
        """Choose, play and learn."""
        spread = np.sqrt((self.inverses @ context) @ context)
        samples = self.means @ context + WIDTH * spread * self.rng.standard_normal(spread.size)
        scores = self.debts / 10.0 + samples
        chosen = np.argpartition(scores, -self.plays)[-self.plays :]
        self.rounds += 1
        self.played[chosen] += 1
        self.debts = np.maximum(self.rounds * self.floors - self.played, 0.0)
        far = self.inverses[chosen] @ context
        scale = 1.0 + far @ context
        self.inverses[chosen] -= far[:, :, None] * far[:, None, :] / scale[:, None, None]
        self.sums[chosen] += rewards[chosen, None] * context
        self.means[chosen] = (self.inverses[chosen] @ self.sums[chosen][:, :, None])[:, :, 0]


class World:
    """A problem with contexts and rewards that are drawn beforehand."""

    def __init__(self, arms: int, plays: int) -> None:
        rng = np.random.default_rng(arms)
        features = {f"feature {i}": (-1, 1) for i in range(FEATURES)}
        floors = rng.uniform(0, 0.5 * plays / arms, arms)
        self.problem = Problem(arms, plays, floors=floors, features=features)
        self.contexts = rng.uniform(-1.0, 1.0, (50, FEATURES))
        self.rewards = (rng.random((50, arms)) < 0.5).astype(np.float64)

    def loop(self) -> Step:
        """Return a round of the NumPy loop."""
        loop = NumpyLoop(self.problem)
        encoded = np.column_stack([np.ones(50), self.contexts])
        return lambda k: loop.step(encoded[k % 50], self.rewards[k % 50])

    def agent(self, policy: str) -> Step:
        """Return a round of an agent: ask and tell."""
        agent = Agent(self.problem, make_policy(policy), seed=1, compiled=True)
        names = self.problem.arms
        named = [dict(zip(names, row.tolist(), strict=True)) for row in self.rewards]

        def step(k: int) -> None:
            decision, rewards = agent.ask(context=self.contexts[k % 50]), named[k % 50]
            agent.tell(decision.id, {arm: rewards[arm] for arm in decision.chosen})

        return step


def measure() -> list[Row]:
    """Return all rows of this suite."""
    return [*(row for arms, plays in SIZES for row in against_numpy(arms, plays)), *large()]


def against_numpy(arms: int, plays: int) -> list[Row]:
    """Return microseconds of ask and tell, and their ratio to the loop's."""
    world = World(arms, plays)
    steps = {"numpy": world.loop(), **{name: world.agent(name) for name in POLICIES}}
    found, words = paired(steps), f"{arms:,} arms, {FEATURES} features"
    rows = [Row(f"{words}: the loop in NumPy", float(np.median(found["numpy"])), "us")]
    for name in POLICIES:
        rows.append(Row(f"{words}: {name}, ask + tell", float(np.median(found[name])), "us"))
        over = ratio(found[name], found["numpy"])
        rows.append(Row(f"{words}: {name} over the loop", over, at_most=1.5))
    return rows


def large() -> list[Row]:
    """Return what an agent of many arms and features takes."""
    arms, features = LARGEST
    problem = Problem(arms, plays=10, features={f"feature {i}": (-1, 1) for i in range(features)})
    agent, rng = Agent(problem, "tscsf-b", seed=1), np.random.default_rng(1)
    held = sum(array.nbytes for array in agent._learner.belief) / 1e6
    times = []
    for _ in range(50):
        start = time.perf_counter()
        decision = agent.ask(context=rng.uniform(-1.0, 1.0, features))
        agent.tell(decision, dict.fromkeys(decision.chosen, 1.0))
        times.append(time.perf_counter() - start)
    words = f"{arms:,} arms, {features} features"
    return [
        Row(f"{words}: ask + tell", 1e3 * float(np.median(times)), "ms"),
        Row(f"{words}: statistics", held, "MB"),
    ]
