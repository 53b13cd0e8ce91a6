"""Where tasks are played: threads here, processes here, a dask cluster, anybody's executor.

A backend says how many workers there are, can replace an executor that broke, and knows by which
error it tells that a worker died.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

from evenhand.core.checks import check_choice
from evenhand.core.extras import load
from evenhand.errors import InputError
from evenhand.simulation.run import new_watch
from evenhand.simulation.runner import worker_count
from evenhand.sweeps._dask import Dask
from evenhand.sweeps._tasks import Part, Task, play_task

LOOK_SECONDS = 0.5


class Backend(Protocol):
    """Where tasks are played."""

    def workers(self) -> int:
        """Return how many tasks can be played at the same time; it may change."""

    def submit(self, task: Task) -> Future[Part]:
        """Have a task played."""

    def tells_of_death(self, error: BaseException) -> bool:
        """Say whether an error means that a worker died."""

    def renew(self) -> None:
        """Replace an executor that broke, if that can be done."""

    def close(self, *, at_once: bool) -> None:
        """Let workers go; at once means without waiting for what they are doing."""


class Threads:
    """Threads of this process, one per core by default: at work at once, and gone with it."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._pool = ThreadPoolExecutor(self._workers)
        self._stop = new_watch().stop

    def workers(self) -> int:
        """Return the number of threads."""
        return self._workers

    def submit(self, task: Task) -> Future[Part]:
        """Have a task played; it stops within a round when nobody waits for it any more."""
        return self._pool.submit(play_task, task, self._stop)

    def tells_of_death(self, error: BaseException) -> bool:
        """Say no: a thread does not die alone."""
        return False

    def renew(self) -> None:
        """Do nothing: threads do not break."""

    def close(self, *, at_once: bool) -> None:
        """Stop the threads."""
        self._stop[0] = int(at_once)
        self._pool.shutdown(cancel_futures=at_once)


class Processes:
    """Processes on this machine, one per core by default: a loky pool of our own."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._new = partial(
            load("loky").ProcessPoolExecutor,
            max_workers=self._workers,
            timeout=None,
            initializer=leave_with,
            initargs=(os.getpid(),),
        )
        self._pool: Any = self._new()

    def workers(self) -> int:
        """Return the number of processes."""
        return self._workers

    def submit(self, task: Task) -> Future[Part]:
        """Have a task played."""
        future: Future[Part] = self._pool.submit(play_task, task)
        return future

    def tells_of_death(self, error: BaseException) -> bool:
        """Say yes for a broken pool."""
        return isinstance(error, BrokenExecutor)

    def renew(self) -> None:
        """Start another pool in place of a broken one."""
        self._pool.shutdown(kill_workers=True)
        self._pool = self._new()

    def close(self, *, at_once: bool) -> None:
        """Stop the processes."""
        self._pool.shutdown(kill_workers=at_once)


def leave_with(parent: int) -> None:
    """Let this process end soon after its parent: one that was killed cannot tell it to."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Borrowed:
    """Somebody else's executor, which they will close."""

    def __init__(self, executor: Executor, workers: int | None = None) -> None:
        context = getattr(executor, "_mp_context", None)
        if context is not None and context.get_start_method() == "fork":
            raise InputError(
                "a process pool must start its processes anew, got one that forks, in which polars "
                "hangs: give it mp_context=multiprocessing.get_context('spawn')"
            )
        self._executor = executor
        own = getattr(executor, "_max_workers", None)
        self._workers = worker_count(own if workers is None else workers)

    def workers(self) -> int:
        """Return the number that was stated, or else the executor's own."""
        return self._workers

    def submit(self, task: Task) -> Future[Part]:
        """Have a task played."""
        return self._executor.submit(play_task, task)

    def tells_of_death(self, error: BaseException) -> bool:
        """Say yes for a broken pool."""
        return isinstance(error, BrokenExecutor)

    def renew(self) -> None:
        """Do nothing: what somebody else made cannot be replaced."""

    def close(self, *, at_once: bool) -> None:
        """Leave it to its owner."""


BACKENDS = ("threads", "local", "dask")


def check_backend(name: str, workers: int | None, scheduler: str | None) -> None:
    """Complain about a backend that there is not, or about options that are not for it."""
    check_choice("backend", name, BACKENDS)
    worker_count(workers)
    if scheduler is not None and name != "dask":
        raise InputError(f"a scheduler must be left out unless the backend is dask, got {name!r}")
    if scheduler is not None and workers is not None:
        raise InputError("workers must be left out where a scheduler is named: it has its own")


def open_backend(name: str, workers: int | None = None, scheduler: str | None = None) -> Backend:
    """Return a backend by name; a scheduler's address is for dask alone."""
    check_backend(name, workers, scheduler)
    if name == "dask":
        return Dask(scheduler, workers)
    return Threads(workers) if name == "threads" else Processes(workers)
