"""The limit: what the random draws of a round take alone, beside the whole round."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.row import Row, best_seconds
from benchmarks.simulation import random_environment, setting_1
from evenhand import Environment, make_policy
from evenhand.core.arrays import Floats, Integers
from evenhand.core.choosing import choose
from evenhand.core.jit import compiled
from evenhand.core.nature import Awake, Payoffs, draw_awake, draw_rewards
from evenhand.core.round import StepOptions, draw_samples
from evenhand.core.state import NoStatistics, State
from evenhand.policies.policy import Policy
from evenhand.simulation.kernel import kernel_for, play_run, run_compiled
from evenhand.simulation.run import Run, Streams, checkpoints, new_control, streams

SIZES = ((3, 2, 400_000), (10, 3, 200_000), (100, 10, 20_000), (10_000, 10, 200))
POLICIES = ("tscsf-b", "priced")
MOST = 1.5

NONE = NoStatistics()


def draws(
    rounds: int,
    plays: int,
    awake: Awake,
    payoffs: Payoffs,
    state: State,
    options: StepOptions,
    given: Streams,
) -> float:
    """Draw what a round draws, and nothing else: who wakes, what all would return, samples."""
    arms, total = state.debts.size, 0.0
    present, rewards, samples = np.empty(arms, dtype=np.int64), np.empty(arms), np.empty(arms)
    for now in range(rounds):
        here = present[: draw_awake(present, awake, now, given.availability)]
        draw_rewards(rewards, payoffs, now, given.rewards)
        if here.size > plays:
            draw_samples(samples, here, state, NONE, options, given.policy)
        total += rewards[0] + samples[0]
    return total


def choose_twice(
    chosen: Integers,
    awake: Integers,
    scores: Floats,
    scratch: Floats,
    plays: int,
    rng: np.random.Generator,
) -> int:
    """Choose, and choose again: the second time is what the first one takes."""
    choose(chosen, awake, scores, scratch, plays, rng)
    return choose(chosen, awake, scores, scratch, plays, rng)


def measure() -> list[Row]:
    """Return a round over its draws, for several sizes, and what else takes its time."""
    rows = []
    for arms, plays, horizon in SIZES:
        environment = setting_1() if arms == 3 else random_environment(arms, plays)
        for name in POLICIES:
            rows += beside(environment, make_policy(name), horizon)
    return rows


def beside(environment: Environment, policy: Policy, horizon: int) -> list[Row]:
    run = Run(environment, policy, horizon, checkpoints(horizon))
    state = run_compiled(run, streams(1, 0), new_control()).state
    machine: Any = compiled(draws)
    plays = environment.problem.plays
    given = plays, environment.awake, environment.payoffs, state, policy.options

    def draw() -> None:
        machine(horizon, *given, streams(1, 0))

    draw()
    alone = best_seconds(draw, 9) / horizon
    whole = best_seconds(lambda: run_compiled(run, streams(1, 0), new_control()), 9) / horizon
    words = f"{policy.name}, N = {len(environment.problem.arms):,}"
    return [
        Row(f"{words}: the draws of a round", alone * 1e9, "ns"),
        Row(f"{words}: a round", whole * 1e9, "ns"),
        Row(f"{words}: a round over its draws", whole / alone, "x", at_most=MOST),
        Row(f"{words}: of which choosing", (choosing_twice(run) - whole) * 1e9, "ns"),
    ]


def choosing_twice(run: Run) -> float:
    """Return the seconds of a round in which the choice is made twice.

    Leaving it out instead would change what is played, and so what is drawn.
    """
    kernel = kernel_for(run.policy, choose=choose_twice)
    play_run(kernel, run, streams(1, 0), new_control())
    seconds = best_seconds(lambda: play_run(kernel, run, streams(1, 0), new_control()), 9)
    return seconds / run.horizon
