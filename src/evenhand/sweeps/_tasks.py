"""A task: a few seconds of consecutive runs, played by a worker and returned as Parquet.

This is all that runs on a worker. It needs nothing but the task: no file and no state.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Integers
from evenhand.core.delay import Delay
from evenhand.core.extras import load
from evenhand.core.sealed import sealed_parquet
from evenhand.errors import EvenhandError
from evenhand.results import Anytime
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, RunControl, checkpoints, new_control, streams
from evenhand.simulation.runner import warm_up
from evenhand.sweeps._instances import prepare
from evenhand.sweeps._parts import line_of, part_of, part_schema
from evenhand.sweeps._versions import Versions, check_versions
from evenhand.sweeps.grid import Cell


class ReplicationRange(NamedTuple):
    """Consecutive replications of one cell, and the number of the first of them in the grid."""

    cell: Cell
    start: int
    stop: int
    first: int

    @property
    def runs(self) -> int:
        """How many runs it has."""
        return self.stop - self.start

    def split(self, runs: int) -> tuple[ReplicationRange, ReplicationRange]:
        """Return the first runs, and the rest."""
        middle = self.start + runs
        return self._replace(stop=middle), self._replace(start=middle, first=self.first + runs)


class Task(NamedTuple):
    """Ranges of replications that a worker plays together, and what they depend on."""

    spans: tuple[ReplicationRange, ...]
    seed: int
    delay: Delay
    checkpoints: tuple[int, int]
    anytime: Anytime
    digest: str
    versions: Versions

    @property
    def runs(self) -> range:
        """The numbers of its runs in the grid."""
        last = self.spans[-1]
        return range(self.spans[0].first, last.first + last.runs)

    def singles(self) -> Iterator[Task]:
        """Yield each run as a task of its own."""
        for span in self.spans:
            for offset in range(span.runs):
                _, rest = span.split(offset)
                yield self._replace(spans=(rest.split(1)[0],))


class Part(NamedTuple):
    """What a worker returns: the content of a Parquet file, and the seconds of each range."""

    content: bytes
    seconds: tuple[float, ...]


class PlayError(EvenhandError):
    """A run failed; the reason in words, since not every exception can be pickled."""


def play_task(task: Task, stop: Integers | None = None) -> Part:
    """Play all runs of a task; it stops when ``stop`` is no longer 0."""
    check_versions(task.versions, (span.cell for span in task.spans))
    columns: dict[str, list[Any]] = {name: [] for name in part_schema()}
    try:
        seconds = tuple(_play(span, task, columns, stop) for span in task.spans)
    except Exception as error:
        raise PlayError(f"{type(error).__name__}: {error}") from None
    table = load("polars").DataFrame(columns, schema=part_schema())
    about = {**part_of(task.digest, task.runs), "seed": task.seed, "versions": task.versions}
    return Part(sealed_parquet(table, about), seconds)


def _play(
    span: ReplicationRange, task: Task, columns: dict[str, list[Any]], stop: Integers | None
) -> float:
    """Play the runs of a range into the columns; return the seconds, preparation not counted."""
    cell = span.cell
    prepared = prepare(cell.instance.source, cell.horizon, task.checkpoints)
    rounds = checkpoints(cell.horizon, *task.checkpoints)
    run = Run(prepared.environment, cell.policy, cell.horizon, rounds, task.delay, task.anytime)
    warm_up(run_compiled, [run])
    control = new_control() if stop is None else RunControl(np.zeros(16, dtype=np.int64), stop)
    start = time.perf_counter()
    for replication in range(span.start, span.stop):
        record = run_compiled(run, streams(task.seed, replication), control)
        kept = rounds if replication == span.start else None
        line = line_of(cell.number, replication, prepared, record, kept)
        for column, value in zip(columns.values(), line, strict=True):
            column.append(value)
    return time.perf_counter() - start
