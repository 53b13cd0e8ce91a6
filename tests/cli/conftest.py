from __future__ import annotations

import subprocess
import sys

import pytest

FILE = """
plays = 2
horizon = 200
replications = 4
seed = 7
[[arms]]
name = "a"
floor = 0.5
mean = 0.4
availability = 0.9
[[arms]]
name = "b"
mean = 0.5
availability = 0.8
[[arms]]
name = "c [x] :cat:"
floor = 0.1
mean = 0.7
availability = 0.7
[[policies]]
name = "tscsf-b"
eta = 10
debt = "reflected"
label = "TS [red], reflected"
[[policies]]
name = "uniform"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "setting.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture
def evenhand():
    """Run the real command in a process of its own."""

    def run(*arguments):
        command = [sys.executable, "-m", "evenhand", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    return run
