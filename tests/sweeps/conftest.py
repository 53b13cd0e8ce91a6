from __future__ import annotations

import pytest

from evenhand.sweeps import Grid

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
