"""How long a sweep should take, from short runs of the kinds of cells that it has."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from evenhand.errors import EvenhandError
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, checkpoints, new_control, streams
from evenhand.simulation.runner import warm_up
from evenhand.sweeps._instances import PickledEnvironment, prepare
from evenhand.sweeps._speed import Speed, by_cell
from evenhand.sweeps.grid import Cell, Grid

PROBES = 24
PROBE_SECONDS = 0.05
FIRST_ROUNDS = 100


class Forecast(NamedTuple):
    """Seconds on one core, how many kinds of cells were measured for it, and what came to light."""

    seconds: float
    probes: int
    speed: Speed
    warnings: list[str]


def forecast(grid: Grid, missing: Sequence[range]) -> Forecast:
    """Measure some kinds of cells for a moment each, and add up what is missing of the grid."""
    speed, warnings = Speed(), infeasible(grid)
    kinds = {speed.kind(span.cell): span.cell for span in by_cell(grid, missing)}
    step = max(1, -(-len(kinds) // PROBES))
    probed = list(kinds.values())[::step]
    start = time.perf_counter()
    for cell in probed:
        with suppress(EvenhandError):  # told below, when it is played
            prepare(cell.instance.source, cell.horizon, grid.checkpoints)
    preparing = (time.perf_counter() - start) / max(len(probed), 1) * len(grid.instances)
    for cell in probed:
        try:
            speed.learn(cell, 1, probe(cell, grid))
        except EvenhandError as error:
            warnings.append(f"{cell.cell_id} cannot be played: {error}")
    playing = sum(speed.seconds(span.cell) * span.runs for span in by_cell(grid, missing))
    share = sum(map(len, missing)) / grid.runs
    return Forecast(playing + preparing * share, len(probed), speed, warnings)


def infeasible(grid: Grid) -> list[str]:
    """Say which given instances have floors that no policy could keep, for which horizons."""
    warnings = []
    for instance in grid.instances:
        if isinstance(instance.source, PickledEnvironment):
            lost = [
                f"{horizon:,}"
                for horizon in grid.numbering.limit(instance.name).horizons
                if prepare(instance.source, horizon, grid.checkpoints).best.with_floors is None
            ]
            if lost:
                warnings.append(
                    f"the floors of instance {instance.name!r} cannot all be kept: it has no "
                    f"regret at T = {', '.join(lost)}"
                )
    return warnings


def probe(cell: Cell, grid: Grid) -> float:
    """Return the seconds of one run, scaled up from a part of it that takes a moment."""
    environment = prepare(cell.instance.source, cell.horizon, grid.checkpoints).environment
    rounds = min(FIRST_ROUNDS, cell.horizon)
    while True:
        run = Run(
            environment, cell.policy, rounds, checkpoints(rounds, *grid.checkpoints), grid.delay
        )
        warm_up(run_compiled, [run])
        start = time.perf_counter()
        run_compiled(run, streams(grid.seed, 0), new_control())
        seconds = time.perf_counter() - start
        if seconds >= PROBE_SECONDS or rounds == cell.horizon:
            return seconds * cell.horizon / rounds
        rounds = min(rounds * 4, cell.horizon)
