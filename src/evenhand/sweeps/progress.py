"""The progress of a sweep: cells, rounds, failures, time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from evenhand.sweeps._speed import Kind, Speed, by_cell
from evenhand.sweeps._tasks import Task
from evenhand.sweeps.grid import Cell, Grid


class Failure(NamedTuple):
    """Runs that were given up: their cell, first and last replication, how often tried, and why."""

    cell: str
    replications: tuple[int, int]
    tries: int
    error: str


class CellState(NamedTuple):
    """One line of the live table."""

    instance: str
    label: str
    horizon: int
    done: int
    runs: int
    rounds_per_second: float
    failures: int


class SweepProgress:
    """Counts what is done; all numbers are of this session, except the runs done before."""

    def __init__(self, grid: Grid, missing: Sequence[range], speed: Speed) -> None:
        self.grid = grid
        self.speed = speed
        self.start = time.monotonic()
        self.end: float | None = None
        self.workers = 0
        self.rounds = 0
        self.busy = 0.0
        self._given_up: list[tuple[int, Failure]] = []
        self.done = np.full(grid.cells, grid.replications)
        self._rounds, self._seconds = np.zeros(grid.cells), np.zeros(grid.cells)
        self._failures: Counter[int] = Counter()
        self._running: Counter[int] = Counter()
        self._last: list[int] = []
        self._kinds: dict[Kind, Cell] = {}
        self._left: Counter[Kind] = Counter()
        for span in by_cell(grid, missing):
            self.done[span.cell.number] -= span.runs
            self._left[speed.kind(span.cell)] += span.runs
            self._kinds.setdefault(speed.kind(span.cell), span.cell)

    def started(self, task: Task) -> None:
        """Count a submitted task."""
        for span in task.spans:
            self._running[span.cell.number] += span.runs

    def ended(self, task: Task) -> None:
        """Count a task that is no longer running, finished or failed."""
        for span in task.spans:
            number = span.cell.number
            self._running[number] -= span.runs
            if not self._running[number]:
                del self._running[number]

    def finished(self, task: Task, seconds: Iterable[float]) -> None:
        """Count a task whose part was written."""
        for span, taken in zip(task.spans, seconds, strict=True):
            number, rounds = span.cell.number, span.runs * span.cell.horizon
            self.done[number] += span.runs
            self._rounds[number] += rounds
            self._seconds[number] += taken
            self.rounds += rounds
            self.speed.learn(span.cell, span.runs, taken)
            self.busy += taken
            self._left[self.speed.kind(span.cell)] -= span.runs
        self._last = [span.cell.number for span in task.spans]

    def failed(self, number: int) -> None:
        """Count a failure in a cell."""
        self._failures[number] += 1

    def gave_up(self, task: Task, failure: Failure) -> None:
        """Count a task that failed too often."""
        self._given_up.append((task.runs.start, failure))
        for span in task.spans:
            self._left[self.speed.kind(span.cell)] -= span.runs

    @property
    def given_up(self) -> list[Failure]:
        """What was given up, neighbouring replications of a cell as one."""
        joined: list[Failure] = []
        for _, failure in sorted(self._given_up):
            first, last = failure.replications
            start = joined[-1].replications[0] if joined else first
            if joined and joined[-1] == failure._replace(replications=(start, first - 1)):
                joined[-1] = failure._replace(replications=(start, last))
            else:
                joined.append(failure)
        return joined

    @property
    def cells_done(self) -> int:
        """How many cells are complete."""
        return int((self.done >= self.grid.replications).sum())

    @property
    def runs_done(self) -> int:
        """How many runs are written, by this session or before."""
        return int(self.done.sum())

    @property
    def failures(self) -> int:
        """How often a task has failed, whether or not it was tried again."""
        return self._failures.total()

    @property
    def elapsed(self) -> float:
        """Seconds from the start of this session to its end, or to now."""
        return (time.monotonic() if self.end is None else self.end) - self.start

    def close(self) -> None:
        """Stop the clock."""
        self.end = time.monotonic()

    @property
    def rounds_per_second(self) -> float:
        """Rounds per second of all workers together."""
        return self.rounds / max(self.elapsed, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """How long the rest should take, judged by what is done; None before anything is."""
        if not self.busy or not self.workers:
            return None
        left = (runs * self.speed.seconds(self._kinds[kind]) for kind, runs in self._left.items())
        return sum(left) / self.workers

    def cells(self, most: int) -> list[CellState]:
        """Return the cells to show: failed, just finished, then running."""
        third = max(most // 3, 1)
        failed = [number for number, _ in self._failures.most_common(third)]
        numbers = dict.fromkeys([*failed, *self._last[-third:], *self._running])
        return [self._state(number) for number in sorted(list(numbers)[:most])]

    def _state(self, number: int) -> CellState:
        seconds, cell = float(self._seconds[number]), self.grid.cell(number)
        return CellState(
            cell.cell_id.instance,
            cell.cell_id.label,
            cell.horizon,
            int(self.done[number]),
            self.grid.replications,
            float(self._rounds[number]) / seconds if seconds else 0.0,
            self._failures[number],
        )
