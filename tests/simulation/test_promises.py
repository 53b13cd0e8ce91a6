"""Promises in results, files, sweeps and Gymnasium."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenhand import Anytime, Environment, Grid, Problem, Promise, Results, run_sweep, simulate
from evenhand.files import Settings
from evenhand.files._environment import environment_from
from evenhand.files.describe import describe_environment
from evenhand.gym import FairBanditEnv

EXAMPLE = Path(__file__).parents[2] / "examples" / "promises.toml"


def world():
    promises = [
        Promise(["a", "b"], at_least=0.4, at_most=0.5, name="group"),
        Promise(["c"], at_least=0.2, of="reward", name="paid"),
    ]
    problem = Problem(["a", "b", "c"], 1, weights=[1, 1, 2], ceilings={"c": 0.6}, promises=promises)
    return Environment(problem, [0.3, 0.6, 0.8], [0.8, 0.9, 0.7])


@pytest.fixture(scope="module")
def results():
    given = {"horizon": 400, "replications": 3, "seed": 2, "anytime": Anytime(window=50)}
    return simulate(world(), ["tscsf-b", "thompson"], **given, progress=False)


def test_rates_shortfalls_and_excesses_are_those_of_the_plays(results):
    for number, label in enumerate(results.labels):
        played, found = results.played[number] / 400, results.promises(label)
        group = played[:, 0] + played[:, 1]
        assert found["group"].rate == pytest.approx(group.mean())
        assert found["group"].shortfall == pytest.approx(np.maximum(0.4 - group, 0).mean())
        assert found["group"].excess == pytest.approx(np.maximum(group - 0.5, 0).mean())
        excess = np.maximum(played[:, 2] - 0.6, 0.0)
        assert found["ceiling of c"].excess == pytest.approx(excess.mean())
        assert (found["ceiling of c"].at_least, found["ceiling of c"].at_most) == (None, 0.6)
        worst = np.maximum.reduce([np.maximum(group - 0.5, 0), excess])
        assert results.worst_excess(label).mean == pytest.approx(worst.mean())
    realised = results.realised[:, :, -1]
    paid = results.kept.amounts[:, :, results.rows.names.index("paid")]
    assert np.all(paid <= realised + 1e-9)
    assert results.promises("tscsf-b")["paid"].of == "reward"


def test_the_worst_window_is_that_of_a_recount():
    nature = Environment(Problem(2, 1, promises=[Promise(["1"], exactly=0.5, name="half")]), 0.5)
    given = {"horizon": 60, "anytime": Anytime(window=20), "progress": False}
    whole = simulate(nature, ["thompson"], **given, checkpoints=(60, 1)).promises("thompson")[
        "half"
    ]
    plays, before = [], 0
    for horizon in range(1, 61):
        given["horizon"], given["anytime"] = horizon, Anytime(window=1)
        now = int(simulate(nature, ["thompson"], **given).played[0, 0, 0])
        plays.append(now - before)
        before = now
    rates = [np.mean(plays[start : start + 20]) for start in range(41)]
    assert whole.worst_window == pytest.approx(max(abs(rate - 0.5) for rate in rates))
    debts = [abs(0.5 * t - sum(plays[:t])) for t in range(1, 61)]
    assert whole.largest_debt == pytest.approx(max(debts))


def test_results_come_back_from_their_files(results, tmp_path):
    results.save(tmp_path / "out")
    assert (tmp_path / "out" / "promises.parquet").exists()
    again = Results.load(tmp_path / "out")
    assert again.rows == results.rows
    for label in results.labels:
        assert again.promises(label) == results.promises(label)
        assert again.worst_miss(label) == results.worst_miss(label)
    table = results.promises_table()
    assert table.columns[:6] == ["policy", "replication", "promise", "of", "side", "bound"]
    assert len(table) == 2 * 3 * 4
    both = Results.stacked([results, results])
    assert both.promises("tscsf-b")["group"].rate == results.promises("tscsf-b")["group"].rate


def test_a_sweep_gives_the_same_numbers(results):
    policies = ["tscsf-b", "thompson"]
    grid = Grid({"x": world()}, policies, [400], 3, 2, anytime=Anytime(window=50))
    found = run_sweep(grid, backend="threads").results("x", 400)
    for label in results.labels:
        assert found.promises(label) == results.promises(label)
        assert found.worst_miss(label) == results.worst_miss(label)
    mixed = Grid({"x": world(), "y": Environment(Problem(2, 1), 0.5)}, ["thompson"], [50], 2)
    played = run_sweep(mixed, backend="threads")
    assert played.results("y", 50).promises("thompson") == {}
    assert len(played.summary()) == 2


def test_a_file_says_the_same_as_the_environment_it_describes():
    nature = Settings.load(EXAMPLE).environment
    again = environment_from(describe_environment(nature), Path())
    assert again.problem == nature.problem
    assert [promise.name for promise in nature.problem.promises][:2] == ["local", "control"]


def test_gymnasium_shows_debts_of_promises_and_leaves_plays_empty():
    env = FairBanditEnv(world(), horizon=50)
    observation, _ = env.reset(seed=1)
    assert observation["promise_debts"].tolist() == [0.0] * 4
    scores = np.array([-1.0, -1.0, 1.0])
    for _ in range(20):
        observation, _, _, _, info = env.step(scores)
        assert set(info["chosen"]) <= {"c"}
    assert env.observation_space.contains(observation)
    assert observation["promise_debts"][1] == pytest.approx(20 * 0.4)
