"""The loop of a sweep: keep workers busy, write what they finish, try again what failed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, replace
from time import monotonic

from evenhand.errors import EvenhandError
from evenhand.provenance import matching_versions
from evenhand.sweeps.board import Board, Failure
from evenhand.sweeps.engines import Engine
from evenhand.sweeps.speed import Cutter
from evenhand.sweeps.tasks import CellError, Part, Task, play_task

TRIES = 3
SUSPICIOUS = 2
AHEAD = 2
LOOK_SECONDS = 0.2
COUNT_SECONDS = 1.0


@dataclass(frozen=True)
class Attempt:
    """A task with its past: how often it failed, and how often its worker died."""

    task: Task
    failures: int = 0
    deaths: int = 0

    @property
    def suspicious(self) -> bool:
        """Whether it may be what kills workers: it must then be played alone, to make sure."""
        return self.deaths >= SUSPICIOUS


class Conductor:
    """Plays what is missing of a grid on an engine.

    A task that raises is tried again, its pieces one by one, so that only the guilty cell is given
    up in the end. When a worker dies, an engine may lose the tasks of others too; all of them are
    tried again, and those that were there twice only in quarantine: alone.
    """

    def __init__(
        self,
        board: Board,
        missing: list[range],
        engine: Engine,
        write: Callable[[Task, bytes], None],
        look: Callable[[Board], None],
    ) -> None:
        self.board = board
        self._grid = board.grid
        self._speed = board.speed
        self._engine = engine
        self._write = write
        self._look = look
        self._cutter = Cutter(board.grid, missing, board.speed)
        self._again: deque[Attempt] = deque()
        self._quarantine: deque[Attempt] = deque()
        self._flying: dict[Future[Part], Attempt] = {}
        self._counted = -COUNT_SECONDS

    def run(self) -> None:
        """Go on until everything is played or given up."""
        while True:
            self._count_workers()
            self._top_up()
            if not self._flying:
                self.board.close()
                return
            done, _ = wait(self._flying, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._land(future)
            self._look(self.board)

    def _count_workers(self) -> None:
        if monotonic() - self._counted >= COUNT_SECONDS:
            self.board.workers = self._engine.workers()
            self._counted = monotonic()

    def _top_up(self) -> None:
        """Keep every worker busy, with as much again waiting."""
        while len(self._flying) < AHEAD * max(self.board.workers, 1):
            attempt = self._next()
            if attempt is None:
                return
            self._launch(attempt)
            if attempt.suspicious:
                return

    def _next(self) -> Attempt | None:
        """Return what to play next: retries, new tasks, and at the end suspicious ones, alone."""
        if any(attempt.suspicious for attempt in self._flying.values()):
            return None
        if self._again:
            return self._again.popleft()
        pieces = self._cutter.cut(max(self.board.workers, 1))
        if pieces:
            grid = self._grid
            return Attempt(Task(pieces, grid.seed, grid.delay, matching_versions()))
        return self._quarantine.popleft() if self._quarantine and not self._flying else None

    def _launch(self, attempt: Attempt) -> None:
        try:
            future = self._engine.executor().submit(play_task, attempt.task)
        except BrokenExecutor:
            try:
                future = self._engine.executor().submit(play_task, attempt.task)
            except BrokenExecutor as error:
                raise EvenhandError(f"no workers can be started any more: {error}") from None
        self._flying[future] = attempt
        self.board.launched(attempt.task)

    def _land(self, future: Future[Part]) -> None:
        """Write a finished task, or decide what becomes of one that is not."""
        alone = len(self._flying) == 1
        attempt = self._flying.pop(future)
        self.board.landed(attempt.task)
        try:
            part = future.result()
        except self._engine.deaths as error:
            self._lost(attempt, error, alone=alone)
        except (Exception, CancelledError) as error:
            self._failed(replace(attempt, failures=attempt.failures + 1), error)
        else:
            self._write(attempt.task, part.content)
            for piece, seconds in zip(attempt.task.pieces, part.seconds, strict=True):
                self._speed.learn(piece.cell, piece.runs, seconds)
            self.board.finished(attempt.task, part.seconds)

    def _lost(self, attempt: Attempt, error: BaseException, *, alone: bool) -> None:
        """Try a task again whose worker died, unless it alone has killed too many of them."""
        deaths, pieces = attempt.deaths + self._engine.deaths_each, attempt.task.pieces
        guilty = alone and deaths >= TRIES
        if guilty and len(pieces) == 1:
            self._give_up(attempt, deaths, f"its worker died: {error}")
            return
        self.board.failed(pieces[0].cell.number)
        lost = replace(attempt, deaths=deaths)
        waiting = self._quarantine if lost.suspicious else self._again
        waiting.extend(_split(lost) if guilty else [lost])

    def _failed(self, attempt: Attempt, error: BaseException) -> None:
        number = error.number if isinstance(error, CellError) else None
        first = attempt.task.pieces[0].cell.number
        if attempt.failures >= TRIES:
            reason = str(error) or type(error).__name__
            self._give_up(attempt, attempt.failures, reason)
            return
        self.board.failed(first if number is None else number)
        for single in _split(attempt):
            innocent = number is not None and single.task.pieces[0].cell.number != number
            failures = attempt.failures - 1 if innocent else attempt.failures
            self._again.append(replace(single, failures=failures))

    def _give_up(self, attempt: Attempt, tries: int, reason: str) -> None:
        piece = attempt.task.pieces[0]
        failure = Failure(str(piece.cell), (piece.start, piece.stop - 1), tries, reason)
        self.board.gave_up(attempt.task, failure)


def _split(attempt: Attempt) -> list[Attempt]:
    """Return the pieces of a task as tasks of their own, with the same past."""
    task = attempt.task
    return [replace(attempt, task=task._replace(pieces=(piece,))) for piece in task.pieces]
