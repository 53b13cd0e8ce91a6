"""A sweep on disk: what is missing, what is refused, what a killed sweep leaves."""

from __future__ import annotations

import json
import threading
from functools import partial

import polars as pl
import pytest

from evenhand import InputError, SweepResults
from evenhand.core.provenance import matching_versions
from evenhand.core.sealed import sealed_parquet
from evenhand.sweeps import folder as disk
from evenhand.sweeps._parts import part_of
from tests.sweeps.conftest import FILE


def write_part(out, grid, runs):
    """Write a part that holds what a part must, but no table worth reading."""
    table = pl.DataFrame({"run": list(runs)})
    disk.write_part(out, runs, sealed_parquet(table, part_of(grid.digest, runs)))


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def check(out, grid, *, resume, any_version=False):
    return disk.check(out, grid, resume=resume, any_version=any_version).missing


def opened(out, grid, *, any_version=False):
    return disk.opened(out, grid, any_version=any_version)


def start(out, grid, *, resume=False, any_version=False):
    check(out, grid, resume=resume, any_version=any_version)
    with opened(out, grid, any_version=any_version) as missing:
        return missing


def test_what_no_part_holds_is_missing(out, grid):
    assert start(out, grid) == [range(300)]
    for runs in (range(10, 20), range(20, 50), range(299, 300)):
        write_part(out, grid, runs)
    assert start(out, grid, resume=True) == [range(10), range(50, 299)]


def test_a_sweep_that_is_there_already_is_only_gone_on_with_if_asked(out, grid):
    start(out, grid)
    with pytest.raises(InputError, match="holds a sweep already; to go on with it, resume it"):
        check(out, grid, resume=False)


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("seed = 7", "seed = 8", "seed is 7 there and 8 here"),
        ("horizons = [50, 200]", "horizons = [50]", r"horizons\[1\] is only there"),
        ("floor = 0.5", "floor = 0.55", r"instances\[0\].arms\[0\].floor is 0.5 there and 0.55 h"),
        (
            "eta = [1, 10]",
            "eta = [1, 20]",
            r"policies\[2\].eta is 10.0 there and 20.0 here",
        ),
        ("eta = [1, 10]", "eta = [10, 1]", r"policies\[0\].eta is 1.0 there and 10.0 here"),
        ("tightness = [0.5,", "tightness = [0.4,", r"generate.tightness is 0.5 there and 0.4 here"),
    ],
)
def test_results_of_another_file_are_refused_with_the_difference(load, out, old, new, difference):
    start(out, load())
    other = load(FILE.replace(old, new, 1))
    with pytest.raises(InputError, match=f"holds results of another sweep: .*{difference}"):
        check(out, other, resume=True)


def test_other_versions_are_refused_because_bits_could_differ(out, grid):
    start(out, grid)
    about = json.loads((out / disk.ABOUT).read_text())
    about["matching"]["numpy"] = "1.0"
    (out / disk.ABOUT).write_text(json.dumps(about))
    with pytest.raises(InputError, match=r"other code, .*: versions.numpy is '1.0' there"):
        check(out, grid, resume=True)
    assert start(out, grid, resume=True, any_version=True) == [range(300)]
    assert "also" not in json.loads((out / disk.ABOUT).read_text()), "nothing was played"
    disk.note_versions(out, grid)
    assert start(out, grid, resume=True) == [range(300)], "asked once is enough"
    said = json.loads((out / disk.ABOUT).read_text())
    assert said["matching"]["numpy"] == "1.0"
    assert [other["numpy"] for other in said["also"]] == [matching_versions()["numpy"]]


@pytest.mark.parametrize("version", [None, 0, 1, 3, "2"])
def test_a_folder_of_another_format_is_refused_with_a_sentence(out, grid, version):
    start(out, grid)
    about = json.loads((out / disk.ABOUT).read_text())
    about["version"] = version
    (out / disk.ABOUT).write_text(json.dumps(about))
    with pytest.raises(InputError, match=r"sweep.json: evenhand sweep must be of a version"):
        SweepResults(out)


def test_a_folder_with_something_else_in_it_is_left_alone(out, grid):
    out.mkdir()
    (out / "thesis.tex").write_text("x")
    for resume in (False, True):
        with pytest.raises(InputError, match="output folder must be empty or new"):
            check(out, grid, resume=resume)
    assert [path.name for path in out.iterdir()] == ["thesis.tex"]


def test_rubble_of_a_killed_sweep_is_cleared_and_never_counted(out, grid):
    start(out, grid)
    write_part(out, grid, range(10))
    disk.write_part(out, range(10, 20), b"PAR1 cut off")
    half = out / disk.PARTS / ".000000000020-000000000030.parquet.x7f"
    half.write_bytes(b"PAR1 half")
    mine = out / ".notes"
    mine.write_text("kept")
    assert check(out, grid, resume=True) == [range(10, 300)]
    assert start(out, grid, resume=True) == [range(10, 300)]
    assert not half.exists()
    assert mine.exists()


def test_a_sweep_killed_before_it_wrote_anything_can_be_resumed(out, grid):
    out.mkdir()
    (out / ".lock").touch()
    (out / ".sweep.json.x7f").write_text("{")
    assert start(out, grid, resume=True) == [range(300)]


def test_two_sweeps_do_not_write_into_one_folder(out, grid):
    refused = []

    def other():
        checking = partial(check, out, grid, resume=True)
        for attempt in (checking, opened(out, grid).__enter__):
            with pytest.raises(InputError, match="being written by another process"):
                attempt()
            refused.append(attempt)

    with opened(out, grid):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(refused) == 2


@pytest.mark.parametrize("runs", [range(5, 15), range(290, 301)])
def test_parts_that_overlap_or_exceed_the_grid_are_refused(out, grid, runs):
    start(out, grid)
    write_part(out, grid, range(10))
    write_part(out, grid, runs)
    with pytest.raises(InputError, match="must be a part of this sweep"):
        check(out, grid, resume=True)


# Parts that are not what their names say


@pytest.fixture
def played(out, grid):
    """A folder with two parts."""
    start(out, grid)
    for runs in (range(10), range(10, 20)):
        write_part(out, grid, runs)
    return out


def two_parts(out):
    return sorted((out / disk.PARTS).glob("*.parquet"))


def swap(out, load):
    one, two = two_parts(out)
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)


def of_another_seed(out, load):
    other = load(FILE.replace("seed = 7", "seed = 8"))
    write_part(out, other, range(10))
    write_part(out, other, range(10, 20))


def drop_rows(out, load):
    for path in two_parts(out):
        pl.read_parquet(path).head(-3).write_parquet(path)


def flip_a_bit(out, load):
    for path in two_parts(out):
        content = bytearray(path.read_bytes())
        content[20] ^= 4
        path.write_bytes(content)


@pytest.mark.parametrize("damage", [swap, of_another_seed, drop_rows, flip_a_bit])
def test_a_part_that_does_not_fit_is_put_aside_and_played_again(played, grid, load, damage, caplog):
    damage(played, load)
    load()
    assert check(played, grid, resume=True) == [range(300)]
    assert start(played, grid, resume=True) == [range(300)]
    assert "is put aside and played again" in caplog.text
    assert len(list((played / disk.PARTS).glob("*.damaged"))) == 2
    assert not two_parts(played)
