from __future__ import annotations

import io
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import pytest

from evenhand.cli import main

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


class Done(NamedTuple):
    """How a command has ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def evenhand(monkeypatch):
    """Run the command line in this process: all of it but the start of Python."""

    def run(*arguments):
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["evenhand", *map(str, arguments)])
        before = signal.getsignal(signal.SIGINT)
        try:
            with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
                main()
        finally:
            signal.signal(signal.SIGINT, before)
        return Done(left.value.code or 0, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def process():
    """Run the real command in a process of its own."""

    def run(*arguments):
        command = [sys.executable, "-m", "evenhand", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    return run
