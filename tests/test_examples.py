"""The examples run, are short, draw what they say, and what they say is so."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from evenhand.files import Settings
from evenhand.sweeps import Grid

EXAMPLES = Path(__file__).parents[1] / "examples"
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.py"))


def played(name, folder, capsys, *sizes):
    """Run an example; return what it printed."""
    runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](folder, *sizes)
    assert (folder / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    return capsys.readouterr().out


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 80


def test_the_movie_shelf_keeps_its_promises(tmp_path, capsys):
    out = played("movie_shelf", tmp_path, capsys, 2_000)
    rows = re.findall(r"shown (\S+)  promised (\S+)", out)
    assert len(rows) == 6
    assert all(float(shown) >= float(promised) - 0.002 for shown, promised in rows)
    assert "dearest promise: Silent film" in out


def test_everybody_on_shift_is_busy_as_promised_unless_greed_decides(tmp_path, capsys):
    out = played("shift_assignment", tmp_path, capsys, 10)
    fair, greedy = (
        [int(share) for share in re.findall(r"(\d+)%", line)] for line in out.splitlines()[:2]
    )
    assert min(fair) >= 43
    assert min(greedy) < 30


def test_guaranteed_impressions_are_delivered(tmp_path, capsys):
    out = played("ad_rotation", tmp_path, capsys, 4_000)
    rows = re.findall(r"delivered\s+(\S+)  guaranteed\s+(\S+)", out.replace(",", ""))
    assert len(rows) == 3
    assert all(float(delivered) >= float(due) - 3 for delivered, due in rows)


def test_floors_let_slow_devices_teach_their_digits(tmp_path, capsys):
    out = played("federated", tmp_path, capsys, 500)
    without, with_floors = (float(one) for one in re.findall(r"accuracy (\S+)", out))
    assert with_floors > without + 0.15


def test_forgetting_helps_after_a_change(tmp_path, capsys):
    out = played("forgetting", tmp_path, capsys, 3)
    before_and_after = re.findall(r"before (\S+)  after (\S+)", out)
    remembers, _, forgets = ((float(x), float(y)) for x, y in before_and_after)
    assert max(remembers[0], forgets[0]) < 0.02
    assert remembers[1] > 0.5
    assert forgets[1] < 0.05


@pytest.mark.parametrize(
    "path", sorted({*EXAMPLES.glob("*.toml")} - {EXAMPLES / "sweep.toml"}), ids=lambda p: p.name
)
def test_the_simulations_are_understood(path):
    assert Settings.load(path).policies


def test_the_sweep_is_understood():
    assert Grid.load(EXAMPLES / "sweep.toml").cells == 240
