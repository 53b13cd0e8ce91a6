"""The loop of a sweep: keep workers busy, write what they finish, try again what failed."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, replace
from time import monotonic

from evenhand.errors import EvenhandError
from evenhand.sweeps._speed import Cutter
from evenhand.sweeps._tasks import Part, Task
from evenhand.sweeps._versions import VersionError, matching_of
from evenhand.sweeps.backends import Backend
from evenhand.sweeps.board import Board, Failure

log = logging.getLogger(__name__)
TRIES = 3
# One task to play and one to go on with, so that a worker never waits for its next.
AHEAD = 2
LOOK_SECONDS = 0.2
COUNT_SECONDS = 1.0
PATIENCE_SECONDS = 600.0


@dataclass(frozen=True)
class Attempt:
    """A task, how often it has failed, and whether nothing else may be played beside it."""

    task: Task
    failures: int = 0
    alone: bool = False


class Scheduler:
    """Plays what is missing of a grid on a backend.

    A task that fails is split into single runs, each of which is tried three times. When a worker
    dies, a backend may lose the tasks of others too, so a single run to which that happens is
    tried with nothing beside it: then it is known whose doing it was.
    """

    def __init__(
        self,
        board: Board,
        missing: list[range],
        backend: Backend,
        write: Callable[[range, bytes], None],
        look: Callable[[Board], None],
    ) -> None:
        self._board = board
        self._backend = backend
        self._write = write
        self._look = look
        self._cutter = Cutter(board.grid, missing, board.speed)
        self._again: deque[Attempt] = deque()
        self._suspects: deque[Attempt] = deque()
        self._flying: dict[Future[Part], Attempt] = {}
        self._versions = matching_of(board.grid)
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
        self._board.workers = self._backend.workers()
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
        """Return what to play next: retries, new tasks, and at the end suspects, alone."""
        if any(attempt.alone for attempt in self._flying.values()):
            return None
        if self._again:
            return self._again.popleft()
        pieces = self._cutter.cut(max(self._board.workers, 1))
        if pieces:
            grid = self._board.grid
            shared = grid.seed, grid.delay, grid.checkpoints, grid.anytime, grid.digest
            return Attempt(Task(pieces, *shared, self._versions))
        return self._suspects.popleft() if self._suspects and not self._flying else None

    def _launch(self, attempt: Attempt) -> None:
        try:
            future = self._backend.submit(attempt.task)
        except BrokenExecutor:
            self._backend.renew()
            try:
                future = self._backend.submit(attempt.task)
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
            self._write(attempt.task.runs, part.content)
            self._board.finished(attempt.task, part.seconds)
        elif isinstance(error, VersionError):
            raise error
        else:
            self._failed(attempt, error)

    def _failed(self, attempt: Attempt, error: BaseException) -> None:
        """Split a task that failed, or try its one run again, or give it up."""
        self._board.failed(attempt.task.pieces[0].cell.number)
        log.info("runs %s failed: %s", attempt.task.runs, error)
        died = self._backend.tells_of_death(error)
        if len(attempt.task.runs) > 1:
            self._again.extend(Attempt(single) for single in attempt.task.singles())
        elif died and not attempt.alone:
            self._suspects.append(replace(attempt, alone=True))
        elif attempt.failures + 1 < TRIES:
            again = replace(attempt, failures=attempt.failures + 1)
            (self._suspects if again.alone else self._again).append(again)
        else:
            reason = str(error) or type(error).__name__
            if died:
                reason = f"its worker died: {type(error).__name__}"
            self._give_up(attempt.task, reason)

    def _give_up(self, task: Task, reason: str) -> None:
        piece = task.pieces[0]
        failure = Failure(str(piece.cell.place), (piece.start, piece.start), TRIES, reason)
        self._board.gave_up(task, failure)
