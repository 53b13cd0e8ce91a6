"""How time grows with arms, plays, rounds and replications: fitted exponents, and a figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.row import Row, best_seconds
from benchmarks.simulation import random_environment
from evenhand import Agent, find_optimum, make_policy, simulate
from evenhand.core.extras import load
from evenhand.figures import COLOURS, save
from evenhand.figures._style import styled
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, checkpoints, new_control, streams

FIGURE = Path(__file__).parents[1] / "docs" / "growth"
TURNS = 3


class Series(NamedTuple):
    """Seconds measured at several sizes, and how they should grow."""

    words: str
    axis: str
    sizes: tuple[int, ...]
    work: Callable[[int], Callable[[], object]]
    most: float


def round_of(arms: int, plays: int, rounds: int) -> Callable[[], object]:
    """Return a run of the compiled simulator."""
    environment = random_environment(arms, plays)
    run = Run(environment, make_policy("priced"), rounds, checkpoints(rounds))
    return lambda: run_compiled(run, streams(1, 0), new_control())


def replications(count: int) -> Callable[[], object]:
    environment = random_environment(10, 3)
    return lambda: simulate(
        environment, ["priced"], horizon=2_000, replications=count, workers=1, progress=False
    )


def decisions(arms: int) -> Callable[[], object]:
    agent = Agent(random_environment(arms, 3).problem, "priced", seed=1, compiled=True)

    def ask_and_tell() -> None:
        for _ in range(max(20, 20_000 // arms)):
            decision = agent.ask()
            agent.tell(decision.id, dict.fromkeys(decision.chosen, 0.5))

    return ask_and_tell


def optimum(arms: int) -> Callable[[], object]:
    environment = random_environment(arms, 10)
    return lambda: find_optimum(environment)


SERIES = (
    Series(
        "simulator", "arms N (m = 3)", (30, 100, 300, 1_000, 3_000, 10_000),
        lambda n: round_of(n, 3, 200), 1.15,
    ),
    Series(
        "simulator", "plays m (N = 1,000)", (1, 3, 10, 30, 100, 300),
        lambda m: round_of(1_000, m, 500), 0.5,
    ),
    Series(
        "simulator", "rounds T (N = 10)", (3_000, 10_000, 30_000, 100_000, 300_000),
        lambda t: round_of(10, 3, t), 1.1,
    ),
    Series(
        "simulator", "replications (T = 2,000)", (10, 30, 100, 300), replications, 1.1,
    ),
    Series(
        "exact optimum", "arms N (m = 10)", (1_000, 3_000, 10_000, 30_000, 100_000), optimum, 1.3,
    ),
)  # fmt: skip


def measure() -> list[Row]:
    """Return the fitted exponents, and draw the figure."""
    found = [(series, timed(series)) for series in SERIES]
    save(panels(found), FIGURE)
    return [
        Row(
            f"{series.words}: exponent in {series.axis}",
            exponent(series.sizes, seconds),
            at_most=series.most,
        )
        for series, seconds in found
    ]


def timed(series: Series) -> list[float]:
    seconds = []
    for size in series.sizes:
        work = series.work(size)
        work()
        seconds.append(best_seconds(work, TURNS))
    return seconds


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the slope of a line through the points on logarithmic axes."""
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)


@styled
def panels(found: Sequence[tuple[Series, list[float]]]) -> Any:
    """Draw a panel for each series: what was measured, and the line that was fitted."""
    figure, axes = load("matplotlib.pyplot").subplots(
        1, len(found), figsize=(2.1 * len(found), 2.2), layout="constrained"
    )
    for place, (series, seconds) in zip(axes, found, strict=True):
        slope = exponent(series.sizes, seconds)
        level = np.mean(np.log(seconds)) - slope * np.mean(np.log(series.sizes))
        line = [math.exp(level) * size**slope for size in series.sizes]
        place.loglog(series.sizes, line, color=COLOURS["opt-f"], linewidth=0.7)
        place.loglog(series.sizes, seconds, "o", color=COLOURS["priced"], markersize=3.5)
        place.set(xlabel=series.axis, title=f"{series.words}: {slope:.2f}")
    axes[0].set_ylabel("seconds")
    return figure
