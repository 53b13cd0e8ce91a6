"""The loop of a sweep: keep workers busy, write what they finish, try again what failed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, replace
from time import monotonic

from evenhand.errors import EvenhandError
from evenhand.provenance import matching_versions
from evenhand.sweeps.board import Board, Failure
from evenhand.sweeps.engines import Engine
from evenhand.sweeps.speed import Cutter
from evenhand.sweeps.tasks import CellError, Part, Piece, Task, VersionError, play_task

TRIES = 3
# One death may be anybody's doing; a second one while the same task was about is no accident.
SUSPICIOUS = 2
# One task to play and one to go on with, so that a worker never waits for its next.
AHEAD = 2
LOOK_SECONDS = 0.2
COUNT_SECONDS = 1.0
PATIENCE_SECONDS = 600.0


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

    def cut(self, pieces: Iterable[Piece], **past: int) -> Attempt:
        """Return a part of the task, with the same past or another."""
        return replace(self, task=self.task._replace(pieces=tuple(pieces)), **past)


class Conductor:
    """Plays what is missing of a grid on an engine.

    A task that raises is tried again without its guilty cell, and that one on its own, so that
    nothing else is given up in the end. When a worker dies, an engine may lose the tasks of others
    too; all of them are tried again, and those to which that happens twice only in quarantine:
    alone, and in halves until the one piece is found.
    """

    def __init__(
        self,
        board: Board,
        missing: list[range],
        engine: Engine,
        write: Callable[[Task, bytes], None],
        look: Callable[[Board], None],
    ) -> None:
        self._board = board
        self._engine = engine
        self._write = write
        self._look = look
        self._cutter = Cutter(board.grid, missing, board.speed)
        self._again: deque[Attempt] = deque()
        self._quarantine: deque[Attempt] = deque()
        self._flying: dict[Future[Part], Attempt] = {}
        self._counted = -COUNT_SECONDS
        self._manned: float | None = None

    def run(self) -> None:
        """Go on until everything is played or given up."""
        while True:
            self._count_workers()
            self._top_up()
            if not self._flying:
                self._board.close()
                return
            done, _ = wait(self._flying, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._land(future)
            self._look(self._board)

    def _count_workers(self) -> None:
        """Ask how many workers there are; when all have left, wait for others, but not for ever."""
        if monotonic() - self._counted < COUNT_SECONDS:
            return
        self._counted = monotonic()
        self._board.workers = self._engine.workers()
        if self._board.workers:
            self._manned = self._counted
        elif self._manned is not None and self._counted - self._manned > PATIENCE_SECONDS:
            raise EvenhandError("all workers have left, and none has come for ten minutes")

    def _top_up(self) -> None:
        """Keep every worker busy, with as much again waiting."""
        while len(self._flying) < AHEAD * max(self._board.workers, 1):
            attempt = self._next()
            if attempt is None:
                return
            self._launch(attempt)

    def _next(self) -> Attempt | None:
        """Return what to play next: retries, new tasks, and at the end suspicious ones, alone."""
        if any(attempt.suspicious for attempt in self._flying.values()):
            return None
        if self._again:
            return self._again.popleft()
        pieces = self._cutter.cut(max(self._board.workers, 1))
        if pieces:
            grid = self._board.grid
            return Attempt(Task(pieces, grid.seed, grid.delay, grid.digest, matching_versions()))
        return self._quarantine.popleft() if self._quarantine and not self._flying else None

    def _launch(self, attempt: Attempt) -> None:
        try:
            future = self._engine.executor().submit(play_task, attempt.task)
        except BrokenExecutor:
            self._engine.renew()
            try:
                future = self._engine.executor().submit(play_task, attempt.task)
            except BrokenExecutor as error:
                raise EvenhandError(f"no workers can be started any more: {error}") from None
        self._flying[future] = attempt
        self._board.launched(attempt.task)

    def _land(self, future: Future[Part]) -> None:
        """Write a finished task, or decide what becomes of one that is not."""
        attempt = self._flying.pop(future)
        self._board.landed(attempt.task)
        error = future.exception() if not future.cancelled() else EvenhandError("it was cancelled")
        if error is None:
            part = future.result()
            self._write(attempt.task, part.content)
            self._board.finished(attempt.task, part.seconds)
        elif deaths := self._engine.deaths(error):
            self._lost(attempt, deaths, error)
        elif isinstance(error, VersionError):
            raise error
        else:
            self._failed(attempt, error)

    def _lost(self, attempt: Attempt, deaths: int, error: BaseException) -> None:
        """Try a task again whose worker died, unless it was alone and has killed too many."""
        alone, pieces = attempt.suspicious, attempt.task.pieces
        lost = replace(attempt, deaths=attempt.deaths + deaths)
        if alone and lost.deaths >= TRIES and len(pieces) == 1:
            self._give_up(lost, lost.deaths, f"its worker died: {error}")
            return
        self._board.failed(pieces[0].cell.number)
        if alone and len(pieces) > 1:
            middle = len(pieces) // 2
            self._requeue([lost.cut(pieces[:middle]), lost.cut(pieces[middle:])])
        else:
            self._requeue([lost])

    def _failed(self, attempt: Attempt, error: BaseException) -> None:
        """Try a task again that raised, the guilty cell apart from its neighbours."""
        failures, pieces = attempt.failures + 1, attempt.task.pieces
        number = error.number if isinstance(error, CellError) else pieces[0].cell.number
        if failures >= TRIES:
            self._give_up(attempt, failures, str(error) or type(error).__name__)
            return
        self._board.failed(number)
        if not isinstance(error, CellError):
            self._requeue([replace(attempt, failures=failures)])
            return
        cells = [piece.cell.number for piece in pieces]
        at = cells.index(number)
        self._requeue(
            attempt.cut(part, failures=tried)
            for part, tried in (
                (pieces[:at], attempt.failures),
                (pieces[at : at + 1], failures),
                (pieces[at + 1 :], attempt.failures),
            )
            if part
        )

    def _requeue(self, attempts: Iterable[Attempt]) -> None:
        for attempt in attempts:
            (self._quarantine if attempt.suspicious else self._again).append(attempt)

    def _give_up(self, attempt: Attempt, tries: int, reason: str) -> None:
        first, last = attempt.task.pieces[0], attempt.task.pieces[-1]
        more = len(attempt.task.pieces) - 1
        cell = f"{first.cell} and {more} more cells" if more else str(first.cell)
        replications = (first.start, last.stop - 1)
        self._board.gave_up(attempt.task, Failure(cell, replications, tries, reason))
