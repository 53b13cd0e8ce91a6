"""Backends: threads, local processes, a dask cluster, or an external executor.

A backend knows its workers, can replace a broken executor, and tells which errors mean that a
worker died.
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
from evenhand.simulation.run import new_control
from evenhand.simulation.runner import worker_count
from evenhand.sweeps._dask import Dask
from evenhand.sweeps._tasks import Part, Task, play_task

LOOK_SECONDS = 0.5


class Backend(Protocol):
    """Runs tasks."""

    def workers(self) -> int:
        """Return how many tasks can run at the same time; it may change."""

    def submit(self, task: Task) -> Future[Part]:
        """Submit a task."""

    def is_worker_death(self, error: BaseException) -> bool:
        """Say whether an error means that a worker died."""

    def renew(self) -> None:
        """Replace a broken executor, if possible."""

    def close(self, *, at_once: bool) -> None:
        """Release the workers; ``at_once`` without waiting for running tasks."""


class Threads:
    """Threads of this process, one per core by default: no start-up time."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._pool = ThreadPoolExecutor(self._workers)
        self._stop = new_control().stop

    def workers(self) -> int:
        return self._workers

    def submit(self, task: Task) -> Future[Part]:
        return self._pool.submit(play_task, task, self._stop)

    def is_worker_death(self, error: BaseException) -> bool:
        return False

    def renew(self) -> None:
        pass

    def close(self, *, at_once: bool) -> None:
        self._stop[0] = int(at_once)
        self._pool.shutdown(cancel_futures=at_once)


class Processes:
    """Processes on this machine, one per core by default: a loky pool."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._new = partial(
            load("loky").ProcessPoolExecutor,
            max_workers=self._workers,
            timeout=None,
            initializer=exit_with_parent,
            initargs=(os.getpid(),),
        )
        self._pool: Any = self._new()

    def workers(self) -> int:
        return self._workers

    def submit(self, task: Task) -> Future[Part]:
        future: Future[Part] = self._pool.submit(play_task, task)
        return future

    def is_worker_death(self, error: BaseException) -> bool:
        return isinstance(error, BrokenExecutor)

    def renew(self) -> None:
        self._pool.shutdown(kill_workers=True)
        self._pool = self._new()

    def close(self, *, at_once: bool) -> None:
        self._pool.shutdown(kill_workers=at_once)


def exit_with_parent(parent: int) -> None:
    """Exit soon after the parent: a killed parent cannot stop its workers."""

    def control() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=control, daemon=True).start()


class ExternalExecutor:
    """An executor of the caller, who also closes it."""

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
        return self._workers

    def submit(self, task: Task) -> Future[Part]:
        return self._executor.submit(play_task, task)

    def is_worker_death(self, error: BaseException) -> bool:
        return isinstance(error, BrokenExecutor)

    def renew(self) -> None:
        pass

    def close(self, *, at_once: bool) -> None:
        pass


BACKENDS = ("threads", "local", "dask")


def check_backend(name: str, workers: int | None, scheduler: str | None) -> None:
    """Raise if a backend is unknown, or an option is not for it."""
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
