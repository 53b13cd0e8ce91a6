"""The dry run: a measured estimate, and warnings instead of a refusal."""

from __future__ import annotations

import time

import pytest

from evenhand.sweeps import forecast as forecasting
from evenhand.sweeps.backends import Processes
from evenhand.sweeps.forecast import forecast, probe
from evenhand.sweeps.run import conduct
from tests.sweeps.conftest import FILE
from tests.sweeps.test_runner import TOO_MUCH


def test_an_estimate_is_of_the_right_order(load, tmp_path):
    grid = load(FILE.replace("[50, 200]", "[20_000]"))
    found = forecast(grid, [range(grid.runs)])
    progress, _ = conduct(grid, tmp_path / "out", lambda: Processes(1), resume=False)
    assert progress.busy / 3 < found.seconds < 3 * progress.busy
    assert found.warnings == []


def test_what_is_left_takes_less(grid, monkeypatch):
    monkeypatch.setattr(forecasting, "probe", lambda cell, grid: 1.0)
    whole, half = forecast(grid, [range(300)]), forecast(grid, [range(150)])
    assert whole.seconds == pytest.approx(300, rel=0.2)
    assert half.seconds == pytest.approx(150, rel=0.2)
    nothing = forecast(grid, [])
    assert (nothing.seconds, nothing.probes) == (0.0, 0)


def test_a_probe_scales_a_part_of_a_long_run_up(load):
    grid = load(FILE.replace("[50, 200]", "[1_000_000_000]"))
    start = time.monotonic()
    seconds = probe(grid.cell(0), grid)
    assert time.monotonic() - start < 10
    assert 50 < seconds < 5_000


def test_floors_that_do_not_fit_are_told_and_the_rest_is_planned(load):
    grid = load(FILE + TOO_MUCH)
    found = forecast(grid, [range(grid.runs)])
    told = "the floors of instance 'too much' cannot all be kept: it has no regret at T = 50, 200"
    assert told in found.warnings
    assert any("opt-f" in warning and "cannot be played" in warning for warning in found.warnings)
    assert found.seconds > 0.0
