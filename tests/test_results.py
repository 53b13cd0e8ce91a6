"""Results: tables, helpers, and files that give back what was saved."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from evenhand import Environment, InputError, Problem, Results, make_policy, simulate
from evenhand.results.anytime import Moments


@pytest.fixture(scope="module")
def results():
    problem = Problem(["a", "b", "c"], plays=2, floors=[0.5, 0.6, 0.4])
    setting_1 = Environment(problem, [0.4, 0.5, 0.7], [0.9, 0.8, 0.7])
    policies = {"mine": make_policy("tscsf-b", eta=math.inf), "random": "uniform"}
    return simulate(setting_1, policies, horizon=500, replications=6, seed=2)


def test_the_reward_is_the_mean_of_expected_rewards_per_round(results):
    per_round = results.expected[0, :, -1] / 500
    assert results.reward("mine").mean == pytest.approx(per_round.mean())
    assert results.reward("mine").standard_error == pytest.approx(stats.sem(per_round))


def test_the_margin_is_students(results):
    error = results.reward("mine").standard_error
    assert results.margin("mine") == pytest.approx(error * stats.t.ppf(0.975, 5))


def test_one_replication_has_no_standard_error(setting_1):
    results = simulate(setting_1, ["uniform"], horizon=50)
    assert math.isnan(results.reward("uniform").standard_error)


def test_two_replications_have_a_standard_error(results):
    two = replace(results, expected=results.expected[:, :2])
    per_round = two.expected[0, :, -1] / 500
    assert two.reward("mine").standard_error == pytest.approx(stats.sem(per_round))


def test_the_regret_is_time_averaged_with_students_interval(results):
    curve = results.regret("mine", 1.038)
    values = 1.038 - results.expected[0, :, 9] / 10
    low, high = stats.t.interval(0.95, 5, loc=values.mean(), scale=stats.sem(values))
    assert curve.rounds[9] == 10
    assert (curve.low[9], curve.mean[9], curve.high[9]) == pytest.approx((low, values.mean(), high))


def test_rounds_per_second_counts_the_rounds_of_all_runs(results):
    assert replace(results, seconds=0.25).rounds_per_second == 2 * 6 * 500 / 0.25
    assert replace(results, seconds=0.0).rounds_per_second == pytest.approx(2 * 6 * 500 * 1e9)


def test_stacked_replications_stand_one_after_the_other(results):
    one, two = (
        replace(
            results,
            seconds=seconds,
            moments=Moments(*(kept[:, part] for kept in results.moments)),
            **{
                name: getattr(results, name)[:, part]
                for name in ("expected", "realised", "played", "estimates")
            },
        )
        for seconds, part in ((1.0, slice(0, 2)), (2.0, slice(2, 6)))
    )
    two = replace(two, provenance={"other": True})
    whole = Results.stacked([one, two])
    assert whole.provenance == results.provenance
    assert whole.rounds_table().equals(results.rounds_table())
    assert whole.arms_table().equals(results.arms_table())
    assert whole.seconds == 3.0


def test_without_an_optimum_there_is_no_regret_unless_one_is_given(results):
    infeasible = replace(results, with_floors=None)
    with pytest.raises(InputError, match="regret must have an optimum to be against"):
        infeasible.regret("mine")
    assert infeasible.regret("mine", 1.0).mean[-1] == results.regret("mine", 1.0).mean[-1]


def test_students_factor_is_that_of_one_replication_less(results):
    assert results.quantile() == pytest.approx(stats.t.ppf(0.975, 5))
    alone = replace(results, expected=results.expected[:, :1])
    assert alone.quantile() == pytest.approx(stats.t.ppf(0.975, 1))


def test_two_results_are_the_same_only_if_they_are_one(results):
    assert results != replace(results)
    assert len({results, results}) == 1


def test_a_negative_regret_stays_negative(results):
    assert results.regret("mine", 0.5).mean[-1] < 0


def test_rates_and_shortfall(results):
    rates = results.played[1] / 500
    assert list(results.rates("random").values()) == pytest.approx(rates.mean(axis=0))
    missed = np.maximum(np.array([0.5, 0.6, 0.4]) - rates, 0).mean(axis=0)
    assert list(results.shortfall("random").values()) == pytest.approx(missed)


def test_an_unknown_label_lists_the_known_ones(results):
    with pytest.raises(InputError, match="unknown policy label 'mnie'; did you mean 'mine'"):
        results.rates("mnie")


def test_the_tables_are_long(results):
    rounds, arms = results.rounds_table(), results.arms_table()
    assert rounds.columns == ["policy", "replication", "round", "expected", "realised", "behind"]
    assert len(rounds) == 2 * 6 * results.rounds.size
    assert len(arms) == 2 * 6 * 3
    line = arms.filter((pl.col("policy") == "random") & (pl.col("replication") == 4))
    assert line["played"].to_list() == results.played[1, 4].tolist()
    assert line["arm"].to_list() == ["a", "b", "c"]
    assert line["estimate"].to_list() == results.estimates[1, 4].tolist()
    assert line["longest_gaps"].to_list() == results.moments.longest_gaps[1, 4].tolist()
    total = rounds.filter((pl.col("policy") == "random") & (pl.col("replication") == 4))
    assert total["realised"].to_list() == results.realised[1, 4].tolist()
    assert total["expected"].to_list() == results.expected[1, 4].tolist()
    assert total["realised"].to_list() != total["expected"].to_list()


def test_saved_results_come_back(results, tmp_path):
    results.save(tmp_path / "deep" / "out")
    again = Results.load(tmp_path / "deep" / "out")
    assert again.rounds_table().equals(results.rounds_table())
    assert again.arms_table().equals(results.arms_table())
    assert (again.arms, again.labels, again.policies) == (
        results.arms,
        results.labels,
        results.policies,
    )
    assert again.provenance == results.provenance
    assert again.floors.tolist() == [0.5, 0.6, 0.4]
    assert again.rounds.tolist() == results.rounds.tolist()
    assert (again.with_floors, again.without_floors, again.seconds) == (
        results.with_floors,
        results.without_floors,
        results.seconds,
    )


def test_every_file_says_where_it_came_from(results, tmp_path):
    results.save(tmp_path / "out")
    for name in ("rounds.parquet", "arms.parquet"):
        told = json.loads(pl.read_parquet_metadata(tmp_path / "out" / name)["evenhand"])
        assert told["settings"]["seed"] == 2
        assert told["settings"]["policies"][0]["label"] == "mine"
        assert told["settings"]["policies"][0]["eta"] == "inf"
        assert told["versions"]["evenhand"]
    assert not list((tmp_path / "out").glob(".*"))


def test_overwriting_must_be_named(results, tmp_path):
    with pytest.raises(TypeError):
        results.save(tmp_path, True)


def test_a_folder_with_something_in_it_is_refused(results, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(InputError, match="must be empty or new"):
        results.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    results.save(tmp_path, overwrite=True)
    assert (tmp_path / "mine.txt").exists()


def truncate(folder):
    (folder / "rounds.parquet").write_bytes(b"PAR1")


def swap(folder):
    (folder / "rounds.parquet").write_bytes((folder / "arms.parquet").read_bytes())


def forget_a_label(folder):
    told = json.loads((folder / "provenance.json").read_text())
    told["policies"].pop("random")
    (folder / "provenance.json").write_text(json.dumps(told))


def change_a_number(folder):
    text = (folder / "provenance.json").read_text()
    (folder / "provenance.json").write_text(text.replace('"seed": 2', '"seed": 3'))


def drop_a_row(folder):
    pl.read_parquet(folder / "arms.parquet").head(-1).write_parquet(folder / "arms.parquet")


def flip_a_bit(folder):
    content = bytearray((folder / "rounds.parquet").read_bytes())
    content[len(content) // 3] ^= 1
    (folder / "rounds.parquet").write_bytes(content)


def no_table(folder):
    (folder / "arms.parquet").unlink()


DAMAGE = [truncate, swap, forget_a_label, change_a_number, drop_a_row, flip_a_bit, no_table]


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_results_are_refused(results, tmp_path, damage):
    results.save(tmp_path / "out")
    damage(tmp_path / "out")
    with pytest.raises(InputError, match=r"must hold undamaged results: \w+\.(json|parquet): "):
        Results.load(tmp_path / "out")


def test_a_table_of_another_run_is_refused(results, setting_1, tmp_path):
    results.save(tmp_path / "one")
    policies = {"mine": make_policy("tscsf-b", eta=math.inf), "random": "uniform"}
    other = simulate(setting_1, policies, horizon=500, replications=6, seed=3)
    other.save(tmp_path / "two")
    (tmp_path / "two" / "rounds.parquet").replace(tmp_path / "one" / "rounds.parquet")
    with pytest.raises(InputError, match=r"rounds\.parquet: it is not the one that prov"):
        Results.load(tmp_path / "one")


def test_a_full_disk_leaves_earlier_results_as_they_were(results, tmp_path, monkeypatch):
    results.save(tmp_path / "out")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("evenhand.core.storage.os.fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        replace(results, seconds=1.0).save(tmp_path / "out", overwrite=True)
    assert Results.load(tmp_path / "out").seconds == results.seconds


def test_the_bulk_of_the_worst_shortfall_is_what_95_percent_of_the_runs_stay_within(results):
    worst = np.maximum(np.array([0.5, 0.6, 0.4]) - results.played[1] / 500, 0).max(axis=1)
    many = replace(results, played=np.tile(results.played, (1, 10, 1)))
    assert many.worst_shortfall("random").mean == pytest.approx(worst.mean())
    bulk = many.worst_shortfall("random").bulk
    assert bulk in worst
    assert (np.tile(worst, 10) <= bulk).mean() >= 0.95
    assert (np.tile(worst, 10) < bulk).mean() < 0.95


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(InputError, match="must hold undamaged results"):
        Results.load(tmp_path)


def test_one_missing_play_is_no_broken_floor_whatever_the_rounding(setting_1):
    results = simulate(setting_1, ["uniform"], horizon=1_000, replications=1)
    cases = ((0.5, 1_000), (0.4, 10_000), (0.45, 10_000), (0.3, 7_000), (0.07, 10_000_000))
    for floor, horizon in cases:
        due = round(floor * horizon)
        for missing, kept in ((0, 1.0), (1, 1.0), (2, 0.0)):
            played = np.full((1, 1, 3), due)
            played[0, 0, 1] -= missing
            changed = replace(
                results,
                floors=np.full(3, floor),
                rounds=np.array([horizon]),
                played=played,
            )
            assert changed.all_kept("uniform") == kept


def test_figures_of_every_moment_come_back(results, tmp_path):
    results.save(tmp_path / "out")
    again = Results.load(tmp_path / "out")
    for label in results.labels:
        assert again.anytime(label) == results.anytime(label)
