"""Threads with bounded queues, so that no kind of request can hold up another kind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from evenhand.service.problems import ProblemError

Result = TypeVar("Result")


class WorkerPool:
    """Threads for one kind of work; work beyond the queue's length is refused with 429.

    Parameters
    ----------
    what
        What is done, in the plural: for the message and the names of the threads.
    threads, waiting
        How many threads there are, and how many calls may run or wait at a time.
    """

    def __init__(self, what: str, threads: int, waiting: int) -> None:
        self._what, self._waiting = what, waiting
        self._threads = ThreadPoolExecutor(threads, f"evenhand {what}")
        self._lock, self._pending = threading.Lock(), 0

    @property
    def pending(self) -> int:
        """How many calls run or wait."""
        return self._pending

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Hold a slot of the queue, or raise that it is full."""
        self._take()
        try:
            yield
        finally:
            self._give_back()

    async def run(self, work: Callable[..., Result], *given: Any) -> Result:
        """Call a function in a thread. Cancelled before a thread is free, it is never called."""
        self._take()
        return await self._run(self._give_back, work, *given)

    async def run_reserved(self, work: Callable[..., Result], *given: Any) -> Result:
        """Call a function in a thread, within a slot that is :meth:`reserved`."""
        return await self._run(lambda: None, work, *given)

    async def _run(
        self, ended: Callable[[], None], work: Callable[..., Result], *given: Any
    ) -> Result:
        future = self._threads.submit(work, *given)
        future.add_done_callback(lambda done: ended())
        return await asyncio.wrap_future(future)

    def stop(self) -> None:
        """Forget the queue; calls that run are not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _take(self) -> None:
        with self._lock:
            if self._pending >= self._waiting:
                detail = f"{self._waiting} {self._what} are under way: retry in a moment"
                raise ProblemError(429, "busy", detail)
            self._pending += 1

    def _give_back(self) -> None:
        with self._lock:
            self._pending -= 1


class BodyBudget:
    """Limits the bytes of large request bodies that are in memory at a time."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0

    def take(self, size: int) -> None:
        """Take bytes from the budget, or raise that there are not enough."""
        if self._held + size > self._most:
            detail = f"large bodies of {self._held} bytes are being read: retry in a moment"
            raise ProblemError(429, "busy", detail)
        self._held += size

    def give_back(self, size: int) -> None:
        """Give bytes back."""
        self._held -= size
