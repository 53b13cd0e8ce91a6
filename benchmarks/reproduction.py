"""The paper's whole evaluation from a cold start, and what of it is compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.row import Row
from evenhand.results import Results


def measure() -> list[Row]:
    """Return all rows of this suite."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        cold = seconds(place / "cold", place / "cache")
        warm = seconds(place / "warm", place / "cache")
        quick = seconds(place / "quick", place / "other cache", "--quick")
        cells = [Results.load(cell) for cell in (place / "cold" / "cells").iterdir()]
    rounds = sum(len(cell.labels) * cell.replications * cell.horizon for cell in cells)
    return [
        Row("rounds of the reproduction", rounds / 1e6, "million", at_least=100),
        Row("reproduction, nothing compiled yet", cold, "s", at_most=60),
        Row("reproduction, compiled before", warm, "s"),
        Row("share of compilation", 100 * (cold - warm) / cold, "%"),
        Row("rounds per second", rounds / sum(cell.seconds for cell in cells) / 1e6, "million"),
        Row("quick look, nothing compiled yet", quick, "s", at_most=20),
    ]


def seconds(out: Path, cache: Path, *options: str) -> float:
    command = [sys.executable, "-m", "evenhand", "reproduce", "--out", str(out), *options]
    start = time.perf_counter()
    subprocess.run(
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    return time.perf_counter() - start
