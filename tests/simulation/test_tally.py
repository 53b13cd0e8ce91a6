"""Figures of every moment, against brute force over all that was chosen."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from evenhand import (
    Anytime,
    Environment,
    Grid,
    InputError,
    Joint,
    Problem,
    Trace,
    make_policy,
    simulate,
)
from evenhand.results.anytime import AnytimeSettings
from evenhand.simulation import _engine, _tally
from evenhand.simulation.run import Run, checkpoints, new_control, streams
from tests.simulation.test_engines import assert_same_bits

ROUNDS = 700


def environments():
    rng = np.random.default_rng(5)
    sets = rng.random((6, 5)) < 0.5
    five = Problem(5, plays=2, floors=[0.3, 0.0, 0.4, 0.1, 0.25])
    return {
        "setting 1": Environment(
            Problem(3, plays=2, floors=[0.5, 0.6, 0.4]), [0.4, 0.5, 0.7], [0.9, 0.8, 0.7]
        ),
        "together": Environment(five, rng.uniform(size=5), Joint(sets, [1 / 6] * 6)),
        "one arm": Environment(Problem(1, plays=1, floors=[0.7]), 0.5, 0.8),
    }


def played_by(run, monkeypatch):
    """Return which arms were played in which round, and what the engine made of it."""
    table = np.zeros((run.horizon, len(run.environment.problem.arms)), dtype=bool)

    def watched(tally, floors, chosen, count, rounds):
        table[rounds - 1, chosen[:count]] = True
        _tally.count_moment(tally, floors, chosen, count, rounds)

    monkeypatch.setattr(_engine, "count_moment", watched)
    record = _engine.run_reference(run, streams(3, 0), new_control())
    return table, record.moments(run.environment.problem.floors)


def gaps_of(column):
    """Return the longest gap of one arm: start, plays and end, all of them."""
    times = [0, *(np.flatnonzero(column) + 1)]
    between = [later - earlier for earlier, later in itertools.pairwise(times)]
    return max([*between, len(column) - times[-1]])


@pytest.mark.parametrize("name", environments())
@pytest.mark.parametrize("policy", ["tscsf-b", "lfg", "priced", "uniform"])
@pytest.mark.parametrize(
    "marks",
    [AnytimeSettings(0, 0.5, 1), AnytimeSettings(100, 3.0, 70), AnytimeSettings(699, 0.0, 700)],
)
def test_figures_are_those_of_all_that_was_chosen(name, policy, marks, monkeypatch):
    environment = environments()[name]
    anytime = Anytime(**marks._asdict())
    run = Run(environment, make_policy(policy), ROUNDS, checkpoints(ROUNDS), 0, anytime)
    table, found = played_by(run, monkeypatch)
    floors, times = environment.problem.floors, np.arange(1, ROUNDS + 1)[:, None]
    owed = np.maximum(floors * times - np.cumsum(table, axis=0), 0.0)
    totals = np.vstack([np.zeros(floors.size), np.cumsum(table, axis=0)])
    windows = totals[marks.window :] - totals[: -marks.window]
    assert found.largest_debts == pytest.approx(owed.max(axis=0))
    assert found.largest_debts_after == pytest.approx(owed[marks.burn_in :].max(axis=0))
    late = (owed.max(axis=1) > marks.tolerance + 1e-9).cumsum()
    assert found.behind.tolist() == late[run.checkpoints - 1].tolist()
    assert found.longest_gaps.tolist() == [gaps_of(column) for column in table.T]
    missed = np.maximum(floors - windows.min(axis=0) / marks.window, 0.0)
    assert found.window_shortfalls == pytest.approx(missed)


@pytest.mark.parametrize("window", [100, 101, 137])
def test_long_windows_begin_every_so_many_rounds(window, monkeypatch):
    monkeypatch.setattr(_tally, "MOST_WINDOWS", 10)
    environment = environments()["setting 1"]
    run = Run(
        environment, make_policy("uniform"), ROUNDS, checkpoints(ROUNDS), 0, Anytime(window=window)
    )
    table, found = played_by(run, monkeypatch)
    step, floors = _tally.step_between(window, arms=3), environment.problem.floors
    totals = np.vstack([np.zeros(3), np.cumsum(table, axis=0)])
    windows = (totals[window:] - totals[:-window])[::step]
    assert step > 1
    missed = np.maximum(floors - windows.min(axis=0) / window, 0.0)
    assert found.window_shortfalls == pytest.approx(missed)


@pytest.mark.parametrize("most", [10, 1_000])
def test_both_engines_keep_the_same(most, monkeypatch):
    """With windows that begin in every round, and with such as begin every few."""
    monkeypatch.setattr(_tally, "MOST_WINDOWS", most)
    for environment in environments().values():
        run = Run(environment, make_policy("tscsf-b"), ROUNDS, checkpoints(ROUNDS))
        assert_same_bits(run)


def test_who_is_exactly_as_far_behind_as_allowed_is_not_behind():
    # 0.55 x 100 is 55.00000000000001, and 52 plays are 3 less than 55.
    awake = np.arange(100)[:, None] < 52
    environment = Environment(Problem(1, plays=1, floors=[0.55]), 0.5, Trace(awake))
    found = simulate(environment, ["uniform"], progress=False).anytime("uniform")
    assert found.share_behind == 0.0


def test_the_debt_of_the_last_round_of_the_burn_in_does_not_count_as_late():
    # Asleep for ten rounds: 5 plays behind after round 10, and 5.5 - 1 after round 11.
    awake = np.arange(100)[:, None] >= 10
    environment = Environment(Problem(1, plays=1, floors=[0.5]), 0.5, Trace(awake))
    for burn_in, late in ((9, 5.0), (10, 4.5), (11, 4.0)):
        anytime = Anytime(burn_in=burn_in)
        results = simulate(environment, ["uniform"], anytime=anytime, progress=False)
        found = results.anytime("uniform")
        assert (found.largest_debt, found.largest_debt_after) == (5.0, late)


def test_numbers_of_numpys_are_numbers(setting_1, tmp_path):
    anytime = Anytime(burn_in=np.int64(3), tolerance=np.float32(1), window=np.int32(7))
    simulate(setting_1, ["uniform"], horizon=50, anytime=anytime, progress=False).save(
        tmp_path / "x"
    )


@pytest.mark.parametrize("given", [None, {"window": 3}, "x"])
def test_only_an_anytime_says_how_to_measure(given, setting_1):
    with pytest.raises(InputError, match="anytime must be an Anytime"):
        simulate(setting_1, ["uniform"], horizon=50, anytime=given, progress=False)
    with pytest.raises(InputError, match="anytime must be an Anytime"):
        Grid({"one": setting_1}, ["uniform"], 50, anytime=given)


def test_room_does_not_grow_with_the_horizon():
    small, large = (
        _tally.new_tally(Anytime().settings_for(horizon), arms=20)
        for horizon in (10_000, 10_000_000)
    )
    assert sum(np.size(part) for part in large) == sum(np.size(part) for part in small)


def test_an_arm_that_never_wakes_has_the_horizon_as_its_gap():
    environment = Environment(Problem(["on", "off"], plays=1, floors=[0.5, 0.0]), 0.5, [1.0, 0.0])
    found = simulate(environment, ["thompson"], horizon=200, progress=False).anytime("thompson")
    assert found.longest_gap == {"on": 1.0, "off": 200.0}
    assert (found.largest_debt, found.share_behind, found.worst_window_shortfall) == (0.0, 0.0, 0.0)


def test_a_floor_that_is_never_kept_is_behind_from_the_round_on_that_it_must_be():
    environment = Environment(Problem(["on", "off"], plays=1, floors=[0.0, 0.5]), 0.5, [1.0, 0.0])
    results = simulate(environment, ["thompson"], horizon=100, replications=2, progress=False)
    found = results.anytime("thompson")
    assert (found.largest_debt, found.largest_debt_after) == (50.0, 50.0)
    # More than 3 plays behind at half a play a round: from round 7 on.
    assert found.share_behind == pytest.approx(94 / 100)
    assert (found.worst_window_shortfall, found.window, found.burn_in) == (0.5, 10, 10)


def test_means_are_over_replications(setting_1):
    results = simulate(setting_1, ["tscsf-b"], horizon=500, replications=5, progress=False)
    alone = [
        replace(
            results, moments=type(results.moments)(*(part[:, [r]] for part in results.moments))
        ).anytime("tscsf-b")
        for r in range(5)
    ]
    together = results.anytime("tscsf-b")
    for name in ("largest_debt", "share_behind", "worst_window_shortfall"):
        assert getattr(together, name) == pytest.approx(
            np.mean([getattr(one, name) for one in alone])
        )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"burn_in": 500}, "burn_in must be below the horizon, 500, got 500"),
        ({"burn_in": -1}, "burn_in must be a whole number"),
        ({"tolerance": -0.1}, "tolerance must be"),
        ({"tolerance": float("nan")}, "tolerance must be"),
        ({"window": 0}, "window must be a whole number"),
        ({"window": 501}, "window must be at most the horizon, 500, got 501"),
    ],
)
def test_what_cannot_be_measured_is_refused(given, words, setting_1):
    with pytest.raises(InputError, match=words):
        simulate(setting_1, ["uniform"], horizon=500, anytime=Anytime(**given), progress=False)
