"""Requests that arrive together share a commit, and are answered after it.

One task takes all commands that have come, has them carried out and committed, and answers; what
comes meanwhile is the next batch. What waits is done in a thread, so that requests can be read: of
SQLite the commit alone, unless the disk is quick (two threads only get in each other's way), of
PostgreSQL all of it; who has waited there for another server takes along what came meanwhile.
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

from evenhand.service._clerk import Clerk
from evenhand.service._commands import Command, ExpireOverdue
from evenhand.service._feedback import Overdue
from evenhand.service._refusals import Refusal
from evenhand.service._samples import Sampling
from evenhand.service._work import Answer
from evenhand.service.stores import Full, Unavailable

LARGEST_BATCH = 256
TICK_SECONDS = 0.5
TIDY_EVENTS = 1_000
STOP_SECONDS = 4.0
QUICK_SECONDS = 0.002
RECENT = 10
Result = TypeVar("Result")
log = logging.getLogger(__name__)


class _Request(NamedTuple):
    """A command, and who waits for its answer."""

    command: Command
    reply: asyncio.Future[Answer | Refusal]


class _Commits:
    """How long commits have taken lately: quick ones are not worth the way to a thread and back."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock, self._seconds = clock, 0.0

    @property
    def quick(self) -> bool:
        """Whether the next commit will likely be done in no time."""
        return self._seconds < QUICK_SECONDS

    def time(self, commit: Callable[[], None]) -> None:
        """Commit."""
        start = self._clock()
        try:
            commit()
        finally:
            self._seconds += (self._clock() - start - self._seconds) / RECENT


class Writer:
    """Has commands carried out, as many at a time as have come.

    Parameters
    ----------
    clerk
        Who carries them out.
    waiting
        At most how many commands may wait; more are refused.
    watch
        Is told the size of every batch that was committed, or 0 if it failed.
    """

    def __init__(
        self,
        clerk: Clerk,
        *,
        waiting: int = 1_000,
        watch: Callable[[int], None] = lambda size: None,
    ) -> None:
        self._clerk, self._waiting, self._watch = clerk, waiting, watch
        self._overdue, self._sampling = Overdue(clerk.store), Sampling(clerk.store)
        self._waits = clerk.store.waits
        self._thread = ThreadPoolExecutor(1, "evenhand-writer")
        self._requests: deque[_Request] = deque()
        self._closing, self._commits = False, _Commits()
        self.works = True

    def start(self) -> None:
        """Begin to work, in the event loop that is running."""
        self._loop, self._come = asyncio.get_running_loop(), asyncio.Event()
        self._task = self._loop.create_task(self._run())

    async def stop(self) -> bool:
        """Finish what has been handed in, and stop; False if the store does not let it in time."""
        self._closing = True
        self._come.set()
        done, _ = await asyncio.wait({self._task}, timeout=STOP_SECONDS)
        self._thread.shutdown(wait=False)
        return bool(done)

    def hand_in(
        self, command: Command, *, urgent: bool = False
    ) -> asyncio.Future[Answer | Refusal]:
        """Hand in a command; the answer comes when it has been committed."""
        if len(self._requests) >= self._waiting and not urgent:
            detail = f"{self._waiting} requests are waiting to be written: come again in a moment"
            raise Refusal(429, "busy", detail)
        reply: asyncio.Future[Answer | Refusal] = self._loop.create_future()
        self._requests.append(_Request(command, reply))
        self._come.set()
        return reply

    async def _run(self) -> None:
        next_tick = 0.0
        while self._requests or not self._closing:
            if time.monotonic() >= next_tick and not self._closing:
                more = await self._in_thread(self._tick)
                next_tick = time.monotonic() + (0.0 if more else TICK_SECONDS)
            if not self._requests:
                self._come.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._come.wait(), next_tick - time.monotonic())
                continue
            batch = self._next(lambda request: True)
            answers = await self._carry_out(batch)
            for request, answer in zip(batch, answers, strict=True):
                if not request.reply.done():
                    request.reply.set_result(answer)

    def _next(self, wanted: Callable[[_Request], bool], taken: int = 0) -> list[_Request]:
        """Take the next requests out of the queue, as long as they are wanted and there is room."""
        batch: list[_Request] = []
        while self._requests and len(batch) + taken < LARGEST_BATCH and wanted(self._requests[0]):
            batch.append(self._requests.popleft())
        return batch

    async def _carry_out(
        self, batch: list[_Request], *, alone: bool = False
    ) -> list[Answer | Refusal]:
        """Carry out a batch, to which more may be added; if the unforeseen happens, one by one."""
        try:
            answers = await self._committed(batch, alone)
        except Unavailable as error:
            self.works = False
            self._watch(0)
            full = isinstance(error, Full)
            refusal = Refusal(507 if full else 503, "full" if full else "unavailable", str(error))
            return [refusal] * len(batch)
        except Exception:
            if not alone:
                return [(await self._carry_out([one], alone=True))[0] for one in batch]
            log.exception("a %s command failed", type(batch[0].command).__name__)
            self._watch(0)
            return [Refusal(500, "mistake", "the server has made a mistake; nothing was changed")]
        self.works = True
        self._watch(len(batch))
        return answers

    async def _committed(self, batch: list[_Request], alone: bool) -> list[Answer | Refusal]:
        """Carry out a batch, in a thread as far as there is anything to wait for."""
        commands = [request.command for request in batch]
        if self._waits != "always":
            try:
                pending = self._clerk.begin(commands, wait=False)
            except Full:
                raise
            except Unavailable:
                log.debug("somebody else is writing")
            else:
                if self._commits.quick:
                    self._commits.time(pending.commit)
                else:
                    await self._in_thread(self._commits.time, pending.commit)
                return pending.answers

        def late(names: Sequence[str]) -> list[Command]:
            more = self._next(lambda request: request.command.bandit in names, len(batch))
            batch.extend(more)
            return [request.command for request in more]

        return await self._in_thread(self._clerk.carry_out, commands, None if alone else late)

    async def _in_thread(self, work: Callable[..., Result], *given: Any) -> Result:
        return await self._loop.run_in_executor(self._thread, work, *given)

    def _tick(self) -> bool:
        """Do a piece of what nobody asks for; say whether there is more of it.

        Feedback that is overdue is awaited no more, samples are taken, and what was deleted is
        removed.
        """
        try:
            names = self._overdue.names()
            expired = [self._beside([ExpireOverdue(name)]) for name in names]
            self._take_samples()
            with self._clerk.store.transaction() as transaction:
                more = transaction.tidy(TIDY_EVENTS)
                if not self.works:
                    transaction.touch()
            self.works = True
            return any(expired) or more
        except Unavailable:
            self.works = False
        except Exception:
            log.exception("what is done beside requests has failed")
        return False

    def _take_samples(self) -> None:
        """Take the samples that are due, all at once, or one by one if that fails."""
        due = self._sampling.due()
        if due and not self._beside(due):
            for command in due:
                if not self._beside([command]):
                    self._sampling.missed(command.bandit)

    def _beside(self, commands: Sequence[Command]) -> bool:
        """Carry out what nobody asked for; its mistakes are not those of others."""
        try:
            self._clerk.carry_out(commands)
        except Unavailable:
            raise
        except Exception:
            log.exception("%s has failed", commands)
            return False
        return True
