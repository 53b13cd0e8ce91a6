"""A task: about a second or more of neighbouring runs, played by a worker and sent back as Parquet.

This is all that runs on a worker. It needs nothing but the task: no file and no state.
"""

from __future__ import annotations

import platform
import time
from functools import cache
from typing import Any, NamedTuple

from evenhand.arrays import Integers
from evenhand.errors import EvenhandError
from evenhand.extras import load
from evenhand.policies import posterior_means
from evenhand.provenance import matching_versions, version_differences
from evenhand.sealed import sealed_parquet
from evenhand.simulation._kernel import run_compiled
from evenhand.simulation.delay import Delay
from evenhand.simulation.run import Record, Run, checkpoints, new_watch, streams
from evenhand.simulation.runner import warm_up
from evenhand.sweeps.grid import Cell
from evenhand.sweeps.instances import Prepared, prepare

FIRST_ROUNDS, LATER_ROUNDS = 10, 50


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
    digest: str
    versions: dict[str, str | None]

    @property
    def runs(self) -> range:
        """The numbers of its runs in the grid."""
        last = self.pieces[-1]
        return range(self.pieces[0].first, last.first + last.runs)


class Part(NamedTuple):
    """What a worker sends back: a Parquet file's content, and seconds played of each piece."""

    content: bytes
    seconds: tuple[float, ...]


class CellError(EvenhandError):
    """A run could not be played; says in which cell, and why."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(number, reason)
        self.number = number
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class VersionError(EvenhandError):
    """A worker has other packages than the process that sweeps; its bits could differ."""


def play_task(task: Task) -> Part:
    """Play all runs of a task; what goes wrong is said together with its cell."""
    check_versions(task.versions)
    columns: dict[str, list[Any]] = {name: [] for name in schema()}
    seconds = []
    for piece in task.pieces:
        try:
            seconds.append(_play(piece, task, columns))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise CellError(piece.cell.number, reason) from None
    table = load("polars").DataFrame(columns, schema=schema())
    about = {**part_of(task.digest, task.runs), "seed": task.seed, "versions": task.versions}
    return Part(sealed_parquet(table, about), tuple(seconds))


def part_of(digest: str, runs: range) -> dict[str, Any]:
    """Return what a part says it is: the grid's digest, its runs, and how many lines it has."""
    return {"grid": digest, "runs": [runs.start, runs.stop], "rows": len(runs)}


def check_versions(wanted: dict[str, str | None]) -> None:
    """Refuse to play with other packages than the sweep was started with: bits could differ."""
    different = version_differences(wanted, matching_versions())
    if different:
        raise VersionError(
            f"worker on {platform.node()} must have what the sweep was started with, "
            f"got {', '.join(different)}"
        )


@cache
def kept_rounds(horizon: int) -> Integers:
    """Return the rounds at which a sweep keeps totals: fewer than a simulation does."""
    return checkpoints(horizon, FIRST_ROUNDS, LATER_ROUNDS)


def schema() -> dict[str, Any]:
    """Return the columns of a part: one line a run, its totals and tallies as lists."""
    pl = load("polars")
    return {
        "cell": pl.Int64,
        "replication": pl.Int64,
        "with_floors": pl.Float64,
        "without_floors": pl.Float64,
        "expected": pl.List(pl.Float64),
        "realised": pl.List(pl.Float64),
        "played": pl.List(pl.Int64),
        "estimates": pl.List(pl.Float64),
    }


def _play(piece: Piece, task: Task, columns: dict[str, list[Any]]) -> float:
    """Play the runs of a piece into the columns; return the seconds, preparation not counted."""
    cell, prepared = piece.cell, prepare(piece.cell.instance, piece.cell.horizon)
    rounds = kept_rounds(cell.horizon)
    run = Run(prepared.environment, cell.policy, cell.horizon, rounds, task.delay)
    warm_up(run_compiled, [run])
    start = time.perf_counter()
    for replication in range(piece.start, piece.stop):
        record = run_compiled(run, streams(task.seed, replication), new_watch())
        line = (cell.number, replication, *_line(prepared, record))
        for column, value in zip(columns.values(), line, strict=True):
            column.append(value)
    return time.perf_counter() - start


def _line(prepared: Prepared, record: Record) -> tuple[Any, ...]:
    estimates = posterior_means(record.state)
    return *prepared.yardsticks, record.expected, record.realised, record.state.played, estimates
