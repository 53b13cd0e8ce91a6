"""Backends: who answers, who refuses, and which versions must match."""

from __future__ import annotations

import logging
import multiprocessing
import os
import socket
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import loky
import psutil
import pytest

from evenhand import Anytime, Generated, Grid, InputError, run_sweep
from evenhand.core import provenance
from evenhand.core.provenance import matching_versions
from evenhand.sweeps import _dask as dask
from evenhand.sweeps._tasks import Task, play_task
from evenhand.sweeps._versions import VersionError, check_versions
from evenhand.sweeps.backends import Dask, ExternalExecutor, Processes, Threads, open_backend
from evenhand.sweeps.run import conduct
from tests.sweeps.conftest import with_a_deadly_one


def test_local_workers_are_as_many_as_asked_for():
    assert Processes(3).workers() == 3
    assert Processes().workers() >= 1
    with pytest.raises(InputError, match="workers must be a whole number of at least 1, got 0"):
        Processes(0)


def test_a_worker_with_other_packages_refuses_the_task():
    check_versions(matching_versions())
    other = {**matching_versions(), "numpy": "1.0", "new": "2"}
    with pytest.raises(
        VersionError, match=r"got numpy 2\.\S+ instead of 1.0, new None instead of 2"
    ):
        play_task(Task((), 7, 0, (10, 50), Anytime(), "digest", other))


def test_a_cluster_with_other_packages_is_refused(monkeypatch):
    here = {**matching_versions(), "source": "edited"}
    monkeypatch.setattr(dask, "matching_versions", Edited(here))
    with pytest.raises(
        InputError, match=r"worker tcp://\S+ must have .* got source \w+ instead of"
    ):
        Dask(None, workers=1)


class Edited:
    """Answers differently here; on a worker, where it is unpickled, it is the real thing."""

    def __init__(self, here):
        self.here = here

    def __call__(self):
        return self.here

    def __reduce__(self):
        return getattr, (provenance, "matching_versions")


def test_a_task_that_kills_the_workers_of_a_cluster_is_found_out(grid, tmp_path):
    small = with_a_deadly_one(2)
    progress, _ = conduct(small, tmp_path / "out", lambda: Dask(None, 2), resume=False)
    assert [failure.cell for failure in progress.given_up] == ["deadly | lfg | T=50"]
    assert progress.runs_done == 4


def test_one_worker_several_and_a_cluster_give_the_same_tables(grid, tmp_path, small_tasks):
    ways = {
        "threads": lambda: Threads(2),
        "one": lambda: Processes(1),
        "two": lambda: Processes(2),
        "dask": lambda: Dask(None, 2),
    }
    found = {
        name: conduct(grid, tmp_path / name, way, resume=False).results
        for name, way in ways.items()
    }
    for results in found.values():
        assert len(list((results.folder / "parts").iterdir())) > 5
        assert results.runs().equals(found["one"].runs())
        assert results.summary().equals(found["one"].summary())


def test_a_borrowed_executor_says_how_many_workers_it_has():
    with ThreadPoolExecutor(7) as pool:
        assert ExternalExecutor(pool).workers() == 7
        assert ExternalExecutor(pool, 3).workers() == 3


def test_a_pool_that_forks_is_refused_and_one_that_spawns_is_not(grid, tmp_path):
    fork, spawn = (multiprocessing.get_context(name) for name in ("fork", "spawn"))
    with ProcessPoolExecutor(1, mp_context=fork) as pool, pytest.raises(InputError, match="forks"):
        run_sweep(grid, tmp_path / "out", executor=pool)
    assert not (tmp_path / "out").exists()
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        assert run_sweep(grid, tmp_path / "out", executor=pool).complete


def test_a_scheduler_that_accepts_and_stays_silent_is_given_up_in_time():
    with socket.create_server(("127.0.0.1", 0)) as mute:
        start = time.monotonic()
        with pytest.raises(InputError, match="scheduler must answer within 5 seconds"):
            Dask(f"tcp://127.0.0.1:{mute.getsockname()[1]}")
        assert time.monotonic() - start < 9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("dask", 2, "tcp://127.0.0.1:1"), "workers must be left out where a scheduler is named"),
        (("local", None, "tcp://127.0.0.1:1"), "a scheduler must be left out unless .* dask"),
        (("loccal", None, None), "backend must be one of 'threads', 'local', 'dask'"),
        (("threads", 0, None), "workers must be a whole number of at least 1"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        open_backend(*given)


def test_threads_that_nobody_waits_for_stop_within_a_round(tmp_path):
    grid = Grid({"x": Generated(5, 2, 0.9, 1)}, ["tscsf-b"], 10**12)

    def impatient(progress):
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        conduct(grid, tmp_path / "out", lambda: Threads(2), resume=False, look=impatient)
    assert time.monotonic() - start < 30


def test_what_answers_but_is_no_scheduler_is_refused():
    import socketserver
    import threading

    class Chatty(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4)

    with socketserver.TCPServer(("127.0.0.1", 0), Chatty) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(InputError, match="scheduler must answer within 5 seconds, got none at"):
            Dask(f"tcp://127.0.0.1:{server.server_address[1]}")
        server.shutdown()


def test_a_cluster_leaves_the_callers_logs_and_processes_as_they_were(grid, tmp_path, monkeypatch):
    log = logging.getLogger("distributed.scheduler")
    log.setLevel(logging.INFO)
    monkeypatch.setattr(dask, "connect", lambda distributed, address: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Dask(None, workers=1)
    assert log.level == logging.INFO
    deadline = time.monotonic() + 10
    while psutil.Process().children(recursive=True) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = [child.cmdline() for child in psutil.Process().children(recursive=True)]
    assert not [command for command in left if "distributed" in " ".join(command)]


def test_a_sweep_leaves_the_callers_own_loky_pool_alone(grid, tmp_path):
    mine = loky.get_reusable_executor(max_workers=1)
    before = mine.submit(os.getpid).result()
    conduct(grid, tmp_path / "out", lambda: Processes(1), resume=False)
    assert mine.submit(os.getpid).result() == before
    mine.shutdown()
