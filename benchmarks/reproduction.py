"""The paper's whole evaluation from a cold start, and what of it is compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.row import Row
from evenhand.sweeps import SweepResults


def measure() -> list[Row]:
    """Return all rows of this suite."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        cold = seconds(place / "cold", place / "cache")
        warm = seconds(place / "warm", place / "cache")
        quick = seconds(place / "quick", place / "other cache", "--quick")
        played = [SweepResults(place / "cold" / name) for name in ("settings", "movies")]
        cells = [line for found in played for line in found.summary().to_dicts()]
    rounds = sum(cell["replications"] * cell["horizon"] for cell in cells)
    return [
        Row("rounds of the reproduction", rounds / 1e6, "million", at_least=100),
        Row("reproduction, nothing compiled yet", cold, "s", at_most=60),
        Row("reproduction, compiled before", warm, "s"),
        Row("share of compilation", 100 * (cold - warm) / cold, "%"),
        Row("rounds per second, start and page included", rounds / warm / 1e6, "million"),
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
