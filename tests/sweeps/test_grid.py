"""A grid: what a file says, crossed, numbered, and checked at the door."""

from __future__ import annotations

import dataclasses

import pytest

from evenhand import InputError
from evenhand.sweeps.instances import Generated
from tests.sweeps.conftest import FILE


def test_everything_is_crossed(grid):
    names = [instance.name for instance in grid.instances]
    assert names == [
        "setting 1",
        "random tightness=0.5 seed=0",
        "random tightness=0.5 seed=1",
        "random tightness=0.9 seed=0",
        "random tightness=0.9 seed=1",
    ]
    assert list(grid.policies) == [
        "tscsf-b eta=1 debt=cumulative",
        "tscsf-b eta=1 debt=reflected",
        "tscsf-b eta=10 debt=cumulative",
        "tscsf-b eta=10 debt=reflected",
        "lfg",
    ]
    assert (grid.cells, grid.runs, grid.rounds) == (5 * 5 * 2, 50 * 6, 25 * 250 * 6)


def test_cells_are_numbered_instances_first_then_policies_then_horizons(grid):
    cells = [grid.cell(number) for number in range(grid.cells)]
    assert len({str(cell) for cell in cells}) == grid.cells
    assert str(cells[0]) == "setting 1 | tscsf-b eta=1 debt=cumulative | T=50"
    assert str(cells[1]) == "setting 1 | tscsf-b eta=1 debt=cumulative | T=200"
    assert str(cells[2]) == "setting 1 | tscsf-b eta=1 debt=reflected | T=50"
    assert str(cells[10]).startswith("random tightness=0.5 seed=0 |")
    assert sum(cell.horizon for cell in cells) * grid.replications == grid.rounds


def test_a_label_stands_for_the_name(load):
    text = FILE.replace('name = "lfg"', 'name = "lfg"\nlabel = "rival"\neta = [1, 2]')
    assert list(load(text).policies)[-2:] == ["rival eta=1", "rival eta=2"]


def test_instances_may_be_files_for_simulate(load, tmp_path):
    arms = '[[arms]]\nname = "a"\nfloor = 0.5\nmean = 0.4\navailability = 0.9\n'
    (tmp_path / "one.toml").write_text(f'plays = 1\nhorizon = 9\n{arms}[[policies]]\nname="ucb"')
    text = 'horizons = 5\n[[instances]]\nfiles = ["one.toml"]\n[[policies]]\nname = "uniform"'
    (instance,) = load(text).instances
    assert (instance.name, instance.arms, instance.plays) == ("one", 1, 1)
    assert instance.build().problem.floors.tolist() == [0.5]


def test_a_generated_instance_depends_on_its_numbers_alone():
    one, two = (Generated("x", 8, 2, 0.9, seed).build() for seed in (3, 4))
    again = Generated("another name", 8, 2, 0.9, 3).build()
    assert one.means.tolist() == again.means.tolist()
    assert one.problem == again.problem
    assert one.means.tolist() != two.means.tolist()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("replications = 6", "replicatoins = 6", "did you mean 'replications'"),
        ('name = "random"\ngenerate', 'nam = "random"\ngenerate', "did you mean 'name'"),
        ("tightness =", "tightnes =", "did you mean 'tightness'"),
        ("debt = [", "dept = [", "did you mean 'debt'"),
        ('name = "lfg"', 'name = "lgf"', "did you mean 'lfg'"),
        (
            "horizons = [50, 200]",
            "horizons = []",
            "must have horizons: without any the grid is empty",
        ),
        ("horizons = [50, 200]", "horizons = [50, 50]", "horizons must be different"),
        ("horizons = [50, 200]", "horizons = [0]", "horizon must be a whole number of at least 1"),
        ("horizons = [50, 200]", "", "must have horizons: without any the grid is empty"),
        ("eta = [1, 10]", "eta = []", "eta of policy 'tscsf-b' must be at least one value"),
        ("eta = [1, 10]", "eta = [1, -1]", "eta of policy 'tscsf-b' must be a number above 0"),
        ("eta = [1, 10]", "eta = [1, 1.0]", "eta=1 debt=cumulative' twice"),
        ('name = "lfg"', 'name = "lfg"\nlabel = 3', "label of a policy must be a non-empty string"),
        ("seeds = 2", "seeds = []", "seeds must be at least one value"),
        ("seeds = 2", "seeds = -1", "seeds to generate must be a whole number of at least 1"),
        ("arms = 5,", "", "must have a value for 'arms'"),
        ("tightness = [0.5, 0.9]", "tightness = 1.5", "tightness to generate must be a number in"),
        ("replications = 6", "replications = 0", "replications must be a whole number"),
        (
            "plays = 2\n[[instances.arms",
            "[[instances.arms",
            "instance 'setting 1': the file must say",
        ),
        ("floor = 0.5", "floor = 1.5", "instance 'setting 1': floor of arm 'a' must be a number"),
    ],
)
def test_a_bad_file_is_refused_with_the_reason(load, old, new, message):
    assert FILE.count(old) >= 1
    with pytest.raises(InputError, match=message):
        load(FILE.replace(old, new, 1))


def test_two_instances_of_one_name_are_refused(load):
    twice = (
        '[[instances]]\nname = "setting 1"\n'
        "generate = { arms = 2, plays = 1, tightness = 0.5, seeds = [3] }\n"
    )
    with pytest.raises(InputError, match="instances must have different names, got 'setting 1' t"):
        load(FILE.replace("[[policies]]", twice + "\n[[policies]]", 1))


def test_a_horizon_beyond_a_trace_is_refused(load, tmp_path):
    (tmp_path / "awake.csv").write_text("a\n1\n1\n1\n")
    text = (
        "horizons = [3, 4]\n[[instances]]\nname = 'traced'\nplays = 1\n"
        "arms = [{ name = 'a', mean = 0.5 }]\navailability = { trace = 'awake.csv' }\n"
        "[[policies]]\nname = 'uniform'\n"
    )
    with pytest.raises(InputError, match="instance 'traced': horizon must be at most the 3 rounds"):
        load(text)


@pytest.mark.parametrize("key", ["instances", "policies", "horizons"])
def test_an_empty_grid_is_refused(load, grid, key):
    rest = {"instances": '[[instances]]\nname = "x"\ngenerate = {}', "horizons": "horizons = 5"}
    rest["policies"] = '[[policies]]\nname = "lfg"'
    text = f"{key} = []\n" + "\n".join(rest[name] for name in sorted(rest) if name != key)
    with pytest.raises(InputError, match=f"must have {key}: without any the grid is empty"):
        load(text)
    with pytest.raises(InputError, match=f"{key} of a grid must be at least one, got 'none'"):
        dataclasses.replace(grid, **{key: ()})


def test_long_seeds_give_different_names(load):
    grid = load(FILE.replace("seeds = 2", "seeds = [20200714, 20200715]"))
    assert grid.instances[1].name == "random tightness=0.5 seed=20200714"


@pytest.mark.parametrize("files", ["[3]", "[[]]", '["nowhere.toml"]'])
def test_a_file_of_instances_must_be_one(load, files):
    with pytest.raises(InputError, match=r"a file of instances must be|cannot read"):
        load(f'horizons = 5\n[[instances]]\nfiles = {files}\n[[policies]]\nname = "lfg"')
