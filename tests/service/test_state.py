"""How a bandit is said to fare, and when somebody is warned."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.service.engine.commands import ChangeArm, Decide, Tell
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.schemas import ArmBody, ArmChange, BanditBody, FeedbackItem
from evenhand.service.stores import open_store
from evenhand.service.views.lookup import find_bandit
from evenhand.service.views.state import state_of
from tests.service.bandits import create


def played(floors, plays, awake_sets, rounds=600, means=None):
    """Play a bandit in a world of awake sets; return its state."""
    names = [f"arm-{i}" for i in range(len(floors))]
    executor, rng = CommandExecutor(open_store("memory:")), np.random.default_rng(7)
    arms = [ArmBody(name, floor=floor) for name, floor in zip(names, floors, strict=True)]
    executor.execute([create("shelf", BanditBody(arms, plays))])
    for number in range(rounds):
        awake = [names[i] for i in awake_sets(rng, number)]
        [answer] = executor.execute([Decide("shelf", str(number), awake, False)])
        rewards = {arm: float(rng.random() < 0.5) for arm in answer.body.chosen}
        if rewards:
            executor.execute([Tell("shelf", [FeedbackItem(str(number), rewards)])])
    with executor.store.view() as view:
        return state_of("shelf", find_bandit(view, "shelf"), 1_000.0), executor


def independent(*chances):
    return lambda rng, _: [i for i, p in enumerate(chances) if rng.random() < p]


def test_floors_that_can_be_kept_are_no_cause_for_worry():
    state, _ = played([0.3, 0.3, 0.2], 1, independent(0.9, 0.8, 0.9))
    assert state.warnings == []
    assert state.headroom > 1.0


def test_an_arm_that_wakes_less_often_than_it_was_promised_is_named():
    state, _ = played([0.6, 0.1], 1, independent(0.3, 0.9))
    [warning] = state.warnings
    assert warning.kind == "floors-infeasible"
    assert warning.certificate.arms == ["arm-0"]
    assert warning.certificate.promised == pytest.approx(0.6)
    assert 0.3 < warning.certificate.possible < 0.45
    assert "arm-0" in warning.detail
    assert state.headroom < 1.0


def test_floors_that_exceed_the_plays_are_named_whoever_is_awake():
    state, _ = played([0.7, 0.7], 1, independent(1.0, 1.0), rounds=150)
    [warning] = state.warnings
    assert warning.certificate.arms == ["arm-0", "arm-1"]
    assert (warning.certificate.promised, warning.certificate.possible) == (1.4, 1.0)


def test_floors_that_do_not_fit_together_are_named_when_debts_say_so_too():
    state, _ = played([0.45, 0.45], 1, independent(0.55, 0.55), rounds=1_500)
    [warning] = state.warnings
    assert warning.certificate.arms == ["arm-0", "arm-1"]


def test_arms_that_exclude_each_other_are_not_slandered():
    """Each is awake half of the time, never both: floors of 0.48 can be kept, and are."""
    state, _ = played([0.48, 0.48], 1, lambda _, number: [number % 2], rounds=1_500)
    assert state.headroom < 1.0  # as far as rates alone can tell
    assert state.warnings == []


def test_nothing_is_said_before_there_is_something_to_go_by():
    state, _ = played([0.9, 0.9], 1, independent(0.1, 0.1), rounds=20)
    assert state.warnings == []
    blank, _ = played([0.9, 0.9], 1, independent(0.1, 0.1), rounds=0)
    assert blank.rounds == 0
    assert [arm.awake_rate for arm in blank.arms] == [1.0, 1.0]


def test_prices_are_those_of_the_optimum_on_what_was_measured():
    def world(rng, _):
        return [0, 1]

    state, _ = played([0.4, 0.0], 1, world, rounds=400)
    estimates = {arm.name: arm.estimate for arm in state.arms}
    prices = {arm.name: arm.price for arm in state.arms}
    gap = estimates["arm-1"] - estimates["arm-0"]
    assert prices["arm-0"] == pytest.approx(max(gap, 0.0))
    assert prices["arm-1"] == 0.0


def test_a_paused_arm_keeps_its_rate_and_is_owed_nothing():
    state, executor = played([0.3, 0.3], 1, independent(1.0, 1.0), rounds=100)
    before = {arm.name: arm.rate for arm in state.arms}
    executor.execute([ChangeArm("shelf", "arm-0", ArmChange(paused=True))])
    for number in range(100):
        executor.execute([Decide("shelf", f"p{number}", None, False)])
    with executor.store.view() as view:
        state = state_of("shelf", find_bandit(view, "shelf"), 1_000.0)
    rested = next(arm for arm in state.arms if arm.name == "arm-0")
    assert rested.paused
    assert rested.rate == before["arm-0"]
    assert rested.shortfall == 0.0


def test_feedback_that_never_comes_is_noticed():
    executor = CommandExecutor(open_store("memory:"))
    executor.execute([create("shelf", BanditBody([ArmBody("a"), ArmBody("b")], 1))])
    executor.execute([Decide("shelf", None, None, False) for _ in range(150)])
    with executor.store.view() as view:
        [warning] = state_of("shelf", find_bandit(view, "shelf"), 1_000.0).warnings
    assert warning.kind == "feedback-missing"
    assert "150 of 150" in warning.detail
