"""What if floors were others: the optimum of what was measured, and nothing is changed."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.service.engine.commands import ChangeArm, Decide, Tell
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.problems import ProblemError
from evenhand.service.schemas import ArmBody, ArmChange, BanditBody, FeedbackItem, WhatIfBody
from evenhand.service.stores import open_store
from evenhand.service.views.lookup import find_bandit
from evenhand.service.views.measures import BanditMeasures
from evenhand.service.views.what_if import what_if
from tests.optimum.brute import all_sets, brute_force
from tests.service.bandits import create

ARMS = ("news", "arts", "sport", "film")


@pytest.fixture(scope="module")
def played():
    """A bandit that has seen 400 rounds, in which its arms woke more and less often."""
    executor, rng = CommandExecutor(open_store("memory:")), np.random.default_rng(3)
    floors, weights = (0.4, 0.2, 0.0, 0.1), (1.0, 2.0, 1.0, 0.5)
    arms = [ArmBody(*arm) for arm in zip(ARMS, floors, weights, strict=True)]
    executor.execute([create("shelf", BanditBody(arms, 2))])
    for i in range(400):
        awake = [arm for arm, p in zip(ARMS, (0.9, 0.6, 0.8, 0.4), strict=True) if rng.random() < p]
        [answer] = executor.execute([Decide("shelf", str(i), awake, False)])
        rewards = {arm: float(rng.random() < 0.3 + 0.1 * len(arm)) for arm in answer.body.chosen}
        if rewards:
            executor.execute([Tell("shelf", [FeedbackItem(str(i), rewards)])])
    return executor


def found(executor):
    with executor.store.view() as view:
        return find_bandit(view, "shelf")


def best(executor, floors):
    """Return the optimum of what was measured by the paper's own program."""
    bandit = found(executor)
    measured = BanditMeasures(bandit.config, bandit.counters.state)
    values = measured.means * bandit.config.table.problem.weights
    return brute_force(values, np.array(floors), 2, *all_sets(measured.awake))


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("floor", [0.0, 0.35, 0.55])
def test_it_is_the_optimum_of_the_papers_program(played, floor, compiled):
    answer = what_if(found(played), WhatIfBody({"arts": floor}), compiled)
    assert answer.feasible
    assert answer.reward == pytest.approx(best(played, (0.4, floor, 0.0, 0.1)), abs=1e-9)
    assert answer.reward_now == pytest.approx(best(played, (0.4, 0.2, 0.0, 0.1)), abs=1e-9)
    assert answer.reward_without_floors == pytest.approx(best(played, (0.0,) * 4), abs=1e-9)
    rates = {arm.name: arm.rate for arm in answer.arms}
    assert rates["arts"] >= floor - 1e-9
    assert [arm.floor for arm in answer.arms] == [0.4, floor, 0.0, 0.1]


def test_the_price_is_what_a_little_more_costs(played):
    answer = what_if(found(played), WhatIfBody({"film": 0.2}), False)
    price = {arm.name: arm.price for arm in answer.arms}["film"]
    assert price > 0.01
    more = best(played, (0.4, 0.2, 0.0, 0.2 + 1e-4))
    assert (answer.reward - more) / 1e-4 == pytest.approx(price, rel=1e-3)


def test_floors_that_do_not_fit_are_named_with_the_proof(played):
    answer = what_if(found(played), WhatIfBody({"film": 0.7}), False)
    assert not answer.feasible
    assert (answer.reward, answer.arms) == (None, [])
    assert answer.reward_now is not None
    assert answer.certificate.arms == ["film"]
    assert answer.certificate.promised == 0.7
    assert "'film'" in answer.detail
    assert best(played, (0.4, 0.2, 0.0, 0.7)) is None


def test_where_no_floors_fit_the_best_without_them_is_still_told(played):
    hopeless = what_if(found(played), WhatIfBody(dict.fromkeys(ARMS, 1.0)), False)
    assert not hopeless.feasible
    assert hopeless.reward_without_floors == pytest.approx(best(played, (0.0,) * 4))


def test_floors_that_do_not_fit_now_may_fit_then():
    executor = CommandExecutor(open_store("memory:"))
    executor.execute([create("shelf", BanditBody([ArmBody("a", 0.6), ArmBody("b", 0.6)], 1))])
    executor.execute([Decide("shelf", "1", None, False)])
    answer = what_if(found(executor), WhatIfBody({"a": 0.3}), False)
    assert (answer.feasible, answer.reward_now, answer.reward) == (True, None, 0.5)


def test_nothing_is_changed(played):
    before = found(played)
    what_if(before, WhatIfBody({"arts": 0.5}), False)
    after = found(played)
    assert after.config.to_bytes() == before.config.to_bytes()
    assert before.config.table.problem.floors.tolist() == [0.4, 0.2, 0.0, 0.1]


def test_an_arm_that_there_is_not_is_refused(played):
    with pytest.raises(ProblemError, match="'opera'"):
        what_if(found(played), WhatIfBody({"opera": 0.5}), False)


def test_paused_arms_take_no_part():
    executor = CommandExecutor(open_store("memory:"))
    executor.execute([create("shelf", BanditBody([ArmBody("a", 0.6), ArmBody("b", 0.6)], 1))])
    executor.execute([Decide("shelf", "1", None, False)])
    assert not what_if(found(executor), WhatIfBody(), False).feasible
    executor.execute([ChangeArm("shelf", "a", ArmChange(paused=True))])
    answer = what_if(found(executor), WhatIfBody(), False)
    assert [arm.name for arm in answer.arms] == ["b"]
    executor.execute([ChangeArm("shelf", "b", ArmChange(paused=True))])
    answer = what_if(found(executor), WhatIfBody(), False)
    assert (answer.feasible, answer.reward, answer.arms) == (True, 0.0, [])
