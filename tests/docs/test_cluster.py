"""docs/cluster.md, with the other hosts on this one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess

import pytest

from evenhand import SweepResults
from tests.docs.pages import BIN, check_set_up, commands, run

GRID = """
horizons = [200]
replications = 2
[[instances]]
name = "random"
generate = { arms = 5, plays = 2, tightness = 0.8, seeds = 1 }
[[policies]]
name = "uniform"
"""


@pytest.fixture
def background(tmp_path):
    """Start commands that go on until the test ends, with all that they start."""
    started = []

    def start(command):
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)

    yield start
    for process in started:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_the_page_leads_to_a_sweep_on_several_workers(tmp_path, background):
    (tmp_path / "grid.toml").write_text(GRID, encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    for command in commands("cluster"):
        if check_set_up(command):
            continue
        here = (
            command.replace("venv/bin/", "").replace("8786", port).replace("SCHEDULER", "127.0.0.1")
        )
        here = here.replace("FILE.toml", "grid.toml").replace("DIR", "out")
        if here.startswith("dask"):
            background(f"exec {here}{' --host 127.0.0.1' if 'scheduler' in here else ''}")
            continue
        done = run(
            f"for i in 1 2 3 4 5 6; do {here} --resume && exit 0; sleep 1; done; exit 1", tmp_path
        )
        assert done.returncode == 0, done.stderr
    assert SweepResults(tmp_path / "out").complete
