"""How long runs take, and how to split them into tasks of similar duration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evenhand.sweeps._tasks import ReplicationRange
from evenhand.sweeps.grid import Cell, Grid

TASK_SECONDS = 2.0
LEAST_SECONDS = 1.0
# So many parts can be listed and read quickly.
MOST_TASKS = 10_000
# An instance is sent with each task at about 100 MB/s, which should take at most 5% of the time.
BYTES_A_SECOND = 5e6
# Seconds to start a run, for a round, and for an arm in a round: right to a factor of a few.
GUESS = (2e-4, 1e-7, 2e-8)


Kind = tuple[str, int, int]


class ObservedRuns(NamedTuple):
    """Runs of a kind that were played, and the seconds they took."""

    runs: int
    seconds: float


class Speed:
    """Seconds that a run of a cell should take.

    Cells with the same policy, number of arms and horizon are of one kind. A kind that was seen
    takes what it took; another one is guessed from its size, times how wrong the guesses of that
    policy have been, or of all if it is new.
    """

    def __init__(self) -> None:
        self._seen: dict[Kind, ObservedRuns] = {}
        self._guessed: dict[str, float] = {}
        self._taken: dict[str, float] = {}

    def seconds(self, cell: Cell) -> float:
        """Return the seconds that one run should take."""
        seen = self._seen.get(self.kind(cell))
        if seen is not None:
            return seen.seconds / seen.runs
        name = cell.policy.name
        if name in self._guessed:
            return guess(cell) * self._taken[name] / self._guessed[name]
        return guess(cell) * self.correction

    @property
    def correction(self) -> float:
        """How many seconds a guessed second has turned out to be, over all policies."""
        return sum(self._taken.values()) / sum(self._guessed.values()) if self._guessed else 1.0

    @staticmethod
    def kind(cell: Cell) -> Kind:
        """Return what cells of the same speed have in common."""
        return cell.policy.name, cell.instance.arms, cell.horizon

    def learn(self, cell: Cell, runs: int, seconds: float) -> None:
        """Update from runs that were played."""
        before = self._seen.get(self.kind(cell), ObservedRuns(0, 0.0))
        self._seen[self.kind(cell)] = ObservedRuns(before.runs + runs, before.seconds + seconds)
        name = cell.policy.name
        self._guessed[name] = self._guessed.get(name, 0.0) + guess(cell) * runs
        self._taken[name] = self._taken.get(name, 0.0) + seconds


def guess(cell: Cell) -> float:
    """Return seconds of a run that only its size is known of."""
    start, each, each_arm = GUESS
    return start + cell.horizon * (each + each_arm * cell.instance.arms)


class TaskSplitter:
    """Splits what is missing of a grid into tasks of similar duration.

    The time aimed at is :data:`TASK_SECONDS`; more where that would be more than
    :data:`MOST_TASKS` tasks, and less towards the end, so that no worker has to wait for another.
    """

    def __init__(self, grid: Grid, missing: Sequence[range], speed: Speed) -> None:
        self._speed = speed
        self._total = sum(guess(span.cell) * span.runs for span in by_cell(grid, missing))
        self._left = self._total
        self._spans = by_cell(grid, missing)
        self._next = next(self._spans, None)

    def cut(self, workers: int) -> tuple[ReplicationRange, ...]:
        """Return the consecutive ranges of the next task; none if nothing is left."""
        spans: list[ReplicationRange] = []
        aim = self._aim(workers)
        while self._next is not None and aim > 0.0 and _adjoins(spans, self._next):
            span, each = self._next, self._speed.seconds(self._next.cell)
            runs = min(span.runs, math.ceil(aim / each))
            taken, rest = span.split(runs)
            self._next = rest if rest.runs else next(self._spans, None)
            self._left -= guess(span.cell) * runs
            aim -= runs * each
            spans.append(taken)
        return tuple(spans)

    def _aim(self, workers: int) -> float:
        """Return the seconds that the next task should take."""
        total, left = (guessed * self._speed.correction for guessed in (self._total, self._left))
        even = max(left / (2 * workers), LEAST_SECONDS)
        weight = 0 if self._next is None else self._next.cell.instance.weight
        return max(min(max(TASK_SECONDS, total / MOST_TASKS), even), weight / BYTES_A_SECOND)


def _adjoins(spans: Sequence[ReplicationRange], following: ReplicationRange) -> bool:
    """Say whether a range starts where the others end, if there are any."""
    return not spans or spans[-1].first + spans[-1].runs == following.first


def by_cell(grid: Grid, missing: Sequence[range]) -> Iterator[ReplicationRange]:
    """Yield the missing runs, cell by cell."""
    for runs in missing:
        start = runs.start
        while start < runs.stop:
            number, first = divmod(start, grid.replications)
            stop = min(runs.stop, (number + 1) * grid.replications)
            yield ReplicationRange(grid.cell(number), first, first + stop - start, start)
            start = stop
