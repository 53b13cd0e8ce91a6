"""A sweep on disk: what is missing, what is refused, what a killed sweep leaves."""

from __future__ import annotations

import json

import pytest

from evenhand import InputError
from evenhand.sweeps import folder as disk
from tests.sweeps.conftest import FILE

CONTENT = b"PAR1 content PAR1"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def start(out, grid, *, resume=False):
    disk.check(out, grid, resume=resume)
    with disk.opened(out, grid) as missing:
        return missing


def test_what_no_part_holds_is_missing(out, grid):
    assert start(out, grid) == [range(300)]
    for runs in (range(10, 20), range(20, 50), range(299, 300)):
        disk.write_part(out, runs, CONTENT)
    assert start(out, grid, resume=True) == [range(10), range(50, 299)]


def test_a_sweep_that_is_there_already_is_only_gone_on_with_if_asked(out, grid):
    start(out, grid)
    with pytest.raises(InputError, match="holds a sweep already; to go on with it, resume it"):
        disk.check(out, grid, resume=False)


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("seed = 7", "seed = 8", "seed is 7 there and 8 here"),
        ("horizons = [50, 200]", "horizons = [50]", r"horizons\[1\] is only there"),
        ("floor = 0.5", "floor = 0.55", r"instances.setting 1.floors\[0\] is 0.5 there and 0.55 h"),
        ("eta = [1, 10]", "eta = [1, 20]", "policies.tscsf-b eta=10 debt=cumulative is only there"),
        ("eta = [1, 10]", "eta = [10, 1]", "policies are in another order"),
        ("tightness = [0.5,", "tightness = [0.4,", "tightness=0.5 seed=0 is only there"),
    ],
)
def test_results_of_another_file_are_refused_with_the_difference(load, out, old, new, difference):
    start(out, load())
    other = load(FILE.replace(old, new, 1))
    with pytest.raises(InputError, match=f"holds results of another sweep: .*{difference}"):
        disk.check(out, other, resume=True)


def test_other_versions_are_refused_because_bits_could_differ(out, grid):
    start(out, grid)
    about = json.loads((out / disk.ABOUT).read_text())
    about["matching"]["numpy"] = "1.0"
    (out / disk.ABOUT).write_text(json.dumps(about))
    with pytest.raises(InputError, match=r"versions.numpy is '1.0' there"):
        disk.check(out, grid, resume=True)


def test_a_folder_with_something_else_in_it_is_left_alone(out, grid):
    out.mkdir()
    (out / "thesis.tex").write_text("x")
    for resume in (False, True):
        with pytest.raises(InputError, match="output folder must be empty or new"):
            disk.check(out, grid, resume=resume)
    assert [path.name for path in out.iterdir()] == ["thesis.tex"]


def test_rubble_of_a_killed_sweep_is_cleared_and_never_counted(out, grid):
    start(out, grid)
    disk.write_part(out, range(10), CONTENT)
    disk.write_part(out, range(10, 20), b"PAR1 cut off")
    half = out / disk.PARTS / ".000000000020-000000000030.parquet.x7f"
    half.write_bytes(b"PAR1 half")
    mine = out / ".notes"
    mine.write_text("kept")
    assert disk.check(out, grid, resume=True) == [range(10, 300)]
    assert start(out, grid, resume=True) == [range(10, 300)]
    assert not half.exists()
    assert mine.exists()


def test_a_sweep_killed_before_it_wrote_anything_can_be_resumed(out, grid):
    out.mkdir()
    (out / ".lock").touch()
    (out / ".sweep.json.x7f").write_text("{")
    assert start(out, grid, resume=True) == [range(300)]


def test_two_sweeps_do_not_write_into_one_folder(out, grid):
    with disk.opened(out, grid):
        disk.check(out, grid, resume=True)
        with (
            pytest.raises(InputError, match="being written by another sweep"),
            disk.opened(out, grid),
        ):
            pass


@pytest.mark.parametrize("runs", [range(5, 15), range(290, 301)])
def test_parts_that_overlap_or_exceed_the_grid_are_refused(out, grid, runs):
    start(out, grid)
    disk.write_part(out, range(10), CONTENT)
    disk.write_part(out, runs, CONTENT)
    with pytest.raises(InputError, match="must be a part of this sweep"):
        disk.check(out, grid, resume=True)
