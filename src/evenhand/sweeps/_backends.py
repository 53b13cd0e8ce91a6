"""Where tasks are played: threads here, processes here, a dask cluster, anybody's executor.

A backend says how many workers there are, can replace an executor that broke, and knows by which
error it tells that a worker died.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Protocol

from evenhand._base.checks import check_choice, check_whole
from evenhand._base.extras import load
from evenhand._base.provenance import matching_versions, version_differences
from evenhand.errors import EvenhandError, InputError
from evenhand.simulation._run import new_watch
from evenhand.simulation._runner import available_cores
from evenhand.sweeps._tasks import Part, Task, play_task

ANSWER_SECONDS = 5
LOOK_SECONDS = 0.5
# What a cluster of our own need not do: it has no dashboard, its workers do nothing but play, and
# tasks are tried again by us.
CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.scheduler.allowed-failures": 0,
}


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


def worker_count(workers: int | None) -> int:
    """Return a checked number of workers; all cores that this process may use by default."""
    return available_cores() if workers is None else check_whole("workers", workers, least=1)


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


class Dask:
    """A dask cluster: the one behind a scheduler's address, or else one on this machine."""

    def __init__(self, scheduler: str | None = None, workers: int | None = None) -> None:
        distributed = load("distributed")
        self._killed: type[BaseException] = distributed.KilledWorker
        self._closing = ExitStack()
        try:
            self._closing.enter_context(silenced_logs("distributed"))
            if scheduler is None:
                scheduler = self._own_cluster(distributed, workers)
            self._client = connect(distributed, scheduler)
            self._closing.callback(self._client.close, timeout=ANSWER_SECONDS)
            self._executor: Executor = self._client.get_executor(pure=False)
            self._check_versions()
        except BaseException:
            self._closing.close()
            raise

    def _own_cluster(self, distributed: Any, workers: int | None) -> str:
        """Start a scheduler and workers on this machine; return the address."""
        with interrupts_ignored(), load("dask").config.set(CALM):
            cluster = distributed.LocalCluster(
                n_workers=worker_count(workers),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        self._closing.callback(cluster.close, timeout=ANSWER_SECONDS)
        return str(cluster.scheduler_address)

    def _check_versions(self) -> None:
        """Refuse workers with other packages: they would refuse the tasks, one by one."""
        try:
            there = self._client.run(matching_versions)
        except ImportError as error:
            raise InputError(f"every worker must have evenhand[cluster], got: {error}") from None
        for worker, versions in there.items():
            different = version_differences(matching_versions(), versions)
            if different:
                raise InputError(
                    f"worker {worker} must have the versions that are here, got "
                    f"{', '.join(different)}"
                )

    def workers(self) -> int:
        """Return the threads of all workers that are there now."""
        try:
            return sum(self._client.nthreads().values())
        except (OSError, RuntimeError, ValueError) as error:
            raise EvenhandError(f"the scheduler no longer answers: {error}") from None

    def submit(self, task: Task) -> Future[Part]:
        """Have a task played."""
        return self._executor.submit(play_task, task)

    def tells_of_death(self, error: BaseException) -> bool:
        """Say yes if the scheduler has given a task up because of its workers."""
        return isinstance(error, self._killed)

    def renew(self) -> None:
        """Leave it to the scheduler: its workers come and go."""

    def close(self, *, at_once: bool) -> None:
        """Leave the scheduler; a cluster of our own ends."""
        with self._closing:
            self._executor.shutdown(wait=not at_once)


@contextmanager
def silenced_logs(package: str) -> Iterator[None]:
    """Keep a package from writing over the live table; what matters is raised anyway."""
    names = [package, *(name for name in logging.root.manager.loggerDict if _within(name, package))]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _within(name: str, package: str) -> bool:
    return name.startswith(f"{package}.")


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Let processes be started that leave Ctrl-C to this one, which will tell them to stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def connect(distributed: Any, address: str) -> Any:
    """Return a client, or complain about a scheduler that does not answer in time.

    The first handshake is our own: a client that finds nobody takes long to give up.
    """
    try:
        asyncio.run(_greet(distributed, address))
        return distributed.Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
    except Exception as error:
        usual = isinstance(error, OSError | ValueError) and str(error)
        reason = str(error) if usual else "what is there is no scheduler of dask's"
        raise InputError(
            f"scheduler must answer within {ANSWER_SECONDS} seconds, got none at {address!r}: "
            f"{reason}"
        ) from None


async def _greet(distributed: Any, address: str) -> None:
    secrets = distributed.Security().get_connection_args("client")
    hello = load("distributed.comm").connect(address, timeout=ANSWER_SECONDS, **secrets)
    comm = await asyncio.wait_for(hello, ANSWER_SECONDS)
    await comm.close()


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
