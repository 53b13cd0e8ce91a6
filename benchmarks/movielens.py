"""Reading 20,000,263 generated ratings: against a bare scan of the same file."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.row import Row
from evenhand.lab.paper.movielens import write_synthetic

RATINGS = 20_000_263
COUNT = """
import sys, time, polars as pl
scan = pl.scan_csv(sys.argv[1])
times = []
for _ in range(3):
    start = time.perf_counter()
    scan.select({what}).collect(engine="streaming")
    times.append(time.perf_counter() - start)
print(min(times))
"""
READ = """
import re, sys, time
from pathlib import Path
from evenhand.lab.paper.movielens import load_release
times = []
for _ in range(3):
    start = time.perf_counter()
    load_release(Path(sys.argv[1]).parent)
    times.append(time.perf_counter() - start)
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1)
print(min(times), int(peak) / 1024)
"""


def measure() -> list[Row]:
    """Return all rows of this suite; every figure comes from a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "sample"
        write_synthetic(place, ratings=RATINGS)
        file = str(place / "ratings.csv")
        (lines,) = run(COUNT.format(what="pl.len()"), file)
        (parsed,) = run(COUNT.format(what="pl.all().count()"), file)
        seconds, memory = run(READ, file)
    return [
        Row("20,000,263 ratings: file to per-user table", seconds, "s"),
        Row("over a polars scan that counts the rows it parses", seconds / parsed, "x", at_most=3),
        Row("over polars' count of line ends, which parses nothing", seconds / lines, "x"),
        Row("memory", memory, "MB", at_most=1_500),
    ]


def run(program: str, file: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", program, file], capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]
