"""The compiled engine against the readable one, small against large, one core against all."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from statistics import fmean

import numpy as np

from benchmarks.row import Row, best_seconds
from evenhand import Environment, Policy, Problem, make_policy, simulate
from evenhand.core.arrays import Floats, Integers
from evenhand.simulation._engine import run_reference
from evenhand.simulation._tally import Tally
from evenhand.simulation.kernel import kernel_for, play_run, run_compiled
from evenhand.simulation.run import Run, checkpoints, new_control, streams
from evenhand.simulation.runner import Engine, available_cores

LONG_RUN = """
import re
from pathlib import Path
from evenhand import Environment, Problem, simulate
environment = Environment(Problem(10, plays=3, floors=0.1), 0.5, 0.8)
simulate(environment, ["tscsf-b"], horizon=10_000_000, progress=False)
status = Path("/proc/self/status").read_text()
print(int(re.search(r"VmHWM:\\s+(\\d+)", status).group(1)) / 1024)
"""


def measure() -> list[Row]:
    """Return all rows of this suite."""
    return [*engines(), *sizes(), priced(), *moments(), *cores(), memory()]


def setting_1() -> Environment:
    problem = Problem(3, plays=2, floors=[0.5, 0.6, 0.4])
    return Environment(problem, [0.4, 0.5, 0.7], [0.9, 0.8, 0.7])


def random_environment(arms: int, plays: int) -> Environment:
    rng = np.random.default_rng(arms)
    floors = rng.uniform(0, 0.5 * plays / arms, arms)
    problem = Problem(arms, plays, floors=floors)
    return Environment(problem, rng.uniform(size=arms), rng.uniform(0.5, 1, arms))


def seconds_per_round(
    engine: Engine, environment: Environment, horizon: int, policy: Policy
) -> float:
    run = Run(environment, policy, horizon, checkpoints(horizon))
    engine(run, streams(1, 0), new_control())
    return best_seconds(lambda: engine(run, streams(1, 0), new_control())) / horizon


def engines() -> list[Row]:
    rows = []
    for name in ("tscsf-b", "lfg"):
        policy = make_policy(name)
        fast = seconds_per_round(run_compiled, setting_1(), 500_000, policy)
        slow = seconds_per_round(run_reference, setting_1(), 5_000, policy)
        wish = 100 if name == "tscsf-b" else None
        rows += [
            Row(f"{name}, setting 1: compiled", 1e-6 / fast, "M rounds/s"),
            Row(f"{name}, setting 1: reference", 1e-6 / slow, "M rounds/s"),
            Row(f"{name}, setting 1: compiled over reference", slow / fast, "x", wish),
        ]
    return rows


def sizes() -> list[Row]:
    policy = make_policy("tscsf-b")
    small = seconds_per_round(run_compiled, random_environment(10, 3), 100_000, policy) / 10
    large = seconds_per_round(run_compiled, random_environment(100_000, 100), 50, policy) / 100_000
    return [
        Row("N = 10, m = 3: per arm and round", small * 1e9, "ns"),
        Row("N = 100,000, m = 100: per arm and round", large * 1e9, "ns"),
        Row("N = 100,000 over N = 10, per arm and round", large / small, "x", at_most=1.6),
    ]


def priced() -> Row:
    environment = random_environment(1_000, 20)
    plain, ours = (
        seconds_per_round(run_compiled, environment, 20_000, make_policy(name))
        for name in ("tscsf-b", "priced")
    )
    return Row("N = 1,000, m = 20: priced over tscsf-b", ours / plain, "x", at_most=1.25)


def count_nothing(tally: Tally, floors: Floats, chosen: Integers, count: int, rounds: int) -> None:
    """Stand in for what counts every moment."""


def moments() -> list[Row]:
    """Return what the figures of every moment cost: both kernels in turns, the best of each."""
    ratios = {}
    for name in ("tscsf-b", "lfg", "priced"):
        for arms, plays, horizon in ((3, 2, 300_000), (10, 3, 100_000), (100, 10, 20_000)):
            environment = setting_1() if arms == 3 else random_environment(arms, plays)
            run = Run(environment, make_policy(name), horizon, checkpoints(horizon))
            ratios[name, arms] = cost_of_moments(run)
    mean = math.exp(fmean(map(math.log, ratios.values())))
    return [
        *(
            Row(f"{name}, N = {arms}: figures of every moment, over none", ratio, "x")
            for (name, arms), ratio in ratios.items()
        ),
        Row("figures of every moment, over none: geometric mean", mean, "x", at_most=1.05),
    ]


def cost_of_moments(run: Run, turns: int = 25) -> float:
    kernels = kernel_for(run.policy), kernel_for(run.policy, count_moment=count_nothing)
    times = [math.inf, math.inf]
    for turn in range(turns + 1):
        for place, kernel in enumerate(kernels):
            start = time.perf_counter()
            play_run(kernel, run, streams(1, 0), new_control())
            if turn > 0:
                times[place] = min(times[place], time.perf_counter() - start)
    return times[0] / times[1]


def cores() -> list[Row]:
    def seconds(workers: int) -> float:
        return min(
            simulate(
                setting_1(),
                ["tscsf-b", "lfg"],
                horizon=20_000,
                replications=100,
                workers=workers,
                progress=False,
            ).seconds
            for _ in range(3)
        )

    one, every = seconds(1), seconds(available_cores())
    return [Row(f"{available_cores()} cores over one, 200 runs", one / every, "x", at_least=1.7)]


def memory() -> Row:
    done = subprocess.run(
        [sys.executable, "-c", LONG_RUN], capture_output=True, text=True, check=True
    )
    return Row("10,000,000 rounds at N = 10: memory", float(done.stdout), "MB", at_most=500)
