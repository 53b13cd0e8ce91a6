from __future__ import annotations

import os
import signal
from dataclasses import dataclass

import pytest

from evenhand.generate import Generated
from evenhand.sweeps import Grid
from evenhand.sweeps import _speed as speed

FILE = """
horizons = [50, 200]
replications = 6
seed = 7

[[instances]]
name = "setting 1"
plays = 2
[[instances.arms]]
name = "a"
floor = 0.5
mean = 0.4
availability = 0.9
[[instances.arms]]
name = "b"
floor = 0.6
mean = 0.5
availability = 0.8
[[instances.arms]]
name = "c"
floor = 0.4
mean = 0.7
availability = 0.7

[[instances]]
name = "random"
generate = { arms = 5, plays = 2, tightness = [0.5, 0.9], seeds = 2 }

[[policies]]
name = "tscsf-b"
eta = [1, 10]
debt = ["cumulative", "reflected"]

[[policies]]
name = "lfg"
"""


@dataclass(frozen=True)
class Deadly(Generated):
    """An instance that kills whoever tries to build it, as one too large for memory would."""

    def build(self):
        os.kill(os.getpid(), signal.SIGKILL)


def with_a_deadly_one(replications):
    """A grid of three instances, the middle one of which kills its workers."""
    instances = {
        "before": Generated(5, 2, 0.5, 0),
        "deadly": Deadly(5, 2, 0.9, 7),
        "after": Generated(5, 2, 0.9, 1),
    }
    return Grid(instances, ["lfg"], 50, replications, seed=7)


@pytest.fixture
def small_tasks(monkeypatch):
    """Cut tasks so small that a small grid has many of them."""
    monkeypatch.setattr(speed, "TASK_SECONDS", 1e-4)
    monkeypatch.setattr(speed, "LEAST_SECONDS", 1e-4)


@pytest.fixture
def load(tmp_path):
    """Read a grid from a text."""

    def read(text=FILE):
        path = tmp_path / "grid.toml"
        path.write_text(text, encoding="utf-8")
        return Grid.load(path)

    return read


@pytest.fixture
def grid(load):
    return load()
