"""Results of a sweep: also of half of one, with columns that can be used."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

from evenhand import (
    Anytime,
    Change,
    Environment,
    Generated,
    Grid,
    InputError,
    Problem,
    SweepResults,
    run_sweep,
    simulate,
)
from evenhand.optimum import environment as _environment
from evenhand.simulation import run as _run
from evenhand.sweeps._parts import StoredPart
from tests.sweeps.conftest import FILE


@pytest.fixture
def half(load, tmp_path, small_tasks):
    """A sweep that lost its last parts: some cells are whole, one has a few runs."""
    with ThreadPoolExecutor(2) as pool:
        whole = run_sweep(load(), tmp_path / "out", executor=pool)
    runs, summary = whole.runs(), whole.summary()
    parts = sorted((tmp_path / "out" / "parts").iterdir())
    for part in parts[len(parts) // 2 :]:
        part.unlink()
    return SweepResults(tmp_path / "out"), runs, summary


def test_half_a_sweep_has_the_same_lines_as_far_as_it_goes(half):
    found, runs, summary = half
    assert not found.complete
    assert found.runs().equals(runs.head(found.runs_done))
    whole_cells = found.runs_done // 6
    assert found.summary().head(whole_cells).equals(summary.head(whole_cells))
    assert len(found.summary()) == -(-found.runs_done // 6)


def test_results_hold_the_policies_that_are_complete(half):
    found, _, _ = half
    first, *_, last = found.instances
    assert len(found.results(first, 200).labels) == 5
    with pytest.raises(InputError, match="must have a complete cell at T=200"):
        found.results(last, 200)


@pytest.mark.parametrize(
    ("instance", "horizon", "message"),
    [("seting 1", 200, "did you mean 'setting 1'"), ("setting 1", 7, r"one of \[50, 200\], got 7")],
)
def test_what_is_not_in_the_sweep_is_refused(half, instance, horizon, message):
    with pytest.raises(InputError, match=message):
        half[0].results(instance, horizon)


def test_parameters_are_numbers_where_they_all_are(load, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        numbers = run_sweep(load(), tmp_path / "one", executor=pool).summary()
        text = FILE.replace("eta = [1, 10]", 'eta = [1, "paper"]')
        words = run_sweep(load(text), tmp_path / "two", executor=pool).summary()
    assert numbers.schema["eta"] == pl.Float64
    assert set(words["eta"]) == {"1", "paper", "10"}
    assert numbers.schema["with_floors"] == numbers.schema["tightness"] == pl.Float64
    assert numbers["instance_seed"].unique().drop_nulls().to_list() == [0, 1]


def test_it_says_what_it_is(half):
    assert repr(half[0]).startswith("SweepResults('")
    assert "50 cells" in repr(half[0])


def test_a_folder_is_read_by_its_name_and_not_as_a_pattern(load, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        one = run_sweep(load(), tmp_path / "run1", executor=pool).runs()
        other = load(FILE.replace("seed = 7", "seed = 8"))
        two = run_sweep(other, tmp_path / "run[1]", executor=pool).runs()
        three = run_sweep(other, tmp_path / "ru*", executor=pool).runs()
    assert not two.equals(one)
    assert two.equals(three)


def test_parts_that_overlap_are_refused_by_readers_too(load, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        run_sweep(load(), tmp_path / "out", executor=pool)
    part = next((tmp_path / "out" / "parts").iterdir())
    shutil.copy(part, part.with_name("000000000001-000000000003.parquet"))
    with pytest.raises(InputError, match="must be a part of this sweep, and of no other"):
        SweepResults(tmp_path / "out")


@pytest.mark.parametrize("about", ["[]", "{", "{}", '{"settings": {"instances": {}}}'])
def test_a_damaged_description_is_told(load, tmp_path, about):
    (tmp_path / "sweep.json").write_text(about)
    with pytest.raises(InputError, match="must hold a sweep"):
        SweepResults(tmp_path)


TRACE = """
horizons = [1_000, 2_000]
replications = 3
seed = 5
[[instances]]
name = "halves"
plays = 1
[[instances.arms]]
name = "a"
floor = 0.1
mean = 0.3
[[instances.arms]]
name = "b"
mean = 0.9
[instances.availability]
trace = "awake.csv"
[[policies]]
name = "opt-nf"
[[policies]]
name = "tscsf-b"
"""


def test_each_horizon_of_a_trace_has_the_optimum_of_its_rounds(load, tmp_path):
    """Arm b sleeps in the first half: a horizon of 1,000 knows nothing of it."""
    (tmp_path / "awake.csv").write_text("a,b\n" + "1,0\n" * 1_000 + "1,1\n" * 1_000)
    grid = load(TRACE)
    with ThreadPoolExecutor(2) as pool:
        found = run_sweep(grid, tmp_path / "out", executor=pool)
    environment = grid.instances[0].source.build()
    for horizon, best in ((1_000, 0.3), (2_000, 0.6)):
        swept = found.results("halves", horizon)
        alone = simulate(
            environment, ["opt-nf", "tscsf-b"], horizon=horizon, replications=3, seed=5
        )
        assert swept.without_floors == pytest.approx(best)
        assert swept.with_floors == alone.with_floors
        assert swept.regret("tscsf-b").mean[-1] == alone.regret("tscsf-b").mean[-1]
        assert swept.regret("opt-nf", best).mean[-1] == pytest.approx(0.0, abs=1e-12)


def test_a_folder_is_read_and_nothing_is_drawn_or_solved_again(tmp_path, monkeypatch):
    grid = Grid({"drawn": Generated(4, 2, 0.9, seed=1)}, ["priced", "lfg"], [10, 20], 3)
    before = run_sweep(grid, tmp_path / "out", backend="threads").summary()
    for name in ("build", "__post_init__"):
        monkeypatch.setattr(Generated, name, lambda *given: 1 / 0)
    for module, name in ((_environment, "solve"), (_run, "checkpoints")):
        monkeypatch.setattr(module, name, lambda *given: 1 / 0)
    found = SweepResults(tmp_path / "out")
    assert found.summary().equals(before, null_equal=True)
    assert len(found.results("drawn", 10).means) == 4


def test_parts_are_read_once_when_a_sweep_is_gone_on_with(tmp_path, monkeypatch):
    grid = Grid({"drawn": Generated(4, 2, 0.9, seed=1)}, ["lfg"], 10, 3)
    run_sweep(grid, tmp_path / "out", backend="threads")
    reads = []
    content = StoredPart.content
    monkeypatch.setattr(StoredPart, "content", lambda part: reads.append(part) or content(part))
    run_sweep(grid, tmp_path / "out", backend="threads", resume=True)
    assert len(reads) == len(set(reads))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"sweep.json", "parts"}


def test_figures_of_every_moment_are_those_of_a_simulation(load):
    grid = load(FILE + "\n[anytime]\nwindow = 20\ntolerance = 1\n")
    found = run_sweep(grid, backend="threads")
    swept = found.results("setting 1", 200)
    alone = simulate(
        grid.instances[0].source.build(),
        grid.policies,
        horizon=200,
        replications=6,
        seed=7,
        anytime=Anytime(window=20, tolerance=1),
    )
    for label in swept.labels:
        assert swept.anytime(label) == alone.anytime(label)
    line = found.summary().filter(pl.col("instance") == "setting 1", pl.col("horizon") == 200)
    debts = [alone.anytime(label).largest_debt for label in line["label"]]
    assert line["largest_debt"].to_list() == debts
    assert "tolerance 1 plays, window 20 rounds" in found.measured_against


def test_a_world_that_changes_is_measured_against_the_optimum_of_each_of_its_parts(tmp_path):
    problem = Problem(["a", "b", "c"], plays=1, floors=[0.2, 0.3, 0.1])
    change = Change(after=60, means=[0.9, 0.1, 0.5], availability=[0.8, 0.9, 0.7])
    environment = Environment(problem, [0.1, 0.6, 0.4], 0.9, changes=[change])
    grid = Grid({"wild": environment}, ["priced", "thompson"], [50, 200], 3, seed=4)
    run_sweep(grid, tmp_path / "out", backend="threads")
    found = SweepResults(tmp_path / "out")
    for horizon in (50, 200):
        swept = found.results("wild", horizon)
        alone = simulate(
            environment, ["priced", "thompson"], horizon=horizon, replications=3, seed=4
        )
        for label in swept.labels:
            assert swept.regret(label).mean[-1] == alone.regret(label).mean[-1]
            assert swept.anytime(label) == alone.anytime(label)
        assert (swept.optima is None) == (horizon == 50)
