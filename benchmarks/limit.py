"""The limit: what the random draws of a round take alone, beside the whole round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.row import Row, best_seconds
from benchmarks.simulation import count_nothing, random_environment, setting_1
from evenhand import Environment, make_policy
from evenhand._base.arrays import Floats, Integers
from evenhand._base.machine import compiled
from evenhand._base.nature import Awake, Payoffs, draw_awake, draw_rewards
from evenhand._base.terms import Terms
from evenhand.policies._policy import Policy
from evenhand.policies._state import State
from evenhand.policies._steps import Forms, draw_samples
from evenhand.simulation._kernel import kernel_for, play_run, run_compiled
from evenhand.simulation._run import Run, Streams, checkpoints, new_watch, streams

SIZES = ((3, 2, 400_000), (10, 3, 200_000), (100, 10, 20_000), (10_000, 10, 200))
POLICIES = ("tscsf-b", "priced")
MOST = 1.5


def draws(
    rounds: int,
    plays: int,
    awake: Awake,
    payoffs: Payoffs,
    state: State,
    forms: Forms,
    given: Streams,
) -> float:
    """Draw what a round draws, and nothing else: who wakes, what all would return, samples."""
    arms, total = state.debts.size, 0.0
    present, rewards, samples = np.empty(arms, dtype=np.int64), np.empty(arms), np.empty(arms)
    for now in range(rounds):
        here = present[: draw_awake(present, awake, now, given.availability)]
        draw_rewards(rewards, payoffs, now, given.rewards)
        if here.size > plays:
            draw_samples(samples, here, state, forms, given.policy)
        total += rewards[0] + samples[0]
    return total


def choose_first(
    chosen: Integers,
    awake: Integers,
    scores: Floats,
    scratch: Floats,
    plays: int,
    rng: np.random.Generator,
) -> int:
    """Stand in for the choice: the first that are awake."""
    count = min(plays, awake.size)
    for j in range(count):
        chosen[j] = awake[j]
    return count


def advance_clock(
    state: State, terms: Terms, awake: Integers, chosen: Integers, forms: Forms
) -> None:
    """Stand in for counting: the clock alone, no plays, awake counts or debts."""
    state.rounds[0] += 1


LEFT_OUT: dict[str, Callable[..., Any]] = {
    "choose": choose_first,
    "advance": advance_clock,
    "count_moment": count_nothing,
}
WORDS = {
    "choose": "choosing",
    "advance": "counting plays, awake arms and debts",
    "count_moment": "figures of every moment",
}


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
    state = run_compiled(run, streams(1, 0), new_watch()).state
    machine: Any = compiled(draws)
    plays = environment.problem.plays
    given = plays, environment.awake, environment.payoffs, state, policy.forms

    def draw() -> None:
        machine(horizon, *given, streams(1, 0))

    draw()
    alone = best_seconds(draw, 9) / horizon
    whole = best_seconds(lambda: run_compiled(run, streams(1, 0), new_watch()), 9) / horizon
    words = f"{policy.name}, N = {len(environment.problem.arms):,}"
    return [
        Row(f"{words}: the draws of a round", alone * 1e9, "ns"),
        Row(f"{words}: a round", whole * 1e9, "ns"),
        Row(f"{words}: a round over its draws", whole / alone, "x", at_most=MOST),
        *(
            Row(f"{words}: of which {WORDS[step]}", (whole - without(step, run)) * 1e9, "ns")
            for step in LEFT_OUT
            if whole / alone > MOST
        ),
    ]


def without(step: str, run: Run) -> float:
    """Return the seconds of a round in which a step is left out."""
    kernel = kernel_for(run.policy, **{step: LEFT_OUT[step]})
    play_run(kernel, run, streams(1, 0), new_watch())
    seconds = best_seconds(lambda: play_run(kernel, run, streams(1, 0), new_watch()), 9)
    return seconds / run.horizon
