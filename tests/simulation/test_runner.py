"""simulate: the same world for all, results that depend on (settings, seed, replication) alone."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from evenhand import (
    Environment,
    Geometric,
    InputError,
    Joint,
    Problem,
    Recorded,
    Trace,
    make_policy,
    simulate,
)
from evenhand.simulation import runner


def same(one, two):
    return np.array_equal(one.expected, two.expected) and np.array_equal(one.played, two.played)


def test_results_do_not_depend_on_the_number_of_workers_or_the_engine(setting_1):
    settings = {"horizon": 200, "replications": 5, "seed": 3}
    one = simulate(setting_1, ["tscsf-b", "lfg"], workers=1, **settings)
    assert same(one, simulate(setting_1, ["tscsf-b", "lfg"], workers=2, **settings))
    assert same(one, simulate(setting_1, ["tscsf-b", "lfg"], engine="reference", **settings))


def test_a_policys_results_do_not_depend_on_its_company(setting_1):
    alone = simulate(setting_1, ["lfg"], horizon=300, replications=2, seed=3)
    together = simulate(setting_1, ["uniform", "lfg"], horizon=300, replications=2, seed=3)
    assert alone.reward("lfg") == together.reward("lfg")


def test_more_replications_extend_the_fewer(setting_1):
    few = simulate(setting_1, ["tscsf-b"], horizon=100, replications=2, seed=3)
    many = simulate(setting_1, ["tscsf-b"], horizon=100, replications=4, seed=3)
    assert np.array_equal(few.expected, many.expected[:, :2])
    assert not np.array_equal(many.expected[:, 0], many.expected[:, 1])


def test_another_seed_gives_other_results(setting_1):
    one, two = (simulate(setting_1, ["uniform"], horizon=100, seed=seed) for seed in (1, 2))
    assert not same(one, two)


def test_a_delay_keeps_a_learner_ignorant_for_that_long(setting_1):
    now, late = (
        simulate(setting_1, ["thompson"], horizon=2_000, replications=20, delay=delay)
        for delay in (0, Geometric(1_000.0))
    )
    assert late.reward("thompson").mean < now.reward("thompson").mean - 0.005


def test_numpy_numbers_are_as_good_as_any(setting_1, tmp_path):
    results = simulate(
        setting_1,
        ["uniform"],
        horizon=np.int64(20),
        replications=np.int32(2),
        seed=np.int64(3),
        delay=Geometric(np.float32(2)),
    )
    results.save(tmp_path / "out")


def test_provenance_can_repeat_a_joint_table(setting_1):
    environment = Environment(Problem(2, plays=1), 0.5, Joint([[1, 0], [1, 1]], [0.25, 0.75]))
    told = simulate(environment, ["uniform"], horizon=5).provenance["settings"]["availability"]
    assert told["probabilities"] == [0.25, 0.75]
    assert told["sets"] == [[1, 0], [1, 1]]


def test_all_policies_face_the_same_awake_sets_and_rewards():
    """With one play for every arm nothing is left to choose: the realised rewards must agree."""
    environment = Environment(Problem(4, plays=4), 0.5, 0.6)
    results = simulate(environment, ["uniform", "lfg", "tscsf-b"], horizon=300, seed=1)
    assert np.array_equal(results.realised[0], results.realised[1])
    assert np.array_equal(results.realised[0], results.realised[2])


def test_a_trace_gives_the_horizon(setting_1):
    trace = Trace(np.ones((50, 3), dtype=bool))
    environment = Environment(
        Problem(3, plays=1), availability=trace, rewards=Recorded(np.eye(50)[:, :3])
    )
    assert simulate(environment, ["uniform"]).horizon == 50
    with pytest.raises(InputError, match="at most the 50 rounds of the trace, got 51"):
        simulate(environment, ["uniform"], horizon=51)


def halves():
    """A trace whose second half is another world: the good arm sleeps."""
    awake = np.ones((2_000, 3), dtype=bool)
    awake[:1_000, 2] = False
    return awake


def test_a_trace_counts_as_far_as_it_is_played():
    problem = Problem(3, plays=1, floors=[0.1, 0.1, 0.0])
    whole = Environment(problem, [0.2, 0.5, 0.9], Trace(halves()))
    half = Environment(problem, [0.2, 0.5, 0.9], Trace(halves()[:1_000]))
    policies = ["opt-nf", "opt-f", "tscsf-b"]
    one = simulate(whole, policies, horizon=1_000, replications=3, seed=1)
    two = simulate(half, policies, replications=3, seed=1)
    assert same(one, two)
    assert one.with_floors == two.with_floors
    assert one.regret("opt-nf", one.without_floors).mean[-1] == pytest.approx(0.0, abs=1e-12)
    assert abs(one.regret("opt-f").mean[-1]) < 0.02


def test_recorded_rewards_count_as_far_as_they_are_played():
    rewards = np.where(np.arange(2_000)[:, None] < 1_000, [0.9, 0.1, 0.1], [0.1, 0.1, 0.9])
    problem = Problem(3, plays=1)
    environment = Environment(
        problem, availability=Trace(np.ones((2_000, 3))), rewards=Recorded(rewards)
    )
    results = simulate(environment, ["opt-nf"], horizon=1_000)
    assert results.without_floors == pytest.approx(0.9)
    assert results.regret("opt-nf").mean[-1] == pytest.approx(0.0, abs=1e-9)


def test_an_optimum_that_cannot_be_found_costs_no_play(setting_1, monkeypatch):
    played = []
    monkeypatch.setattr(runner, "best_up_to", lambda environment, rounds: 1 / 0)
    monkeypatch.setattr(runner, "play_all", lambda *a, **o: played.append(1))
    with pytest.raises(ZeroDivisionError):
        simulate(setting_1, ["uniform"], horizon=10)
    assert not played


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_feedback_that_takes_for_ever_never_comes(setting_1, engine):
    for delay in (100, sys.maxsize):
        results = simulate(setting_1, ["thompson"], horizon=100, delay=delay, engine=engine)
        assert set(results.mean_estimates("thompson").values()) == {0.5}


def test_kept_rounds_do_not_grow_with_the_horizon(setting_1):
    results = simulate(setting_1, ["uniform"], horizon=200_000)
    assert results.rounds[:100].tolist() == list(range(1, 101))
    assert results.rounds[-1] == 200_000
    assert 450 < results.rounds.size <= 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policies": []}, "policies must be at least one, got 'none'"),
        ({"policies": "lfg"}, "policies must be a list"),
        ({"policies": None}, "policies must be a list"),
        ({"horizon": 10**30}, "horizon must be a whole number of at most"),
        ({"policies": ["lfg", "lfg"]}, "policies must have different names, got 'lfg' twice"),
        ({"policies": {" ": "lfg"}}, "label of a policy must be a non-empty string"),
        ({"policies": ["lgf"]}, "did you mean 'lfg'"),
        ({"horizon": 0}, "horizon must be a whole number of at least 1, got 0"),
        ({"horizon": None}, "horizon must be given"),
        ({"replications": 0}, "replications must be a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"delay": -1}, "delay must be a whole number of rounds or Geometric"),
        ({"delay": 1.5}, "delay must be a whole number of rounds or Geometric"),
        ({"engine": "fast"}, "engine must be one of 'compiled', 'reference', got 'fast'"),
        ({"workers": 0}, "workers must be a whole number of at least 1, got 0"),
        (
            {"policies": [make_policy("lfg", eta="paper")], "horizon": 1},
            "horizon must be a whole number of at least 2, got 1",
        ),
    ],
)
def test_bad_calls_are_refused(setting_1, arguments, message):
    good = {"policies": ["uniform"], "horizon": 10}
    with pytest.raises(InputError, match=message):
        simulate(setting_1, **{**good, **arguments})


def test_a_geometric_delay_needs_a_positive_mean():
    with pytest.raises(InputError, match="mean of a geometric delay must be a number above 0"):
        Geometric(0)


def test_ctrl_c_stops_running_engines_at_once(setting_1, monkeypatch):
    """The interrupt arrives while a run that would take hours is under way."""
    real_wait, looks = runner.wait, []

    def interrupt_on_second_look(*arguments, **options):
        looks.append(1)
        if len(looks) == 2:
            raise KeyboardInterrupt
        return real_wait(*arguments, **options)

    monkeypatch.setattr(runner, "wait", interrupt_on_second_look)
    with pytest.raises(KeyboardInterrupt):
        simulate(setting_1, ["tscsf-b"], horizon=10**11, replications=3)
    assert not [thread for thread in threading.enumerate() if "ThreadPool" in thread.name]


def test_an_error_inside_an_engine_reaches_the_caller(setting_1, monkeypatch):
    calls = []

    def broken(run, streams, control):
        if not control.stop[0]:
            calls.append(1)
            raise ZeroDivisionError("inside")

    monkeypatch.setattr(runner, "load_engine", lambda name: broken)
    with pytest.raises(ZeroDivisionError, match="inside"):
        simulate(setting_1, ["uniform"], horizon=10, replications=50, workers=1)
    assert len(calls) < 50
