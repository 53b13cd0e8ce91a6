"""Why decisions were made can be asked after they were: of the last ones, as it was then."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.service.engine.bandit import Bandit, record_of
from evenhand.service.engine.commands import Decide, Tell
from evenhand.service.engine.config_version import first_config
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.engine.explanations import KEPT, KEPT_BANDITS, reasons_of
from evenhand.service.schemas import ArmBody, BanditBody, FeedbackItem
from evenhand.service.stores import StoreUnavailable, open_store
from evenhand.service.stores._sql import Statements
from tests.service.bandits import create

FLOORS = (0.4, 0.3, 0.0, 0.1)


def bandit(policy, plays=2, seed=5):
    arms = [ArmBody(f"arm-{i}", floor=floor) for i, floor in enumerate(FLOORS)]
    made = Bandit(1, first_config(BanditBody(arms, plays, policy)), "interpreted")
    made.learner.rng = np.random.default_rng(seed)
    return made


@pytest.mark.parametrize("plays", [2, 4], ids=["some are chosen", "all are chosen"])
@pytest.mark.parametrize(
    "policy",
    [{"name": "priced"}, {"name": "tscsf-b", "eta": 3.0}, {"name": "floor-first"}],
    ids=lambda policy: policy["name"],
)
def test_decisions_made_in_one_call_have_the_reasons_of_those_made_one_by_one(policy, plays):
    together, alone = bandit(policy, plays), bandit(policy, plays)
    for _ in range(3):
        many = together.decide_many(20)
        for made, basis in many:
            one, its = alone.decide(None, True)
            assert made == one
            assert reasons_of(basis) == reasons_of(its)
        rewards = {f"arm-{place}": 0.5 for place in many[0][0].chosen}
        for each in (together, alone):
            each.learn(record_of(many[0][0], each.config.table), rewards)


def test_of_a_long_row_the_last_fifty_have_reasons():
    together, alone = bandit({"name": "priced"}), bandit({"name": "priced"})
    many = together.decide_many(120)
    assert [basis is None for _, basis in many] == [True] * 70 + [False] * 50
    singles = [alone.decide(None, True) for _ in range(120)]
    for place in (70, 99, 119):
        assert reasons_of(many[place][1]) == reasons_of(singles[place][1])
    kept = many[-1][1].basis
    assert all(row.base is None for row in kept.samples)


def asked(executor, count, name="shelf"):
    return executor.execute([Decide(name, f"{name}-{i}", None, False) for i in range(count)])


def test_the_last_fifty_are_kept():
    executor = CommandExecutor(open_store("memory:"))
    executor.execute([create("shelf", BanditBody([ArmBody("a", 0.5), ArmBody("b")], 1))])
    asked(executor, 70)
    known = [i for i in range(70) if executor.recent.find(1, f"shelf-{i}") is not None]
    assert known == list(range(70 - KEPT, 70))


def test_a_decision_that_was_not_committed_has_no_reasons(monkeypatch):
    executor = CommandExecutor(open_store("memory:"))
    executor.execute([create("shelf", BanditBody([ArmBody("a", 0.5), ArmBody("b")], 1))])

    def fail(*given):
        raise StoreUnavailable("no")

    monkeypatch.setattr(Statements, "apply", fail)
    with pytest.raises(StoreUnavailable):
        asked(executor, 1)
    assert executor.recent.find(1, "shelf-0") is None


def test_of_many_bandits_those_that_decided_last_are_kept():
    executor = CommandExecutor(open_store("memory:"))
    body = BanditBody([ArmBody("a", 0.5), ArmBody("b")], 1)
    for i in range(KEPT_BANDITS + 2):
        executor.execute([create(f"b{i}", body)])
        asked(executor, 1, f"b{i}")
    known = [i for i in range(KEPT_BANDITS + 2) if executor.recent.find(i + 1, f"b{i}-0")]
    assert known == list(range(2, KEPT_BANDITS + 2))


def test_of_many_arms_fewer_decisions_are_kept():
    executor = CommandExecutor(open_store("memory:"))
    executor.execute([create("shelf", BanditBody([ArmBody(str(i)) for i in range(1_000)], 1))])
    asked(executor, 30)
    assert [i for i in range(30) if executor.recent.find(1, f"shelf-{i}")] == list(range(20, 30))


def test_reasons_are_those_of_the_moment_not_of_now():
    executor = CommandExecutor(open_store("memory:"))
    executor.execute([create("shelf", BanditBody([ArmBody("a", 0.5), ArmBody("b")], 1))])
    [answer] = asked(executor, 1)
    before = reasons_of(executor.recent.find(1, "shelf-0"))
    [arm] = answer.body.chosen
    executor.execute([Tell("shelf", [FeedbackItem("shelf-0", {arm: 1.0})])])
    assert reasons_of(executor.recent.find(1, "shelf-0")) == before
    assert {reason.estimate for reason in before} == {0.5}
