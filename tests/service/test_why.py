"""Why decisions were made can be asked after they were: of the last ones, as it was then."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.service._bandit import Bandit, record_of
from evenhand.service._bodies import Arm, BanditBody, FeedbackItem
from evenhand.service._clerk import Clerk
from evenhand.service._commands import Ask, Tell
from evenhand.service._edition import first_edition
from evenhand.service._why import KEPT, KEPT_BANDITS, reasons_of
from evenhand.service.stores import Unavailable, open_store
from tests.service.bandits import create

FLOORS = (0.4, 0.3, 0.0, 0.1)


def bandit(policy, plays=2, seed=5):
    arms = [Arm(f"arm-{i}", floor=floor) for i, floor in enumerate(FLOORS)]
    made = Bandit(1, first_edition(BanditBody(arms, plays, policy)), False)
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
        for made, source in many:
            one, its = alone.decide(None, True)
            assert made == one
            assert reasons_of(source) == reasons_of(its)
        rewards = {f"arm-{place}": 0.5 for place in many[0][0].chosen}
        for each in (together, alone):
            each.learn(record_of(many[0][0], each.edition.table), rewards)


def test_of_a_long_row_the_last_fifty_have_reasons():
    together, alone = bandit({"name": "priced"}), bandit({"name": "priced"})
    many = together.decide_many(120)
    assert [source is None for _, source in many] == [True] * 70 + [False] * 50
    singles = [alone.decide(None, True) for _ in range(120)]
    for place in (70, 99, 119):
        assert reasons_of(many[place][1]) == reasons_of(singles[place][1])
    kept = many[-1][1].made_from
    assert all(row.base is None for row in kept.samples)


def asked(clerk, count, name="shelf"):
    return clerk.carry_out([Ask(name, f"{name}-{i}", None, False) for i in range(count)])


def test_the_last_fifty_are_kept():
    clerk = Clerk(open_store("memory:"))
    clerk.carry_out([create("shelf", BanditBody([Arm("a", 0.5), Arm("b")], 1))])
    asked(clerk, 70)
    known = [i for i in range(70) if clerk.recent.find(1, f"shelf-{i}") is not None]
    assert known == list(range(70 - KEPT, 70))


def test_a_decision_that_was_not_committed_has_no_reasons(monkeypatch):
    clerk = Clerk(open_store("memory:"))
    clerk.carry_out([create("shelf", BanditBody([Arm("a", 0.5), Arm("b")], 1))])

    def fail(*given):
        raise Unavailable("no")

    monkeypatch.setattr(clerk.store, "apply", fail)
    with pytest.raises(Unavailable):
        asked(clerk, 1)
    assert clerk.recent.find(1, "shelf-0") is None


def test_of_many_bandits_those_that_decided_last_are_kept():
    clerk = Clerk(open_store("memory:"))
    body = BanditBody([Arm("a", 0.5), Arm("b")], 1)
    for i in range(KEPT_BANDITS + 2):
        clerk.carry_out([create(f"b{i}", body)])
        asked(clerk, 1, f"b{i}")
    known = [i for i in range(KEPT_BANDITS + 2) if clerk.recent.find(i + 1, f"b{i}-0")]
    assert known == list(range(2, KEPT_BANDITS + 2))


def test_of_many_arms_fewer_decisions_are_kept():
    clerk = Clerk(open_store("memory:"))
    clerk.carry_out([create("shelf", BanditBody([Arm(str(i)) for i in range(1_000)], 1))])
    asked(clerk, 30)
    assert [i for i in range(30) if clerk.recent.find(1, f"shelf-{i}")] == list(range(20, 30))


def test_reasons_are_those_of_the_moment_not_of_now():
    clerk = Clerk(open_store("memory:"))
    clerk.carry_out([create("shelf", BanditBody([Arm("a", 0.5), Arm("b")], 1))])
    [answer] = asked(clerk, 1)
    before = reasons_of(clerk.recent.find(1, "shelf-0"))
    [arm] = answer.body.chosen
    clerk.carry_out([Tell("shelf", [FeedbackItem("shelf-0", {arm: 1.0})])])
    assert reasons_of(clerk.recent.find(1, "shelf-0")) == before
    assert {reason.estimate for reason in before} == {0.5}
