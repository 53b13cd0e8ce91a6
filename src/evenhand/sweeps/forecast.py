"""How long a sweep should take, from short runs of the kinds of cells that it has."""

from __future__ import annotations

import time
from typing import NamedTuple

from evenhand.simulation._kernel import run_compiled
from evenhand.simulation.run import Run, new_watch, streams
from evenhand.simulation.runner import warm_up
from evenhand.sweeps.grid import Cell, Grid
from evenhand.sweeps.instances import prepare
from evenhand.sweeps.speed import Speed
from evenhand.sweeps.tasks import kept_rounds

PROBES = 24
PROBE_SECONDS = 0.05
FIRST_ROUNDS = 100


class Forecast(NamedTuple):
    """Seconds on one core, how many cells were measured for it, and what was learned from them."""

    seconds: float
    probes: int
    speed: Speed


def forecast(grid: Grid) -> Forecast:
    """Measure some kinds of cells for a moment each, and add up the whole grid."""
    speed = Speed()
    kinds = {Speed.kind(cell): cell for cell in map(grid.cell, range(grid.cells))}
    step = max(1, -(-len(kinds) // PROBES))
    probed = list(kinds.values())[::step]
    for cell in probed:
        speed.learn(cell, 1, probe(cell, grid))
    total = sum(speed.seconds(grid.cell(number)) for number in range(grid.cells))
    return Forecast(total * grid.replications, len(probed), speed)


def probe(cell: Cell, grid: Grid) -> float:
    """Return the seconds of one run, scaled up from a part of it that takes a moment."""
    environment = prepare(cell.instance).environment
    rounds = min(FIRST_ROUNDS, cell.horizon)
    while True:
        run = Run(environment, cell.policy, rounds, kept_rounds(rounds), grid.delay)
        warm_up(run_compiled, [run])
        start = time.perf_counter()
        run_compiled(run, streams(grid.seed, 0), new_watch())
        seconds = time.perf_counter() - start
        if seconds >= PROBE_SECONDS or rounds == cell.horizon:
            return seconds * cell.horizon / rounds
        rounds = min(rounds * 4, cell.horizon)
