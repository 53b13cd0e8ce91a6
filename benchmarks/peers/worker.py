"""Plays one library on one instance and prints what came of it, as JSON: what to do is read."""

from __future__ import annotations

import json
import statistics
import sys
import time
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.peers.adapters import LEARNERS, Learner, World

BLOCK = 200
WARM = 5


def play(learner: Learner, world: World, seconds: float, rounds: int) -> dict[str, Any]:
    """Play rounds until they or the time are over; time a decision, and the round around it.

    A round in which no more arms are awake than are played leaves no choice: it is not timed.
    """
    rng = np.random.default_rng(world.seed)
    means, chances = np.array(world.means), np.array(world.availability)
    decided: list[float] = []
    rounds_taken: list[float] = []
    earned, possible, played, end = 0.0, 0.0, 0, time.perf_counter() + seconds
    while played < rounds and (played <= WARM or time.perf_counter() < end):
        begin = time.perf_counter()
        awake = rng.random(means.size) < chances
        coins = rng.random(means.size) < means
        if awake.sum() <= world.plays:
            continue
        start = time.perf_counter()
        chosen = learner.choose(awake)
        between = time.perf_counter()
        rewards = [int(coins[i]) for i in chosen]
        again = time.perf_counter()
        learner.learn(chosen, rewards)
        stop = time.perf_counter()
        played += 1
        if played > WARM:
            decided.append(between - start + stop - again)
            rounds_taken.append(stop - begin)
        earned += float(means[chosen].sum())
        possible += float(np.sort(means[awake])[-world.plays :].sum())
    return {
        "microseconds": typical(decided),
        "round": typical(rounds_taken),
        "rounds": played,
        "reward": earned / played,
        "best": possible / played,
    }


def typical(times: list[float]) -> float:
    """Return microseconds: the median of the means of blocks."""
    blocks = [statistics.fmean(times[k : k + BLOCK]) for k in range(0, len(times), BLOCK)]
    return statistics.median(blocks) * 1e6


def main() -> None:
    """Read what to play, and print what came of it."""
    warnings.simplefilter("ignore")
    given = json.load(sys.stdin)
    world, name = World(**given["world"]), given["name"]
    try:
        learner = LEARNERS[name](world)
        found = play(learner, world, given["seconds"], given["rounds"])
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({**found, "version": version(name)}))


if __name__ == "__main__":
    main()
