"""Where tasks are played: anything that is a :class:`concurrent.futures.Executor`.

An engine says how many workers there are, gives a healthy executor whenever it is asked for one,
and knows by which error it tells that a worker died.
"""

from __future__ import annotations

import logging
from concurrent.futures import BrokenExecutor, Executor
from typing import Any, Protocol

from evenhand.checks import whole
from evenhand.errors import EvenhandError, InputError
from evenhand.extras import load
from evenhand.simulation.runner import available_cores

ANSWER_SECONDS = 8
IDLE_SECONDS = 10


class Engine(Protocol):
    """Where tasks are played.

    ``deaths`` are errors that tell of a dead worker, ``deaths_each`` how many of them one error
    stands for: some engines try again themselves.
    """

    deaths: tuple[type[BaseException], ...]
    deaths_each: int

    def workers(self) -> int:
        """Return how many tasks can be played at the same time; it may change."""

    def executor(self) -> Executor:
        """Return an executor that takes tasks, a new one if the last one broke."""

    def close(self, *, at_once: bool) -> None:
        """Let workers go; at once means without waiting for what they are doing."""


class Local:
    """Processes on this machine, one per core by default: loky's reusable executor."""

    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
    deaths_each = 1

    def __init__(self, workers: int | None = None) -> None:
        self._workers = available_cores() if workers is None else whole("workers", workers, least=1)
        self._get = load("loky").get_reusable_executor

    def workers(self) -> int:
        """Return the number of processes."""
        return self._workers

    def executor(self) -> Executor:
        """Return the reusable executor; loky replaces a broken one."""
        executor: Executor = self._get(max_workers=self._workers, timeout=IDLE_SECONDS)
        return executor

    def close(self, *, at_once: bool) -> None:
        """Stop the processes."""
        self._get(max_workers=self._workers, timeout=IDLE_SECONDS).shutdown(kill_workers=at_once)


class Cluster:
    """A dask cluster: the one behind a scheduler's address, or else one on this machine."""

    deaths_each = 4

    def __init__(self, scheduler: str | None = None, workers: int | None = None) -> None:
        if scheduler is not None and workers is not None:
            raise InputError("workers must be left out where a scheduler is named: it has its own")
        distributed = load("distributed")
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.deaths: tuple[type[BaseException], ...] = (distributed.KilledWorker,)
        self._cluster: Any = None
        if scheduler is None:
            self._cluster = distributed.LocalCluster(
                n_workers=Local(workers).workers(),
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        self._client = _connect(distributed, scheduler or self._cluster.scheduler_address)
        self._executor: Executor = self._client.get_executor(pure=False)

    def workers(self) -> int:
        """Return the threads of all workers that are there now."""
        try:
            return sum(self._client.nthreads().values())
        except (OSError, RuntimeError, ValueError) as error:
            raise EvenhandError(f"the scheduler no longer answers: {error}") from None

    def executor(self) -> Executor:
        """Return the executor of the client."""
        return self._executor

    def close(self, *, at_once: bool) -> None:
        """Leave the scheduler; a cluster of our own ends."""
        self._executor.shutdown(wait=not at_once)
        self._client.close(timeout=ANSWER_SECONDS)
        if self._cluster is not None:
            self._cluster.close(timeout=ANSWER_SECONDS)


def _connect(distributed: Any, address: str) -> Any:
    """Return a client, or complain about a scheduler that does not answer in time."""
    try:
        return distributed.Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        reason = str(error) or type(error).__name__
        raise InputError(
            f"scheduler must answer within {ANSWER_SECONDS} seconds, got none at {address!r}: "
            f"{reason}"
        ) from None


class Borrowed:
    """Somebody else's executor, which they will close."""

    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
    deaths_each = 1

    def __init__(self, executor: Executor, workers: int) -> None:
        self._executor = executor
        self._workers = workers

    def workers(self) -> int:
        """Return the number that was stated."""
        return self._workers

    def executor(self) -> Executor:
        """Return the executor, broken or not: it cannot be replaced."""
        return self._executor

    def close(self, *, at_once: bool) -> None:
        """Leave it to its owner."""
