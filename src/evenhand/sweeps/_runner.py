"""The loop of a sweep: submit tasks, write finished parts, retry failures."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, replace
from time import monotonic

from evenhand.errors import EvenhandError
from evenhand.sweeps._speed import TaskSplitter
from evenhand.sweeps._tasks import Part, Task
from evenhand.sweeps._versions import VersionError, matching_of
from evenhand.sweeps.backends import Backend
from evenhand.sweeps.progress import Failure, SweepProgress

log = logging.getLogger(__name__)
TRIES = 3
# Tasks submitted per worker, so that no worker waits for its next one.
AHEAD = 2
LOOK_SECONDS = 0.2
COUNT_SECONDS = 1.0
PATIENCE_SECONDS = 600.0


@dataclass(frozen=True)
class Attempt:
    """A task, how often it has failed, and whether it must run alone."""

    task: Task
    failures: int = 0
    alone: bool = False


class SweepRunner:
    """Runs what is missing of a grid on a backend.

    A task that fails is split into single runs, each of which is tried three times. When a worker
    dies, a backend may lose other tasks, too. So a single run that loses its worker is retried
    alone, which shows whether it was the cause.
    """

    def __init__(
        self,
        progress: SweepProgress,
        missing: list[range],
        backend: Backend,
        write: Callable[[range, bytes], None],
        look: Callable[[SweepProgress], None],
    ) -> None:
        self._progress = progress
        self._backend = backend
        self._write = write
        self._look = look
        self._splitter = TaskSplitter(progress.grid, missing, progress.speed)
        self._again: deque[Attempt] = deque()
        self._alone: deque[Attempt] = deque()
        self._running: dict[Future[Part], Attempt] = {}
        self._versions = matching_of(progress.grid)
        self._counted = -COUNT_SECONDS
        self._last_seen: float | None = None

    def run(self) -> None:
        """Run until everything is done or given up."""
        while True:
            self._count_workers()
            self._top_up()
            if not self._running:
                self._progress.close()
                return
            done, _ = wait(self._running, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._collect(future)
            self._look(self._progress)

    def _count_workers(self) -> None:
        """Ask how many workers there are; without any, wait at most ten minutes for others."""
        if monotonic() - self._counted < COUNT_SECONDS:
            return
        self._counted = monotonic()
        self._progress.workers = self._backend.workers()
        if self._progress.workers:
            self._last_seen = self._counted
        elif self._last_seen is not None and self._counted - self._last_seen > PATIENCE_SECONDS:
            raise EvenhandError("there are no workers, and none has come for ten minutes")

    def _top_up(self) -> None:
        """Submit tasks until every worker has one running and one waiting."""
        while len(self._running) < AHEAD * max(self._progress.workers, 1):
            attempt = self._next()
            if attempt is None:
                return
            self._start(attempt)

    def _next(self) -> Attempt | None:
        """Return what to run next: retries, new tasks, and at the end runs that must be alone."""
        if any(attempt.alone for attempt in self._running.values()):
            return None
        if self._again:
            return self._again.popleft()
        spans = self._splitter.cut(max(self._progress.workers, 1))
        if spans:
            grid = self._progress.grid
            shared = grid.seed, grid.delay, grid.checkpoints, grid.anytime, grid.digest
            return Attempt(Task(spans, *shared, self._versions))
        return self._alone.popleft() if self._alone and not self._running else None

    def _start(self, attempt: Attempt) -> None:
        try:
            future = self._backend.submit(attempt.task)
        except BrokenExecutor:
            self._backend.renew()
            try:
                future = self._backend.submit(attempt.task)
            except BrokenExecutor as error:
                raise EvenhandError(f"no workers can be started: {error}") from None
        self._running[future] = attempt
        self._progress.started(attempt.task)

    def _collect(self, future: Future[Part]) -> None:
        """Write a finished task, or handle its failure."""
        attempt = self._running.pop(future)
        self._progress.ended(attempt.task)
        error = future.exception() if not future.cancelled() else EvenhandError("it was cancelled")
        if error is None:
            part = future.result()
            self._write(attempt.task.runs, part.content)
            self._progress.finished(attempt.task, part.seconds)
        elif isinstance(error, VersionError):
            raise error
        else:
            self._failed(attempt, error)

    def _failed(self, attempt: Attempt, error: BaseException) -> None:
        """Split a failed task, retry its single run, or give it up."""
        self._progress.failed(attempt.task.spans[0].cell.number)
        log.info("runs %s failed: %s", attempt.task.runs, error)
        died = self._backend.is_worker_death(error)
        if len(attempt.task.runs) > 1:
            self._again.extend(Attempt(single) for single in attempt.task.singles())
        elif died and not attempt.alone:
            self._alone.append(replace(attempt, alone=True))
        elif attempt.failures + 1 < TRIES:
            again = replace(attempt, failures=attempt.failures + 1)
            (self._alone if again.alone else self._again).append(again)
        else:
            reason = str(error) or type(error).__name__
            if died:
                reason = f"its worker died: {type(error).__name__}"
            self._give_up(attempt.task, reason)

    def _give_up(self, task: Task, reason: str) -> None:
        span = task.spans[0]
        failure = Failure(str(span.cell.cell_id), (span.start, span.start), TRIES, reason)
        self._progress.gave_up(task, failure)
