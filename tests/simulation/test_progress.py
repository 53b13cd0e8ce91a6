"""Progress: shown to people, after a second; silent elsewhere."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

PROGRAM = """
from evenhand import Environment, Problem, simulate
environment = Environment(Problem(3, plays=1), 0.5, 0.5)
simulate(environment, ["uniform"], horizon={horizon}, replications=2, workers=1)
"""


def output_on_a_terminal(horizon):
    parent, child = pty.openpty()
    program = PROGRAM.format(horizon=horizon)
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen([sys.executable, "-c", program], stderr=child, env=environment)
    os.close(child)
    seen = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    assert process.wait(timeout=60) == 0
    return seen.decode()


@pytest.mark.parametrize(("horizon", "shown"), [(6_000_000, True), (1_000, False)])
def test_a_bar_with_speed_and_time_left_appears_after_a_second(horizon, shown):
    seen = output_on_a_terminal(horizon)
    assert ("simulating" in seen) is shown
    assert ("rounds/s" in seen) is shown
    assert bool(re.search(r"\d:\d\d:\d\d", seen)) is shown


def test_nothing_is_shown_where_nobody_looks():
    program = PROGRAM.format(horizon=6_000_000)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout + done.stderr == b""
