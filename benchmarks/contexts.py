"""Contexts: the agent beside a loop of vectorised NumPy and other libraries; a simulated round."""

from __future__ import annotations

import json
import subprocess
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.agent import Step, paired, ratio
from benchmarks.peers.contextual import LEARNERS
from benchmarks.peers.suite import PEERS_PYTHON, ROOT
from benchmarks.row import Row, best_seconds
from evenhand import Agent, Environment, Problem, make_policy, random_environment
from evenhand.beliefs.linear import LINEAR
from evenhand.core.arrays import Floats
from evenhand.core.contexts import ContextArrays, apply_context, draw_context
from evenhand.core.jit import compiled, inlined
from evenhand.core.nature import Awake, Payoffs, draw_awake, draw_rewards, own_nature
from evenhand.core.round import StepOptions
from evenhand.core.state import State
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, Streams, checkpoints, new_control, streams

SIZES = ((10, 3), (100, 10), (1_000, 10))
FEATURES = 10
WIDTH = 0.25
POLICIES = ("tscsf-b", "priced")
LARGEST = (1_000, 50)
PEER_SECONDS, PEERS_SLOWER, MOST_ARMS_OF_A_PEER = 3.0, 20.0, {"mabwiser": 1_000}
SIMULATED = ((10, 3, 300_000), (100, 10, 100_000))
MOST_OVER_DRAWS = 2.0


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
    rows = []
    for arms, plays in SIZES:
        rows += beside_others(arms, plays)
    for arms, plays, horizon in SIMULATED:
        rows += simulated(arms, plays, horizon)
    return [*rows, *large()]


def beside_others(arms: int, plays: int) -> list[Row]:
    """Return microseconds of ask and tell, and what the loop and other libraries take."""
    world = World(arms, plays)
    steps = {"numpy": world.loop(), **{name: world.agent(name) for name in POLICIES}}
    found, words = paired(steps), f"{arms:,} arms, {FEATURES} features"
    rows = [Row(f"{words}: the loop in NumPy", float(np.median(found["numpy"])), "us")]
    for name in POLICIES:
        rows.append(Row(f"{words}: {name}, ask + tell", float(np.median(found[name])), "us"))
        over = ratio(found[name], found["numpy"])
        rows.append(Row(f"{words}: {name} over the loop", over, at_most=1.5))
    ours = float(np.median(found["tscsf-b"]))
    for peer in LEARNERS:
        if arms <= MOST_ARMS_OF_A_PEER.get(peer, 100):
            taken = peer_microseconds(peer, arms, plays)
            rows.append(Row(f"{words}: {peer}, a decision and its feedback", taken, "us"))
            what = f"{words}: {peer} over tscsf-b"
            rows.append(Row(what, taken / ours, "x", at_least=PEERS_SLOWER))
    return rows


def peer_microseconds(name: str, arms: int, plays: int) -> float:
    """Return what a library takes, in a process of its own."""
    given = {"name": name, "size": [arms, plays, FEATURES], "seconds": PEER_SECONDS}
    done = subprocess.run(
        [str(PEERS_PYTHON), "-m", "benchmarks.peers.contextual"],
        cwd=ROOT,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(json.loads(done.stdout.splitlines()[-1]))


def draws(
    rounds: int,
    plays: int,
    awake: Awake,
    payoffs: Payoffs,
    contexts: ContextArrays,
    weights: Floats,
    state: State,
    belief: Any,
    options: StepOptions,
    given: Streams,
) -> float:
    """Draw what a round draws, quadratic forms included, and nothing else."""
    arms, total = weights.size, 0.0
    present, rewards, samples = np.empty(arms, dtype=np.int64), np.empty(arms), np.empty(arms)
    for now in range(rounds):
        apply_context(belief.context, awake, payoffs, contexts, weights, now, given.contexts)
        here = present[: draw_awake(present, awake, now, given.availability)]
        draw_rewards(rewards, payoffs, now, given.rewards)
        if here.size > plays:
            draw_samples(samples, here, state, belief, options, given.policy)
        total += rewards[0] + samples[0]
    return total


def draw_samples(*given: Any) -> None:
    """Stand for the draws of a belief."""


def simulated(arms: int, plays: int, horizon: int) -> list[Row]:
    """Return a simulated round over its draws and quadratic forms alone."""
    rng = np.random.default_rng(arms)
    environment = random_environment(rng, arms, plays, 0.8, FEATURES)
    words, rows = f"{arms:,} arms, {FEATURES} features", []
    for name in POLICIES:
        policy = make_policy(name, belief="linear")
        run = Run(environment, policy, horizon, checkpoints(horizon))
        state = run_compiled(run, streams(1, 0), new_control()).state
        alone = seconds_of_draws(environment, run, state) / horizon
        whole = best_seconds(partial(play_again, run), 5) / horizon
        rows += [
            Row(f"{words}: {name}, draws and quadratic forms of a round", alone * 1e9, "ns"),
            Row(f"{words}: {name}, a simulated round", whole * 1e9, "ns"),
            Row(f"{words}: {name}, over draws", whole / alone, "x", at_most=MOST_OVER_DRAWS),
        ]
    return rows


def play_again(run: Run) -> None:
    """Play a run once more."""
    run_compiled(run, streams(1, 0), new_control())


def seconds_of_draws(environment: Environment, run: Run, state: State) -> float:
    """Return what the draws of a run take alone, with what has been learned in as many rounds."""
    belief, problem = run.new_belief()[0], environment.problem
    applied = inlined(draws, "apply_context", inlined(apply_context, "draw_context", draw_context))
    machine = compiled(applied, draw_samples=LINEAR.draw)
    nature = own_nature(environment.awake, environment.payoffs)
    given = problem.plays, *nature, environment.contextual, problem.weights, state, belief
    options = run.resolved.options

    def draw() -> None:
        machine(run.horizon, *given, options, streams(1, 0))

    draw()
    return best_seconds(draw, 5)


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
