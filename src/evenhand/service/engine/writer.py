"""The writer: commands that arrive together share a commit, and get their results after it.

One task takes all waiting commands, executes and commits them, and returns the results; commands
that arrive meanwhile form the next batch. Whatever waits runs in a thread, so that the event loop
can read requests: with SQLite only the commit, and only if the disk is slow (otherwise two threads
compete for the interpreter); with PostgreSQL everything. There a batch that waited for another
server's lock takes along the commands that arrived meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from evenhand.service.engine.commands import Command
from evenhand.service.engine.executor import CommandExecutor, Result
from evenhand.service.problems import ProblemError, server_error
from evenhand.service.stores.protocol import StoreFull, StoreUnavailable

LARGEST_BATCH = 256
BACKGROUND_SECONDS = 0.5
STOP_SECONDS = 4.0
QUICK_SECONDS = 0.002
RECENT = 10
Returned = TypeVar("Returned")
log = logging.getLogger(__name__)


class _Request(NamedTuple):
    """A command and the future of its result."""

    command: Command
    result: asyncio.Future[Result]


class _CommitTimer:
    """The mean duration of the last commits: quick ones are not worth a thread."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock, self._seconds = clock, 0.0

    @property
    def quick(self) -> bool:
        """Whether the next commit is expected to be quick."""
        return self._seconds < QUICK_SECONDS

    def time(self, commit: Callable[[], None]) -> None:
        """Commit, and measure how long it takes."""
        start = self._clock()
        try:
            commit()
        finally:
            self._seconds += (self._clock() - start - self._seconds) / RECENT


class Writer:
    """Executes commands in batches.

    Parameters
    ----------
    executor
        Executes the commands.
    waiting
        How many commands may wait; more are refused with 429.
    on_commit
        Is called with the size of every committed batch, or 0 if a commit failed.
    background
        Work that no client asks for, done between batches every half second. Returns whether
        there is more of it to do at once; raises StoreUnavailable.
    """

    def __init__(
        self,
        executor: CommandExecutor,
        *,
        waiting: int = 1_000,
        on_commit: Callable[[int], None] = lambda size: None,
        background: Callable[[bool], bool] = lambda works: False,
    ) -> None:
        self._executor, self._waiting, self._on_commit = executor, waiting, on_commit
        self._background = background
        self._waits = executor.store.waits
        self._thread = ThreadPoolExecutor(1, "evenhand-writer")
        self._requests: deque[_Request] = deque()
        self._closing, self._commits = False, _CommitTimer()
        self.works = True

    def start(self) -> None:
        """Start the task in the running event loop."""
        self._loop, self._arrived = asyncio.get_running_loop(), asyncio.Event()
        self._task = self._loop.create_task(self._run())

    async def stop(self) -> bool:
        """Finish the waiting commands, and stop; return False if that takes too long."""
        self._closing = True
        self._arrived.set()
        done, _ = await asyncio.wait({self._task}, timeout=STOP_SECONDS)
        self._thread.shutdown(wait=False)
        return bool(done)

    def submit(self, command: Command, *, urgent: bool = False) -> asyncio.Future[Result]:
        """Submit a command; its result comes after the commit."""
        if len(self._requests) >= self._waiting and not urgent:
            detail = f"{self._waiting} requests are waiting to be written: retry in a moment"
            raise ProblemError(429, "busy", detail)
        result: asyncio.Future[Result] = self._loop.create_future()
        self._requests.append(_Request(command, result))
        self._arrived.set()
        return result

    async def _run(self) -> None:
        next_background = 0.0
        while self._requests or not self._closing:
            if time.monotonic() >= next_background and not self._closing:
                more = await self._in_thread(self._run_background)
                next_background = time.monotonic() + (0.0 if more else BACKGROUND_SECONDS)
            if not self._requests:
                self._arrived.clear()
                with suppress(TimeoutError):
                    timeout = next_background - time.monotonic()
                    await asyncio.wait_for(self._arrived.wait(), timeout)
                continue
            batch = self._next(lambda request: True)
            results = await self._execute(batch)
            for request, result in zip(batch, results, strict=True):
                if not request.result.done():
                    request.result.set_result(result)

    def _next(self, wanted: Callable[[_Request], bool], taken: int = 0) -> list[_Request]:
        """Take requests from the queue, as long as they are wanted and the batch has room."""
        batch: list[_Request] = []
        while self._requests and len(batch) + taken < LARGEST_BATCH and wanted(self._requests[0]):
            batch.append(self._requests.popleft())
        return batch

    async def _execute(self, batch: list[_Request], *, alone: bool = False) -> list[Result]:
        """Execute a batch, which may grow; after an unexpected error, one by one."""
        try:
            results = await self._committed(batch, alone)
        except StoreUnavailable as error:
            self.works = False
            self._on_commit(0)
            full = isinstance(error, StoreFull)
            kind = (507, "full") if full else (503, "unavailable")
            return [ProblemError(*kind, str(error))] * len(batch)
        except Exception:
            if not alone:
                return [(await self._execute([one], alone=True))[0] for one in batch]
            log.exception("a %s command failed", type(batch[0].command).__name__)
            self._on_commit(0)
            return [server_error()]
        self.works = True
        self._on_commit(len(batch))
        return results

    async def _committed(self, batch: list[_Request], alone: bool) -> list[Result]:
        """Execute and commit a batch, in a thread as far as it may have to wait."""
        commands = [request.command for request in batch]
        if self._waits != "always":
            try:
                pending = self._executor.begin(commands, wait=False)
            except StoreFull:
                raise
            except StoreUnavailable:
                log.debug("another server is writing")
            else:
                if self._commits.quick:
                    self._commits.time(pending.commit)
                else:
                    await self._in_thread(self._commits.time, pending.commit)
                return pending.results

        def arrived_meanwhile(names: Sequence[str]) -> list[Command]:
            more = self._next(lambda request: request.command.bandit in names, len(batch))
            batch.extend(more)
            return [request.command for request in more]

        more = None if alone else arrived_meanwhile
        return await self._in_thread(self._executor.execute, commands, more)

    async def _in_thread(self, work: Callable[..., Returned], *given: Any) -> Returned:
        return await self._loop.run_in_executor(self._thread, work, *given)

    def _run_background(self) -> bool:
        """Do some background work; return whether there is more."""
        try:
            more = self._background(self.works)
            self.works = True
            return more
        except StoreUnavailable:
            self.works = False
        except Exception:
            log.exception("background work failed")
        return False
