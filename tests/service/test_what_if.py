"""What if floors were others: the optimum of what was measured, and nothing is changed."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.service._bodies import Arm, ArmChange, BanditBody, FeedbackItem, Supposed
from evenhand.service._clerk import Clerk
from evenhand.service._commands import AlterArm, Ask, Tell
from evenhand.service._measured import Measured
from evenhand.service._reading import find_bandit
from evenhand.service._refusals import Refusal
from evenhand.service._what_if import what_if
from evenhand.service.stores import open_store
from tests.optimum.brute import all_sets, brute_force
from tests.service.bandits import create

ARMS = ("news", "arts", "sport", "film")


@pytest.fixture(scope="module")
def played():
    """A bandit that has seen 400 rounds, in which its arms woke more and less often."""
    clerk, rng = Clerk(open_store("memory:")), np.random.default_rng(3)
    floors, weights = (0.4, 0.2, 0.0, 0.1), (1.0, 2.0, 1.0, 0.5)
    arms = [Arm(*arm) for arm in zip(ARMS, floors, weights, strict=True)]
    clerk.carry_out([create("shelf", BanditBody(arms, 2))])
    for i in range(400):
        awake = [arm for arm, p in zip(ARMS, (0.9, 0.6, 0.8, 0.4), strict=True) if rng.random() < p]
        [answer] = clerk.carry_out([Ask("shelf", str(i), awake, False)])
        rewards = {arm: float(rng.random() < 0.3 + 0.1 * len(arm)) for arm in answer.body.chosen}
        if rewards:
            clerk.carry_out([Tell("shelf", [FeedbackItem(str(i), rewards)])])
    return clerk


def found(clerk):
    with clerk.store.view() as view:
        return find_bandit(view, "shelf")


def best(clerk, floors):
    """Return the optimum of what was measured by the paper's own program."""
    bandit = found(clerk)
    measured = Measured(bandit.edition, bandit.counters.state)
    values = measured.means * bandit.edition.table.problem.weights
    return brute_force(values, np.array(floors), 2, *all_sets(measured.awake))


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("floor", [0.0, 0.35, 0.55])
def test_it_is_the_optimum_of_the_papers_program(played, floor, compiled):
    answer = what_if(found(played), Supposed({"arts": floor}), compiled)
    assert answer.feasible
    assert answer.reward == pytest.approx(best(played, (0.4, floor, 0.0, 0.1)), abs=1e-9)
    assert answer.reward_now == pytest.approx(best(played, (0.4, 0.2, 0.0, 0.1)), abs=1e-9)
    assert answer.reward_without_floors == pytest.approx(best(played, (0.0,) * 4), abs=1e-9)
    rates = {arm.name: arm.rate for arm in answer.arms}
    assert rates["arts"] >= floor - 1e-9
    assert [arm.floor for arm in answer.arms] == [0.4, floor, 0.0, 0.1]


def test_the_price_is_what_a_little_more_costs(played):
    answer = what_if(found(played), Supposed({"film": 0.2}), False)
    price = {arm.name: arm.price for arm in answer.arms}["film"]
    assert price > 0.01
    more = best(played, (0.4, 0.2, 0.0, 0.2 + 1e-4))
    assert (answer.reward - more) / 1e-4 == pytest.approx(price, rel=1e-3)


def test_floors_that_do_not_fit_are_named_with_the_proof(played):
    answer = what_if(found(played), Supposed({"film": 0.7}), False)
    assert not answer.feasible
    assert (answer.reward, answer.arms) == (None, [])
    assert answer.reward_now is not None
    assert answer.certificate.arms == ["film"]
    assert answer.certificate.promised == 0.7
    assert "'film'" in answer.detail
    assert best(played, (0.4, 0.2, 0.0, 0.7)) is None


def test_where_no_floors_fit_the_best_without_them_is_still_told(played):
    hopeless = what_if(found(played), Supposed(dict.fromkeys(ARMS, 1.0)), False)
    assert not hopeless.feasible
    assert hopeless.reward_without_floors == pytest.approx(best(played, (0.0,) * 4))


def test_floors_that_do_not_fit_now_may_fit_then():
    clerk = Clerk(open_store("memory:"))
    clerk.carry_out([create("shelf", BanditBody([Arm("a", 0.6), Arm("b", 0.6)], 1))])
    clerk.carry_out([Ask("shelf", "1", None, False)])
    answer = what_if(found(clerk), Supposed({"a": 0.3}), False)
    assert (answer.feasible, answer.reward_now, answer.reward) == (True, None, 0.5)


def test_nothing_is_changed(played):
    before = found(played)
    what_if(before, Supposed({"arts": 0.5}), False)
    after = found(played)
    assert after.edition.to_bytes() == before.edition.to_bytes()
    assert before.edition.table.problem.floors.tolist() == [0.4, 0.2, 0.0, 0.1]


def test_an_arm_that_there_is_not_is_refused(played):
    with pytest.raises(Refusal, match="'opera'"):
        what_if(found(played), Supposed({"opera": 0.5}), False)


def test_paused_arms_take_no_part():
    clerk = Clerk(open_store("memory:"))
    clerk.carry_out([create("shelf", BanditBody([Arm("a", 0.6), Arm("b", 0.6)], 1))])
    clerk.carry_out([Ask("shelf", "1", None, False)])
    assert not what_if(found(clerk), Supposed(), False).feasible
    clerk.carry_out([AlterArm("shelf", "a", ArmChange(paused=True))])
    answer = what_if(found(clerk), Supposed(), False)
    assert [arm.name for arm in answer.arms] == ["b"]
    clerk.carry_out([AlterArm("shelf", "b", ArmChange(paused=True))])
    answer = what_if(found(clerk), Supposed(), False)
    assert (answer.feasible, answer.reward, answer.arms) == (True, 0.0, [])
