"""A world that changes: other means, another availability, from a round on."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import (
    Change,
    Environment,
    InputError,
    Joint,
    Problem,
    Recorded,
    Results,
    Trace,
    find_optimum,
    make_policy,
    simulate,
)
from evenhand.files._environment import environment_from
from evenhand.files.describe import describe_environment
from evenhand.simulation._engine import run_reference
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, checkpoints, new_control, streams

PROBLEM = Problem(["a", "b", "c"], plays=1, floors=[0.1, 0.1, 0.1])
FIRST, LATER = [0.9, 0.5, 0.1], [0.1, 0.5, 0.9]


def turned(*after, **options):
    """Means that turn round after each of some rounds."""
    changes = [Change(n, FIRST if k % 2 else LATER) for k, n in enumerate(after)]
    return Environment(PROBLEM, FIRST, 0.9, changes=changes, **options)


@pytest.mark.parametrize("name", ["priced", "thompson", "lfg", "uniform"])
def test_both_engines_change_alike(name):
    environment = Environment(
        PROBLEM,
        FIRST,
        [0.9, 0.8, 0.7],
        changes=[Change(50, LATER), Change(120, availability=0.3), Change(200, FIRST, [1, 0.5, 0])],
    )
    run = Run(environment, make_policy(name), 300, checkpoints(300), delay=3)
    fast, plain = (
        engine(run, streams(3, 0), new_control()) for engine in (run_compiled, run_reference)
    )
    for found, wanted in zip(fast.state, plain.state, strict=True):
        assert np.array_equal(found, wanted)
    assert np.array_equal(fast.expected, plain.expected)
    assert np.array_equal(fast.realised, plain.realised)


def test_before_the_change_nothing_is_different():
    calm, wild = Environment(PROBLEM, FIRST, 0.9), turned(300)
    results = [simulate(world, ["priced"], horizon=600, progress=False) for world in (calm, wild)]
    early = results[0].rounds <= 300
    assert np.array_equal(*(found.expected[0, 0][early] for found in results))
    assert not np.array_equal(results[0].expected, results[1].expected)
    assert results[0].optima is None
    short = simulate(wild, ["priced"], horizon=300, progress=False)
    assert (short.with_floors, short.optima) == (results[0].with_floors, None)


def test_a_change_counts_from_the_round_after_it():
    """One arm whose mean goes from 1 to 0 after seven rounds returns seven."""
    environment = Environment(Problem(1, plays=1), 1.0, changes=[Change(7, 0.0)])
    results = simulate(environment, ["uniform"], horizon=20, progress=False)
    assert results.realised[0, 0].tolist() == [min(t, 7) for t in range(1, 21)]
    assert results.expected[0, 0, -1] == 7


def test_an_arm_may_fall_asleep_for_good():
    environment = Environment(Problem(2, plays=2), 0.5, 1.0, changes=[Change(10, None, [1, 0])])
    results = simulate(environment, ["uniform"], horizon=30, progress=False)
    assert results.played[0, 0].tolist() == [30, 10]


def test_the_optimum_is_that_of_each_segment_for_as_long_as_it_lasts():
    results = simulate(turned(100, 150), ["uniform"], horizon=400, progress=False)
    first, later = (
        find_optimum(Environment(PROBLEM, means, 0.9)).with_floors for means in (FIRST, LATER)
    )
    wanted = [
        (min(t, 100) * first + np.clip(t - 100, 0, 50) * later + max(t - 150, 0) * first) / t
        for t in results.rounds
    ]
    assert results.optima == pytest.approx(wanted)
    assert results.with_floors == pytest.approx(wanted[-1])
    regret = results.regret("uniform").mean
    assert regret == pytest.approx(wanted - results.expected[0, 0] / results.rounds)


def test_results_of_a_changing_world_come_back_from_disk(tmp_path):
    results = simulate(turned(100), ["priced"], horizon=200, progress=False)
    results.save(tmp_path / "out")
    back = Results.load(tmp_path / "out")
    assert np.array_equal(back.optima, results.optima)
    assert back.regret("priced").mean.tolist() == results.regret("priced").mean.tolist()


def test_recent_regret_is_that_of_the_latest_rounds():
    results = simulate(turned(50), ["uniform"], horizon=100, progress=False)
    recent = results.recent_regret("uniform", 10).mean
    lost = results.optima * results.rounds - results.expected[0, 0]
    assert recent[0] == pytest.approx(lost[0])
    assert recent[59] == pytest.approx((lost[59] - lost[49]) / 10)
    assert results.recent_regret("uniform", 1_000).mean == pytest.approx(
        results.regret("uniform").mean
    )
    with pytest.raises(InputError, match="window must be a whole number of at least 1, got 0"):
        results.recent_regret("uniform", 0)


def test_who_forgets_recovers_from_a_change():
    policies = {
        "remembers": make_policy("thompson"),
        "forgets": make_policy("thompson", half_life=300),
    }
    results = simulate(
        turned(5_000), policies, horizon=10_000, replications=20, seed=1, progress=False
    )
    early, late = np.searchsorted(results.rounds, [5_000, 10_000])
    gained = results.expected[:, :, late] - results.expected[:, :, early]
    remembers, forgets = gained.mean(axis=1)
    assert forgets > remembers * 1.2


@pytest.mark.parametrize("name", ["oracle", "opt-f", "opt-nf"])
def test_who_knows_nature_knows_one_that_stays(name):
    with pytest.raises(InputError, match="nature that a policy knows must be the same throughout"):
        simulate(turned(10), [name], horizon=20, progress=False)


def test_an_environment_that_changes_reads_as_it_was_written():
    environment = turned(10, 25)
    table = describe_environment(environment)
    twin = environment_from(table, None)
    assert describe_environment(twin) == table
    assert [change.after for change in twin.changes] == [10, 25]
    assert "2 changes" in repr(twin)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([Change(0, LATER)], "after of a change must be a whole number of at least 1, got 0"),
        ([Change(5, LATER), Change(5, FIRST)], "later than the change before it, 5, got 5"),
        ([Change(5, [0.1, 0.2])], "mean must be one number, or one for each of 3 arms"),
        ([Change(5, [0.1, 0.2, 1.2])], "mean of arm 'c' must be a number"),
        ([Change(5, availability=-1)], "availability of arm 'a' must be a number"),
        ([Change(5, availability=Joint([["a"]], [1.0]))], "must be that of independent arms, got"),
        (["soon"], "changes must be a list of Change, got 'soon'"),
        (7, "changes must be a list of Change, got 7"),
    ],
)
def test_a_wrong_change_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        Environment(PROBLEM, FIRST, changes=changes)


def test_only_independent_arms_change():
    change = [Change(1, LATER)]
    for given in (
        {"means": FIRST, "availability": Joint([["a"], ["b"]], [0.5, 0.5])},
        {"availability": Trace([[1, 1, 1]] * 3), "rewards": Recorded([[1, 1, 1]] * 3)},
    ):
        with pytest.raises(InputError, match="an environment that changes must be of independent"):
            Environment(PROBLEM, **given, changes=change)


def test_what_a_world_that_changes_is_not_for():
    with pytest.raises(InputError, match="an optimum for each of its segments only"):
        find_optimum(turned(5))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([{"means": FIRST}], "each .* must say after how many rounds"),
        ([{"after": 3, "mean": 0.5}], "unknown key of"),
        ({"after": 3}, "changes must be .* tables"),
    ],
)
def test_a_file_with_wrong_changes_is_refused(tables, message):
    table = describe_environment(Environment(PROBLEM, FIRST))
    with pytest.raises(InputError, match=message):
        environment_from({**table, "changes": tables}, None)
