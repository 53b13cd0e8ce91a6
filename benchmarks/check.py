"""Eight key paths against the last recorded ones: ratios to a unit of work, not seconds.

The unit is a fixed mixture of NumPy's random numbers and plain Python, timed in turns with every
path, so that a machine that is slow for a while is slow for both.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.simulation import random_environment, setting_1
from evenhand import Agent, Generated, Grid, find_optimum, make_policy, run_sweep
from evenhand.core.checks import check_known
from evenhand.core.provenance import provenance
from evenhand.core.storage import write_text
from evenhand.simulation._engine import run_reference
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, checkpoints, new_control, streams

RECORDED = Path(__file__).with_name("recorded.json")
TURNS = 15
SLOWER = 1.25
Work = Callable[[], object]


def unit() -> float:
    """Do a fixed amount of work, by about 5 ms."""
    rng, total = np.random.default_rng(1), 0.0
    for _ in range(100):
        total += float(rng.beta(2.0, 3.0, 300).max())
    for k in range(30_000):
        total += k & 3
    return total


def played(arms: int, plays: int, rounds: int, policy: str, *, compiled: bool = True) -> Work:
    environment = setting_1() if arms == 3 else random_environment(arms, plays)
    run = Run(environment, make_policy(policy), rounds, checkpoints(rounds))
    engine = run_compiled if compiled else run_reference
    return lambda: engine(run, streams(1, 0), new_control())


def served(arms: int, plays: int, count: int) -> Work:
    agent = Agent(random_environment(arms, plays).problem, "priced", seed=1, compiled=True)

    def work() -> None:
        for _ in range(count):
            decision = agent.ask()
            agent.tell(decision.id, dict.fromkeys(decision.chosen, 0.5))

    for _ in range(20):
        work()
    return work


def remembered() -> Work:
    agent = Agent(random_environment(20, 5).problem, "tscsf-b", seed=1, compiled=True)
    for _ in range(1_000):
        decision = agent.ask()
        agent.tell(decision.id, dict.fromkeys(decision.chosen, 0.5))
    return lambda: Agent.restore(agent.snapshot(), compiled=True)


def swept() -> Work:
    grid = Grid({"random": Generated(10, 3, 0.9, seed=1)}, ["priced", "lfg"], 500, 10)
    return lambda: run_sweep(grid, backend="threads", workers=1)


def solved() -> Work:
    environment = random_environment(1_000, 20)
    return lambda: find_optimum(environment)


PATHS: dict[str, Callable[[], Work]] = {
    "simulator, tscsf-b in setting 1": lambda: played(3, 2, 20_000, "tscsf-b"),
    "simulator, priced with 100 arms": lambda: played(100, 10, 1_000, "priced"),
    "readable engine": lambda: played(3, 2, 150, "tscsf-b", compiled=False),
    "ask and tell, 10 arms": lambda: served(10, 3, 200),
    "ask and tell, 1,000 arms": lambda: served(1_000, 10, 30),
    "exact optimum, 1,000 arms": solved,
    "snapshot and restore": remembered,
    "sweep in memory": swept,
}


def ratio_of(work: Work) -> float:
    """Return the median ratio of a path to the unit, in turns."""
    work()
    ratios = []
    for _ in range(TURNS):
        start = time.perf_counter()
        unit()
        between = time.perf_counter()
        work()
        ratios.append((time.perf_counter() - between) / (between - start))
    return statistics.median(ratios)


def main() -> None:
    """Compare with what is recorded, or record with ``--record``; exit code 1 if one is slower."""
    found = {name: ratio_of(make()) for name, make in PATHS.items()}
    if "--record" in sys.argv:
        write_text(RECORDED, json.dumps({"provenance": provenance({}), "ratios": found}, indent=2))
    before = json.loads(RECORDED.read_text(encoding="utf-8"))["ratios"]
    table = Table(box=None, pad_edge=False)
    for heading in ("path", "recorded", "now", "now / recorded", ""):
        table.add_column(heading, justify="left" if heading == "path" else "right")
    check_known("recorded path; --record it first,", found, before)
    slower = []
    for name, ratio in found.items():
        change = ratio / before[name]
        if change > SLOWER:
            slower.append(name)
        words = "[red]slower[/red]" if change > SLOWER else ""
        table.add_row(name, f"{before[name]:.3f}", f"{ratio:.3f}", f"{change:.2f}", words)
    Console(highlight=False).print(table)
    sys.exit(f"slower than recorded by over a quarter: {'; '.join(slower)}" if slower else 0)


if __name__ == "__main__":
    main()
