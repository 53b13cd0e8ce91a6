"""A dask cluster as a backend."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from typing import Any

from evenhand.core.extras import load
from evenhand.core.provenance import matching_versions, version_differences
from evenhand.errors import EvenhandError, InputError
from evenhand.simulation.runner import worker_count
from evenhand.sweeps._tasks import Part, Task, play_task

ANSWER_SECONDS = 5
log = logging.getLogger(__name__)
# What a cluster of our own need not do: it has no dashboard, its workers do nothing but play, and
# tasks are tried again by us.
CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.scheduler.allowed-failures": 0,
}


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
            self._closing.callback(let_go, self._client)
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
        self._closing.callback(let_go, cluster)
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
        try:
            return sum(self._client.nthreads().values())
        except (OSError, RuntimeError, ValueError) as error:
            raise EvenhandError(f"the scheduler no longer answers: {error}") from None

    def submit(self, task: Task) -> Future[Part]:
        return self._executor.submit(play_task, task)

    def is_worker_death(self, error: BaseException) -> bool:
        return isinstance(error, self._killed)

    def renew(self) -> None:
        pass

    def close(self, *, at_once: bool) -> None:
        with self._closing:
            self._executor.shutdown(wait=not at_once)


def let_go(thing: Any) -> None:
    """Close a client or a cluster; give up after a while, the results are safe."""
    try:
        thing.close(timeout=ANSWER_SECONDS)
    except TimeoutError as error:
        log.warning("%s did not close in time: %s", type(thing).__name__, error)


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
    """Start processes that ignore Ctrl-C; this process stops them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def connect(distributed: Any, address: str) -> Any:
    """Return a client, or raise if the scheduler does not answer in time.

    We connect first ourselves: the client takes long to time out.
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
