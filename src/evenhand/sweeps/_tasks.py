"""A task: about a second or more of neighbouring runs, played by a worker and sent back as Parquet.

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
from evenhand.simulation.run import Run, Watch, checkpoints, new_watch, streams
from evenhand.simulation.runner import warm_up
from evenhand.sweeps._instances import prepare
from evenhand.sweeps._parts import line_of, part_of, part_schema
from evenhand.sweeps._versions import Versions, check_versions
from evenhand.sweeps.grid import Cell


class Piece(NamedTuple):
    """Neighbouring replications of one cell, and the number of the first of them in the grid."""

    cell: Cell
    start: int
    stop: int
    first: int

    @property
    def runs(self) -> int:
        """How many runs it has."""
        return self.stop - self.start

    def split(self, runs: int) -> tuple[Piece, Piece]:
        """Return the first runs, and the rest."""
        middle = self.start + runs
        return self._replace(stop=middle), self._replace(start=middle, first=self.first + runs)


class Task(NamedTuple):
    """Pieces that are played together, and what they all depend on."""

    pieces: tuple[Piece, ...]
    seed: int
    delay: Delay
    checkpoints: tuple[int, int]
    anytime: Anytime
    digest: str
    versions: Versions

    @property
    def runs(self) -> range:
        """The numbers of its runs in the grid."""
        last = self.pieces[-1]
        return range(self.pieces[0].first, last.first + last.runs)

    def singles(self) -> Iterator[Task]:
        """Yield each run as a task of its own."""
        for piece in self.pieces:
            for place in range(piece.runs):
                _, rest = piece.split(place)
                yield self._replace(pieces=(rest.split(1)[0],))


class Part(NamedTuple):
    """What a worker sends back: a Parquet file's content, and seconds played of each piece."""

    content: bytes
    seconds: tuple[float, ...]


class PlayError(EvenhandError):
    """A run could not be played; says why in words, since not every exception can travel."""


def play_task(task: Task, stop: Integers | None = None) -> Part:
    """Play all runs of a task; ``stop`` becomes other than 0 when nobody waits for it any more."""
    check_versions(task.versions, (piece.cell for piece in task.pieces))
    columns: dict[str, list[Any]] = {name: [] for name in part_schema()}
    try:
        seconds = tuple(_play(piece, task, columns, stop) for piece in task.pieces)
    except Exception as error:
        raise PlayError(f"{type(error).__name__}: {error}") from None
    table = load("polars").DataFrame(columns, schema=part_schema())
    about = {**part_of(task.digest, task.runs), "seed": task.seed, "versions": task.versions}
    return Part(sealed_parquet(table, about), seconds)


def _play(piece: Piece, task: Task, columns: dict[str, list[Any]], stop: Integers | None) -> float:
    """Play the runs of a piece into the columns; return the seconds, preparation not counted."""
    cell = piece.cell
    prepared = prepare(cell.instance.source, cell.horizon, task.checkpoints)
    rounds = checkpoints(cell.horizon, *task.checkpoints)
    run = Run(prepared.environment, cell.policy, cell.horizon, rounds, task.delay, task.anytime)
    warm_up(run_compiled, [run])
    watch = new_watch() if stop is None else Watch(np.zeros(16, dtype=np.int64), stop)
    start = time.perf_counter()
    for replication in range(piece.start, piece.stop):
        record = run_compiled(run, streams(task.seed, replication), watch)
        kept = rounds if replication == piece.start else None
        line = line_of(cell.number, replication, prepared, record, kept)
        for column, value in zip(columns.values(), line, strict=True):
            column.append(value)
    return time.perf_counter() - start
