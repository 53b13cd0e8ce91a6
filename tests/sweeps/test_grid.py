"""A grid: what a file says, crossed, numbered, and checked at the door."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from evenhand import (
    Anytime,
    Beta,
    Environment,
    Generated,
    Geometric,
    Grid,
    InputError,
    Joint,
    Problem,
    Recorded,
    Trace,
    make_policy,
    run_sweep,
)
from evenhand.files.grid import grid_from
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
        "tscsf-b eta=1 surplus=inf",
        "tscsf-b eta=1 surplus=0",
        "tscsf-b eta=10 surplus=inf",
        "tscsf-b eta=10 surplus=0",
        "lfg",
    ]
    assert (grid.cells, grid.runs, grid.rounds) == (5 * 5 * 2, 50 * 6, 25 * 250 * 6)


def test_cells_are_numbered_instances_first_then_policies_then_horizons(grid):
    cells = [grid.cell(number) for number in range(grid.cells)]
    assert len({str(cell.cell_id) for cell in cells}) == grid.cells
    assert str(cells[0].cell_id) == "setting 1 | tscsf-b eta=1 surplus=inf | T=50"
    assert str(cells[1].cell_id) == "setting 1 | tscsf-b eta=1 surplus=inf | T=200"
    assert str(cells[2].cell_id) == "setting 1 | tscsf-b eta=1 surplus=0 | T=50"
    assert str(cells[10].cell_id).startswith("random tightness=0.5 seed=0 |")
    assert sum(cell.horizon for cell in cells) * grid.replications == grid.rounds


def test_a_label_stands_for_the_name(load):
    text = FILE.replace('name = "lfg"', 'name = "lfg"\nlabel = "rival"\neta = [1, 2]')
    assert list(load(text).policies)[-2:] == ["rival eta=1", "rival eta=2"]


def test_instances_may_be_files_for_simulate(load, tmp_path):
    arms = '[[arms]]\nname = "a"\nfloor = 0.5\nmean = 0.4\navailability = 0.9\n'
    (tmp_path / "one.toml").write_text(f'plays = 1\nhorizon = 9\n{arms}[[policies]]\nname="ucb"')
    text = 'horizons = 5\n[[instances]]\nfiles = ["one.toml"]\n[[policies]]\nname = "uniform"'
    (instance,) = load(text).instances
    assert (instance.name, instance.arms) == ("one", 1)
    assert instance.source.build().problem.floors.tolist() == [0.5]


def test_a_generated_instance_depends_on_its_numbers_alone():
    one, two = (Generated(8, 2, 0.9, seed).build() for seed in (3, 4))
    again = Generated(8, 2, 0.9, 3).build()
    assert one.means.tolist() == again.means.tolist()
    assert one.problem == again.problem
    assert one.means.tolist() != two.means.tolist()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("replications = 6", "replicatoins = 6", "did you mean 'replications'"),
        ('name = "random"\ngenerate', 'nam = "random"\ngenerate', "did you mean 'name'"),
        ("tightness =", "tightnes =", "did you mean 'tightness'"),
        ("eta = [", "ete = [", "did you mean 'eta'"),
        ('name = "lfg"', 'name = "lgf"', "did you mean 'lfg'"),
        (
            "horizons = [50, 200]",
            "horizons = []",
            "horizons must be at least one value",
        ),
        ("horizons = [50, 200]", "horizons = [50, 50]", "horizons must be different"),
        ("horizons = [50, 200]", "horizons = [0]", "horizon must be a whole number of at least 1"),
        ("horizons = [50, 200]", "", "horizons must be given: without any the grid is empty"),
        ("eta = [1, 10]", "eta = []", "eta of policy 'tscsf-b' must be at least one value"),
        ("eta = [1, 10]", "eta = [1, -1]", "eta of policy 'tscsf-b' must be a number above 0"),
        ("eta = [1, 10]", "eta = [1, 1.0]", "eta=1 surplus=inf' twice"),
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


@pytest.mark.parametrize("key", ["instances", "policies"])
def test_an_empty_grid_is_refused(load, key):
    rest = {"instances": '[[instances]]\nname = "x"\ngenerate = {}', "horizons": "horizons = 5"}
    rest["policies"] = '[[policies]]\nname = "lfg"'
    text = f"{key} = []\n" + "\n".join(rest[name] for name in sorted(rest) if name != key)
    with pytest.raises(InputError, match=f"must have {key}: without any the grid is empty"):
        load(text)


def test_long_seeds_give_different_names(load):
    grid = load(FILE.replace("seeds = 2", "seeds = [20200714, 20200715]"))
    assert grid.instances[1].name == "random tightness=0.5 seed=20200714"


@pytest.mark.parametrize("files", ["[3]", "[[]]", '["nowhere.toml"]'])
def test_a_file_of_instances_must_be_one(load, files):
    with pytest.raises(InputError, match=r"a file of instances must be|cannot read"):
        load(f'horizons = 5\n[[instances]]\nfiles = {files}\n[[policies]]\nname = "lfg"')


# The file of a simulation

SIMULATION = """
plays = 1
horizon = 40
replications = 2
seed = 3
[[arms]]
name = "a"
floor = 0.3
mean = 0.4
availability = 0.9
[[arms]]
name = "b"
mean = 0.6
availability = 0.5
[[policies]]
name = "lfg"
"""


def test_the_file_of_a_simulation_is_a_grid_of_one_instance(load):
    grid = load(SIMULATION)
    assert [instance.name for instance in grid.instances] == ["grid"]
    assert (grid.horizons, grid.replications, grid.seed) == ((40,), 2, 3)
    several = load(SIMULATION.replace("horizon = 40", "horizon = [40, 50]"))
    assert several.horizons == (40, 50)


def test_a_trace_gives_the_horizon_where_none_is_said(load, tmp_path):
    (tmp_path / "awake.csv").write_text("a,b\n1,0\n1,1\n1,1\n")
    bare = SIMULATION.replace("horizon = 40\n", "")
    bare = bare.replace("availability = 0.9", "").replace("availability = 0.5", "")
    text = bare + "[availability]\ntrace = 'awake.csv'\n"
    assert load(text).horizons == (3,)


def test_horizon_and_horizons_are_the_same_and_not_both_are_given(load):
    with pytest.raises(InputError, match="horizon and horizons must not both be given"):
        load(SIMULATION.replace("horizon = 40", "horizon = 40\nhorizons = [40]"))


# In Python

ENVIRONMENT = Environment(Problem(["a", "b"], plays=1, floors=0.2), [0.3, 0.6], 0.9)
GOOD = {"instances": {"x": ENVIRONMENT}, "policies": ["lfg"], "horizons": [10]}


def test_a_grid_is_made_of_environments_policies_and_horizons():
    grid = Grid(
        {"given": ENVIRONMENT, "drawn": Generated(5, 2, 0.9, seed=1)},
        {"ours": make_policy("priced"), "rival": "lfg"},
        [10, 20],
        replications=3,
        seed=7,
        delay=2,
        checkpoints=(5, 6),
    )
    assert (grid.cells, grid.runs) == (8, 24)
    assert str(grid.cell(7).cell_id) == "drawn | rival | T=20"
    assert grid.describe()["checkpoints"] == [5, 6]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"horizons": (0, -3)}, "horizon must be a whole number of at least 1, got 0"),
        ({"horizons": ()}, "horizons must be at least one value"),
        ({"horizons": "ten"}, "horizon must be a whole number"),
        ({"replications": 0}, "replications must be a whole number of at least 1, got 0"),
        ({"seed": "x"}, "seed must be a whole number of at least 0, got 'x'"),
        ({"policies": "lfg"}, "policies must be a list of policies"),
        ({"policies": []}, "policies must be at least one"),
        ({"policies": ["lgf"]}, "did you mean 'lfg'"),
        ({"policies": {"": "lfg"}}, "label of a policy must be a non-empty string"),
        ({"instances": {}}, "instances of a grid must be a mapping"),
        ({"instances": {"x": 3}}, "instance 'x' must be an Environment or Generated, got 3"),
        ({"instances": {"": ENVIRONMENT}}, "name of an instance must be"),
        ({"delay": -1}, "delay must be"),
        ({"checkpoints": (1, 2, 3)}, "checkpoints must be two numbers"),
        ({"checkpoints": (1, 0)}, "later checkpoints must be a whole number of at least 1"),
        ({"limits": {"y": {"horizons": [5]}}}, "unknown instance 'y'"),
        ({"limits": {"x": {"horizon": [5]}}}, "did you mean 'horizons'"),
        ({"limits": {"x": {"policies": ["ucb"]}}}, "unknown policy label of instance 'x' 'ucb'"),
        ({"limits": {"x": {"policies": []}}}, "policies of instance 'x' must be at least one"),
        ({"limits": {"x": 3}}, "limit of instance 'x' must be a mapping"),
        ({"limits": "x"}, "limits must be a mapping"),
        ({"anytime": Anytime(window=11)}, "instance 'x': window must be at most the horizon, 10"),
    ],
)
def test_everything_it_is_given_is_checked(changed, message):
    with pytest.raises(InputError, match=message):
        Grid(**{**GOOD, **changed})


@pytest.mark.parametrize("number", [-1, 1, 1.5, None])
def test_a_cell_that_there_is_not_is_refused(number):
    with pytest.raises(InputError, match="number of a cell must be"):
        Grid(**GOOD).cell(number)


@pytest.mark.parametrize(("horizon", "last"), [(1, 1), (5, 5), (1_000, 1_000)])
def test_the_horizon_is_always_kept(horizon, last):
    found = run_sweep(Grid(**{**GOOD, "horizons": horizon}, checkpoints=(0, 1)), backend="threads")
    assert found.results("x", horizon).rounds[-1] == last


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"grid": "file.toml"}, "grid must be a Grid"),
        ({"executor": 5}, "executor must be"),
        ({"backend": "spark"}, "backend must be one of"),
        ({"resume": True}, "resume must go with a folder"),
        ({"any_version": True}, "any_version must go with resume"),
    ],
)
def test_a_sweep_checks_what_it_is_given(given, message):
    with pytest.raises(InputError, match=message):
        run_sweep(**{"grid": Grid(**GOOD), **given})


def test_it_cannot_be_changed():
    grid = Grid(**GOOD)
    with pytest.raises(FrozenInstanceError):
        grid.seed = 8


def test_limits_leave_cells_out_and_the_numbers_have_no_gaps():
    grid = Grid(
        {"x": ENVIRONMENT, "y": ENVIRONMENT, "z": ENVIRONMENT},
        ["lfg", "ucb", "priced"],
        [10, 20],
        limits={"y": {"policies": ["priced"], "horizons": [5]}, "z": {"policies": ["ucb"]}},
    )
    cell_ids = [str(grid.cell(number).cell_id) for number in range(grid.cells)]
    assert cell_ids[6:] == ["y | priced | T=5", "z | ucb | T=10", "z | ucb | T=20"]
    assert grid.rounds == 3 * 30 + 5 + 30
    assert list(grid.numbering.of("z")) == [7, 8]


# Described in the words of its file

TRACED = Trace([[1, 0], [1, 1], [0, 1]])
DESCRIBED = {
    "independent": ENVIRONMENT,
    "weights": Environment(Problem(2, 1, weights=[1, 2.5]), [0.1, 0.2], [0.3, 1 / 3]),
    "joint": Environment(Problem(2, 1), 0.5, Joint([["1"], ["1", "2"], []], [0.1, 0.2, 0.7])),
    "beta": Environment(Problem(2, 1), 0.5, 0.5, Beta(7)),
    "trace": Environment(Problem(2, 1), 0.5, TRACED),
    "recorded": Environment(Problem(2, 1), None, TRACED, Recorded([[0.5, 0], [1, 0.25], [0, 1]])),
    "generated": Generated(4, 2, 0.9, seed=11),
}
POLICIES = {
    "a": make_policy("tscsf-b", eta=math.inf, debt="reflected"),
    "b": make_policy("priced"),
    "c": make_policy("lfg", eta="paper"),
}


@pytest.mark.parametrize("delay", [0, 3, Geometric(2.5)])
def test_what_it_says_of_itself_is_read_back_as_the_same_grid(delay, tmp_path):
    limits = {"joint": {"policies": ["b"]}, "beta": {"horizons": [2]}}
    grid = Grid(DESCRIBED, POLICIES, [2, 3], 4, 5, delay, limits=limits)
    said = json.loads(json.dumps(grid.describe()))
    again = Grid(**grid_from(said, tmp_path)._asdict())
    assert again.describe() == grid.describe()
    assert again.digest == grid.digest
    for one, two in zip(grid.instances, again.instances, strict=True):
        before, after = one.source.build(), two.source.build()
        assert before.problem == after.problem
        for old, new in zip(
            (*before.awake, before.means), (*after.awake, after.means), strict=True
        ):
            np.testing.assert_array_equal(old, new)
        assert before.rewards == after.rewards or isinstance(before.rewards, Recorded)


def test_a_long_trace_is_told_apart_but_not_written_out(tmp_path):
    rounds = np.ones((2_000, 2), dtype=bool)
    other = rounds.copy()
    other[1_999, 0] = False
    one, two = (
        Grid({"x": Environment(Problem(2, 1), 0.5, Trace(table))}, ["lfg"], 5)
        for table in (rounds, other)
    )
    assert one.digest != two.digest
    assert len(json.dumps(one.describe())) < 2_000
    with pytest.raises(InputError, match="trace must be the name of a CSV file, or a list"):
        grid_from(one.describe(), tmp_path)
