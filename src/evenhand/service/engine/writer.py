"""The writer: commands that arrive together share a commit, and get their results after it.

One task takes all waiting commands, executes and commits them, and returns the results; commands
that arrive meanwhile form the next batch. Whatever waits, or takes long, runs in a thread, so that
the event loop can read requests: with SQLite slow commands, and the commit if the disk is slow
(otherwise two threads compete for the interpreter); with PostgreSQL everything. There a batch that
waited for another server's lock takes along the commands that arrived meanwhile, and commands for
bandits that stay locked go back to the end of the queue, so that no other bandit waits for them.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from evenhand.service.engine.commands import Command
from evenhand.service.engine.executor import CommandExecutor, Pending, Result
from evenhand.service.problems import ProblemError, locked, server_error
from evenhand.service.stores.protocol import BanditLocked, StoreFull, StoreUnavailable

LARGEST_BATCH = 256
BACKGROUND_SECONDS = 0.5
STOP_SECONDS = 4.0
# How long work in the thread may take, after how long the server is not ready, and how long a
# command waits for a bandit that another server has locked.
DEADLINE_SECONDS = 10.0
STUCK_SECONDS = 4.0
LOCKED_SECONDS = 3.0
QUICK_SECONDS = 0.002
RECENT = 10
Returned = TypeVar("Returned")
log = logging.getLogger(__name__)


class _Request(NamedTuple):
    """A command, the future of its result, and until when it may wait for a lock."""

    command: Command
    result: asyncio.Future[Result]
    until: float


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
        self._works, self._busy_since = True, math.inf

    @property
    def works(self) -> bool:
        """Whether the last work succeeded, and the present one is not stuck."""
        return self._works and time.monotonic() - self._busy_since < STUCK_SECONDS

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
        self._requests.append(_Request(command, result, time.monotonic() + LOCKED_SECONDS))
        self._arrived.set()
        return result

    async def _run(self) -> None:
        next_background = 0.0
        while self._requests or not self._closing:
            if time.monotonic() >= next_background and not self._closing:
                more = await self._in_background()
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
                if result is None:
                    self._requests.append(request)
                elif not request.result.done():
                    request.result.set_result(result)

    def _next(self, wanted: Callable[[_Request], bool], taken: int = 0) -> list[_Request]:
        """Take requests from the queue, as long as they are wanted and the batch has room."""
        batch: list[_Request] = []
        while self._requests and len(batch) + taken < LARGEST_BATCH and wanted(self._requests[0]):
            batch.append(self._requests.popleft())
        return batch

    async def _execute(
        self, batch: list[_Request], *, alone: bool = False
    ) -> Sequence[Result | None]:
        """Execute a batch, which may grow; after an unexpected error, one by one.

        The result of a command that is to wait for a lock is None.
        """
        try:
            pending = await self._committed(batch, alone)
        except BanditLocked:
            return _waiting(batch, [locked(request.command.bandit) for request in batch])
        except StoreUnavailable as error:
            self._works = False
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
        self._works = True
        self._on_commit(len(batch))
        if not pending.locked:
            return pending.results
        return _waiting(batch, pending.results, pending.locked)

    async def _committed(self, batch: list[_Request], alone: bool) -> Pending:
        """Execute and commit a batch, in a thread as far as it may wait or take long."""
        commands = [request.command for request in batch]
        if self._waits != "always" and self._executor.is_quick(commands):
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
                return pending

        given_up = threading.Event()

        def arrived_meanwhile(names: Sequence[str]) -> list[Command]:
            if alone or given_up.is_set():
                return []
            more = self._next(lambda request: request.command.bandit in names, len(batch))
            batch.extend(more)
            return [request.command for request in more]

        def execute() -> Pending:
            pending = self._executor.begin(commands, more=arrived_meanwhile)
            pending.commit()
            return pending

        try:
            return await self._in_thread(execute)
        finally:
            given_up.set()

    async def _in_thread(self, work: Callable[..., Returned], *given: Any) -> Returned:
        """Call a function in the thread; break it off if the database does not answer."""
        self._busy_since = time.monotonic()
        future = self._loop.run_in_executor(self._thread, work, *given)
        try:
            done, _ = await asyncio.wait({future}, timeout=DEADLINE_SECONDS)
            if done:
                return future.result()
        finally:
            self._busy_since = math.inf
        self._executor.store.interrupt()
        # What has not begun never will; what has begun ends without anybody waiting for it.
        future.cancel()
        raise StoreUnavailable(f"the database did not answer within {DEADLINE_SECONDS:g} seconds")

    async def _in_background(self) -> bool:
        try:
            return await self._in_thread(self._run_background)
        except StoreUnavailable:
            self._works = False
        except Exception:
            log.exception("background work failed")
        return False

    def _run_background(self) -> bool:
        """Do some background work; return whether there is more."""
        try:
            more = self._background(self._works)
            self._works = True
            return more
        except BanditLocked:
            log.debug("another server is writing")
        except StoreUnavailable:
            self._works = False
        except Exception:
            log.exception("background work failed")
        return False


def _waiting(
    batch: Sequence[_Request], results: Sequence[Result], names: Collection[str] | None = None
) -> list[Result | None]:
    """Return the results, but None for commands on locked bandits that may still wait."""
    now = time.monotonic()
    return [
        None if (names is None or one.command.bandit in names) and now < one.until else result
        for one, result in zip(batch, results, strict=True)
    ]
