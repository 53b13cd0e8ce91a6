"""The agent against a loop of vectorised NumPy; how it grows, remembers and is shared."""

from __future__ import annotations

import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.row import Row
from evenhand import Agent, Problem, make_policy
from evenhand.core.arrays import Floats

SIZES = ((10, 3, 1.5), (100, 10, 1.1), (1_000, 10, 1.1), (10_000, 10, 1.1))
BLOCKS = 60
BLOCK_SECONDS = 0.01
SETTLED = 1_100
THREAD_SECONDS = 10.0
WITHOUT_FEEDBACK = """
import resource
from evenhand import Agent, Problem
agent = Agent(Problem(10, plays=3, floors=0.1), "tscsf-b", seed=1)
seen = []
for rounds in (200_000, 800_000):
    for _ in range(rounds):
        agent.ask()
    seen.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
print(seen[1] - seen[0])
"""
Step = Callable[[int], object]


class NumpyLoop:
    """TSCSF-B in a dozen lines: no names, no checks, no decision log, one thread."""

    def __init__(self, problem: Problem) -> None:
        arms = len(problem.arms)
        self.rng, self.rounds, self.plays = np.random.default_rng(1), 0, problem.plays
        self.weights, self.floors = problem.weights, problem.floors
        self.played, self.count = np.zeros(arms), np.zeros(arms)
        self.sums, self.debts = np.zeros(arms), np.zeros(arms)

    def step(self, rewards: Floats) -> None:
        """Choose, play and learn."""
        samples = self.rng.beta(1.0 + self.sums, 1.0 + self.count - self.sums)
        scores = self.debts / 10.0 + self.weights * samples
        chosen = np.argpartition(scores, -self.plays)[-self.plays :]
        self.rounds += 1
        self.played[chosen] += 1
        self.debts = np.maximum(self.rounds * self.floors - self.played, 0.0)
        self.count[chosen] += 1
        self.sums[chosen] += rewards[chosen]


class World:
    """A problem with rewards that are drawn beforehand, as arrays and by name."""

    def __init__(self, arms: int, plays: int) -> None:
        rng = np.random.default_rng(arms)
        self.problem = Problem(arms, plays, floors=rng.uniform(0, 0.5 * plays / arms, arms))
        self.rewards = [(rng.random(arms) < 0.5).astype(np.float64) for _ in range(50)]
        names = self.problem.arms
        self.named = [dict(zip(names, row.tolist(), strict=True)) for row in self.rewards]

    def loop(self) -> Step:
        """Return a round of the NumPy loop."""
        loop = NumpyLoop(self.problem)
        return lambda k: loop.step(self.rewards[k % 50])

    def agent(self, policy: str) -> Step:
        """Return a round of an agent: ask and tell."""
        agent = Agent(self.problem, policy, seed=1, compiled=True)

        def step(k: int) -> None:
            decision, rewards = agent.ask(), self.named[k % 50]
            agent.tell(decision.id, {arm: rewards[arm] for arm in decision.chosen})

        return step


def measure() -> list[Row]:
    """Return all rows of this suite."""
    rows = [row for arms, plays, limit in SIZES for row in against_numpy(arms, plays, limit)]
    rows += [slowest(), *names(), *explaining(), *snapshots(), *threads(), memory()]
    return rows


def paired(steps: dict[str, Step], rounds: int = SETTLED) -> dict[str, list[float]]:
    """Return microseconds a round in many short blocks, one after the other in turns.

    On a machine that others use, too, only what was measured side by side can be compared.
    """
    for k in range(rounds):
        for step in steps.values():
            step(k)
    start = time.perf_counter()
    for step in steps.values():
        step(0)
    count = max(5, int(BLOCK_SECONDS * len(steps) / (time.perf_counter() - start)))
    found: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(BLOCKS):
        for name, step in steps.items():
            start = time.perf_counter()
            for k in range(count):
                step(k)
            found[name].append((time.perf_counter() - start) / count * 1e6)
    return found


def ratio(above: list[float], below: list[float]) -> float:
    """Return the median of the ratios of neighbouring blocks."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def against_numpy(arms: int, plays: int, limit: float) -> list[Row]:
    world = World(arms, plays)
    policies = ("tscsf-b", "priced")
    seen = paired({"loop": world.loop(), **{name: world.agent(name) for name in policies}})
    where = f"{arms:,} arms, {plays} plays"
    return [
        Row(f"{where}: NumPy loop", statistics.median(seen["loop"]), "us"),
        Row(f"{where}: tscsf-b, ask + tell", statistics.median(seen["tscsf-b"]), "us"),
        Row(f"{where}: priced, ask + tell", statistics.median(seen["priced"]), "us"),
        Row(
            f"{where}: tscsf-b over NumPy loop",
            ratio(seen["tscsf-b"], seen["loop"]),
            "x",
            at_most=limit,
        ),
        Row(
            f"{where}: priced over tscsf-b",
            ratio(seen["priced"], seen["tscsf-b"]),
            "x",
            at_most=1.3,
        ),
    ]


def slowest() -> Row:
    """Time the first 2,000 decisions of `priced` at 1,000 arms, refreshed prices and all."""
    world, ratios = World(1_000, 10), []
    for _ in range(3):
        agent, times = Agent(world.problem, "priced", seed=1, compiled=True), []
        for k in range(2_000):
            start = time.perf_counter()
            decision = agent.ask()
            times.append(time.perf_counter() - start)
            rewards = world.named[k % 50]
            agent.tell(decision.id, {arm: rewards[arm] for arm in decision.chosen})
        ratios.append(float(np.percentile(times, 99) / np.median(times)))
    return Row(
        "1,000 arms, priced: p99 over median, first 2,000",
        statistics.median(ratios),
        "x",
        at_most=5,
    )


def names() -> list[Row]:
    """Say what the form of the awake set costs."""
    world = World(1_000, 10)
    half = world.problem.arms[::2]
    forms = {
        "mask": np.arange(1_000) % 2 == 0,
        "places": np.arange(0, 1_000, 2),
        "names": list(half),
    }
    agent = Agent(world.problem, "tscsf-b", seed=1, compiled=True)
    seen = paired({name: partial(ask, agent, given) for name, given in forms.items()})
    return [
        Row(
            f"1,000 arms, 500 awake: {name} over a mask",
            ratio(seen[name], seen["mask"]),
            "x",
            at_most=2 if name == "names" else None,
        )
        for name in ("places", "names")
    ]


def ask(agent: Agent, awake: Any, _k: int) -> None:
    agent.ask(awake)


def explaining() -> list[Row]:
    rows = []
    for arms, plays in ((10, 3), (100, 10), (1_000, 10)):
        agent = Agent(World(arms, plays).problem, "priced", seed=1, compiled=True)
        for _ in range(300):
            decision = agent.ask()
            agent.tell(decision.id, dict.fromkeys(decision.chosen, 0.5))
        times = []
        for _ in range(5):
            start = time.perf_counter()
            agent.ask(explain=True)
            times.append(time.perf_counter() - start)
        rows.append(Row(f"{arms:,} arms: ask(explain=True)", statistics.median(times) * 1e3, "ms"))
    return rows


def snapshots() -> list[Row]:
    """100,000 remembered decisions of ten plays, all of them told about."""
    agent = Agent(World(20, 10).problem, "tscsf-b", seed=1, compiled=True)
    rng = np.random.default_rng(1)
    for _ in range(100_000):
        decision = agent.ask(rng.random(20) < 0.8)
        rewards = rng.random(len(decision.chosen)).tolist()
        agent.tell(decision.id, dict(zip(decision.chosen, rewards, strict=True)))
    start = time.perf_counter()
    text = agent.snapshot()
    written = time.perf_counter() - start
    start = time.perf_counter()
    Agent.restore(text, compiled=True)
    read = time.perf_counter() - start
    return [
        Row("100,000 decisions: snapshot", written, "s", at_most=1),
        Row("100,000 decisions: restore", read, "s", at_most=1),
    ]


def threads() -> list[Row]:
    """Two threads ask and tell as fast as they can; both keep books."""
    agent = Agent(Problem(100, plays=5, floors=0.01), make_policy("tscsf-b"), seed=1)
    books: list[Counter[str]] = [Counter(), Counter()]
    end = time.monotonic() + THREAD_SECONDS

    def work(book: Counter[str]) -> None:
        while time.monotonic() < end:
            decision = agent.ask()
            agent.tell(decision.id, dict.fromkeys(decision.chosen, 0.5))
            book.update(decision.chosen)

    workers = [threading.Thread(target=work, args=(book,)) for book in books]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    total = books[0] + books[1]
    state = agent._learner.state
    wrong = sum(
        state.played[i] != total[arm] or state.reward_sums[i] != total[arm] / 2
        for i, arm in enumerate(agent.problem.arms)
    )
    return [
        Row("two threads, 10 s: decisions per second", agent.rounds / THREAD_SECONDS, ""),
        Row("two threads, 10 s: arms whose totals are wrong", float(wrong), "", at_most=0),
    ]


def memory() -> Row:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_FEEDBACK], capture_output=True, text=True, check=True
    )
    what = "a million decisions without feedback: memory after the first 200,000"
    return Row(what, float(done.stdout), "MB", at_most=10)
