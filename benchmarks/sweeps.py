"""Sweeps: two workers against one, dask against local, what scheduling costs, and 10,000 cells."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from benchmarks.row import Row
from evenhand.sweeps import Grid
from evenhand.sweeps import _speed as speed
from evenhand.sweeps.backends import open_backend
from evenhand.sweeps.progress import SweepProgress
from evenhand.sweeps.run import conduct

MINUTE = """
horizons = [5_000, 20_000]
replications = 100
seed = 7
[[instances]]
name = "random"
generate = { arms = [5, 10, 30], plays = 3, tightness = [0.7, 0.95], seeds = 2 }
[[policies]]
name = "tscsf-b"
eta = [1, 10, 100]
[[policies]]
name = "lfg"
[[policies]]
name = "priced"
"""
MANY_CELLS = """
horizons = [1_000]
replications = 5
seed = 7
[[instances]]
name = "random"
generate = { arms = [5, 10], plays = 2, tightness = [0.5, 0.6, 0.7, 0.8, 0.9], seeds = 50 }
[[policies]]
name = "tscsf-b"
eta = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
debt = ["cumulative", "reflected"]
"""
CELLS = 10_000
LOOK_SECONDS = 5.0
SHORT_SECONDS = 0.05


def measure() -> list[Row]:
    """Return all rows of this suite."""
    one, two, dask = (shorter(*how) for how in (("local", 1), ("local", 2), ("dask", 2)))
    short = {how: run(MANY_CELLS, how, 2, SHORT_SECONDS) for how in ("local", "dask")}
    many = run(MANY_CELLS, "local", 2)
    assert many["cells"] == CELLS
    idle = 1.0 - two["busy"] / (2 * two["elapsed"])
    return [
        Row("a sweep of a minute, local, 2 workers", two["seconds"], "s"),
        Row("local, 2 workers over 1", one["seconds"] / two["seconds"], "x", at_least=1.7),
        Row("dask over local, 2 workers", two["seconds"] / dask["seconds"], "x", at_least=0.9),
        Row("time of workers that is not play, local, start included", 100 * idle, "%", at_most=5),
        Row("rounds per second and core", two["rounds"] / two["busy"] / 1e6, "million"),
        Row("cost of a million rounds", two["busy"] / two["rounds"] * 1e6, "s of a core"),
        Row("seconds of play in a task", two["busy"] / two["tasks"], "s", at_least=1),
        *(
            Row(f"parent's time for a task, {how}", 1e3 * seen["parent"] / seen["tasks"], "ms")
            for how, seen in short.items()
        ),
        Row("written for a run", two["bytes"] / two["runs"], "bytes"),
        Row("memory of a local worker", two["worker_memory"], "MB"),
        Row("memory of a dask worker", dask["worker_memory"], "MB"),
        Row("10,000 cells: to the first task", many["start"], "s", at_most=5),
        Row("10,000 cells: memory of the parent", many["memory"], "MB", at_most=1000),
        Row("10,000 cells: the whole", many["seconds"], "s"),
    ]


def shorter(backend: str, workers: int) -> dict[str, float]:
    """Return the shorter of two runs of the sweep of a minute: noise only ever adds."""
    runs = [run(MINUTE, backend, workers) for _ in range(2)]
    return min(runs, key=lambda found: found["seconds"])


def run(
    text: str, backend: str, workers: int, task_seconds: float = speed.TASK_SECONDS
) -> dict[str, float]:
    """Run a sweep in a process of its own, and return what it measured of itself."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "grid.toml"
        file.write_text(text, encoding="utf-8")
        options = [str(file), backend, str(workers), str(task_seconds)]
        command = [sys.executable, "-m", "benchmarks.sweeps", *options]
        start = time.time()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found: dict[str, float] = json.loads(done.stdout)
        return {**found, "seconds": time.time() - start}


class Witness:
    """Looks at a sweep from inside its parent process."""

    def __init__(self) -> None:
        self.me = psutil.Process()
        self.start: float | None = None
        self.worker_memory = 0.0
        self.first_time = self.last_time = 0.0
        self._looked = 0.0

    def look(self, board: SweepProgress) -> None:
        """Note the first task, and now and then the largest worker there is."""
        if self.start is None:
            self.start = time.time() - self.me.create_time()
            self.first_time = time.process_time()
        self.last_time = time.process_time()
        if time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked = time.monotonic()
            for child in self.me.children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    self.worker_memory = max(self.worker_memory, child.memory_info().rss / 1e6)


def main() -> None:
    """Run one sweep, and print what was seen of it."""
    file, backend, workers = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    speed.TASK_SECONDS = float(sys.argv[4])
    speed.LEAST_SECONDS = min(speed.LEAST_SECONDS, speed.TASK_SECONDS)
    witness, out = Witness(), file.parent / "out"
    board, _ = conduct(
        Grid.load(file),
        out,
        lambda: open_backend(backend, workers),
        resume=False,
        look=witness.look,
    )
    peak = Path("/proc/self/status").read_text(encoding="ascii").split("VmHWM:")[1].split()[0]
    seen: dict[str, Any] = {
        "cells": board.grid.cells,
        "rounds": board.rounds,
        "busy": board.busy,
        "elapsed": board.elapsed,
        "runs": board.runs_done,
        "tasks": len(list((out / "parts").iterdir())),
        "bytes": sum(part.stat().st_size for part in (out / "parts").iterdir()),
        "parent": witness.last_time - witness.first_time,
        "memory": int(peak) / 1e3,
        "worker_memory": witness.worker_memory,
        "start": witness.start,
    }
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
