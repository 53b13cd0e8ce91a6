"""Any order, repetition and loss of events gives the same totals on every store.

The same commands go to an executor on each kind of store and to a model in plain Python,
which knows nothing of agents, arrays or logs. All arms that are awake can be played, so that what
is chosen is certain.
"""

from __future__ import annotations

from contextlib import contextmanager

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from evenhand.learner.arm_table import first_table
from evenhand.problem import Problem
from evenhand.service.engine.commands import (
    CancelDecision,
    ChangeArm,
    CreateBandit,
    Decide,
    ExpireOverdue,
    JoinArm,
    RetireArm,
    Tell,
)
from evenhand.service.engine.config_version import first_config
from evenhand.service.engine.counters import to_plain
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.problems import ProblemError
from evenhand.service.schemas import (
    ArmBody,
    ArmChange,
    ArmValues,
    BanditBody,
    FeedbackItem,
    FeedbackRule,
)
from evenhand.service.stores import open_store
from evenhand.service.upkeep.compaction import compact
from evenhand.service.upkeep.verification import verify
from evenhand.service.views.lookup import find_bandit

ARMS = ("a", "b", "c", "d")
IDS = tuple("12345678")
TIMEOUT = 10.0
REWARDS = st.sampled_from([0.0, 0.5, 1.0])


class Model:
    """What must come out: decisions with what became of them, and sums over them."""

    def __init__(self):
        self.arms = {arm: {"born": 0, "paused": False} for arm in ARMS[:3]}
        self.decisions: dict[str, dict] = {}
        self.order: list[str] = []
        self.rounds = self.made = self.told = self.expired = 0
        self.reward = 0.0

    def ask(self, id_, awake, now):
        if id_ in self.decisions:
            known = self.decisions[id_]
            if known["end"] == "cancelled" or known["asked"] != awake:
                return "409"
            return known["chosen"]
        if awake is not None and not set(awake) <= set(self.arms):
            return "422"
        named = self.arms if awake is None else awake
        chosen = [arm for arm in self.arms if arm in named and not self.arms[arm]["paused"]]
        self.made += 1
        self.rounds += 1
        self.decisions[id_] = {
            "asked": awake, "chosen": chosen, "told": {}, "end": "", "at": now,
            "number": self.made,
        }  # fmt: skip
        for arm in chosen:
            self._add(arm, played=1, awake=1, pending=1)
        return chosen

    def tell(self, id_, rewards):
        if id_ not in self.decisions:
            return "unknown"
        known = self.decisions[id_]
        chosen = set(rewards) <= set(known["chosen"])
        if known["end"] == "cancelled" or not chosen:
            return "conflict" if known["end"] == "cancelled" else "invalid"
        if any(known["told"].get(arm, reward) != reward for arm, reward in rewards.items()):
            return "conflict"
        news = {arm: x for arm, x in rewards.items() if arm not in known["told"]}
        if not news:
            return "duplicate"
        if known["end"] == "expired":
            return "expired"
        known["told"].update(news)
        for arm, reward in news.items():
            self._learn(arm, known["number"], reward)
        return "applied"

    def cancel(self, id_):
        known = self.decisions.get(id_)
        if known is None:
            return 404
        if known["end"] == "cancelled":
            return 204
        if known["told"] or known["end"]:
            return 409
        known["end"] = "cancelled"
        self.rounds -= 1
        for arm in known["chosen"]:
            self._add(arm, known["number"], played=-1, awake=-1, pending=-1)
        return 204

    def expire_overdue(self, now):
        for known in self.decisions.values():
            waits = len(known["told"]) < len(known["chosen"]) and not known["end"]
            if waits and known["at"] <= now - TIMEOUT:
                known["end"] = "expired"
                for arm in known["chosen"]:
                    if arm not in known["told"]:
                        self.expired += 1
                        self._learn(arm, known["number"], 0.0)

    def join(self, arm):
        self.arms[arm] = {"born": self.made, "paused": False}

    def _learn(self, arm, number, reward):
        if self._add(arm, number, feedbacks=1, reward_sums=reward, pending=-1):
            self.told += 1
            self.reward += reward

    def _add(self, arm, number=None, **amounts):
        """Add to the sums of an arm, if it is the one that was decided about; say whether."""
        known = self.arms.get(arm)
        there = known is not None and (number is None or known["born"] < number)
        for what, amount in amounts.items() if there else ():
            known[what] = known.get(what, 0) + amount
        return there

    def sums(self, what):
        return {arm: known.get(what, 0) for arm, known in self.arms.items()}


class PowerCutError(Exception):
    """It comes before the commit."""


def lost(transaction):
    """Return transactions that are never committed."""

    @contextmanager
    def begin(*, wait=True):
        with transaction(wait=wait) as begun:
            yield begun
            raise PowerCutError

    return begin


class Precompiler(RuleBasedStateMachine):
    """Sends everything to all stores at once."""

    make_urls = None

    @initialize()
    def begin(self):
        self.now = 1_000.0
        self.stores = [open_store(url) for url in type(self).make_urls()]
        self.model = Model()
        self.restart()
        rule_ = FeedbackRule(TIMEOUT, 0.0)
        body = BanditBody([ArmBody(arm, floor=0.2) for arm in ARMS[:3]], plays=3, feedback=rule_)
        # As after arms have left: all that are awake are always chosen.
        table = first_table(Problem.of_arms_left(tuple(ARMS[:3]), 9, 1.0, 0.2))
        config = msgspec.structs.replace(first_config(body), table=table)
        self.send(CreateBandit("shelf", body, config))

    def send(self, *commands):
        """Carry out commands everywhere; the answers are the same."""
        found = []
        for executor in self.executors:
            answers = executor.execute(commands)
            found.append(
                [
                    (answer.status, None if isinstance(answer, ProblemError) else answer.body)
                    for answer in answers
                ]
            )
        assert all(one == found[0] for one in found), found
        return found[0]

    @rule()
    def restart(self):
        """Nothing is in memory that is not in the store."""
        self.executors = [CommandExecutor(store, now=lambda: self.now) for store in self.stores]

    @rule(id_=st.sampled_from(IDS), awake=st.none() | st.sets(st.sampled_from(ARMS)).map(sorted))
    def ask(self, id_, awake):
        [(status, body)] = self.send(Decide("shelf", id_, awake, False))
        expected = self.model.ask(id_, awake, self.now)
        assert (body.chosen if status < 400 else str(status)) == expected

    @rule(ids=st.lists(st.sampled_from(IDS), min_size=2, max_size=5))
    def ask_together(self, ids):
        answers = self.send(*(Decide("shelf", id_, None, False) for id_ in ids))
        for id_, (status, body) in zip(ids, answers, strict=True):
            expected = self.model.ask(id_, None, self.now)
            assert (body.chosen if status < 400 else str(status)) == expected

    @rule(
        id_=st.sampled_from(IDS),
        rewards=st.dictionaries(st.sampled_from(ARMS), REWARDS, min_size=1),
    )
    def tell(self, id_, rewards):
        [(_, body)] = self.send(Tell("shelf", [FeedbackItem(id_, rewards)]))
        assert body.results[0].outcome == self.model.tell(id_, rewards)

    @rule(id_=st.sampled_from(IDS))
    def cancel(self, id_):
        [(status, _)] = self.send(CancelDecision("shelf", id_))
        assert status == self.model.cancel(id_)

    @rule(arm=st.sampled_from(ARMS))
    def join_or_retire(self, arm):
        if arm not in self.model.arms:
            self.send(JoinArm("shelf", arm, ArmValues(0.1)))
            self.model.join(arm)
        elif len(self.model.arms) > 1:
            self.send(RetireArm("shelf", arm))
            del self.model.arms[arm]

    @rule(arm=st.sampled_from(ARMS), paused=st.booleans(), floor=st.sampled_from([0.0, 0.2, 0.3]))
    def change(self, arm, paused, floor):
        [(status, _)] = self.send(ChangeArm("shelf", arm, ArmChange(floor=floor, paused=paused)))
        assert (status == 200) == (arm in self.model.arms)
        if status == 200:
            self.model.arms[arm]["paused"] = paused

    @rule(seconds=st.sampled_from([1.0, 6.0, 11.0]))
    def wait(self, seconds):
        self.now += seconds
        for _ in range(3):
            self.send(ExpireOverdue("shelf", 0, 0.0))
        self.model.expire_overdue(self.now)

    @rule(id_=st.sampled_from(IDS))
    def lose(self, id_):
        """A batch whose transaction fails has not happened."""
        for executor, store in zip(self.executors, self.stores, strict=True):
            store.transaction, kept = lost(store.transaction), store.transaction
            with pytest.raises(PowerCutError):
                executor.execute([Decide("shelf", id_, None, False), CancelDecision("shelf", id_)])
            store.transaction = kept

    @invariant()
    def totals_are_those_of_the_model(self):
        if not hasattr(self, "stores"):
            return
        for store in self.stores:
            with store.view() as view:
                found = find_bandit(view, "shelf")
                assert verify(view, "shelf")[1] == []
            names = found.config.table.problem.arms
            numbers = to_plain(found.counters)
            assert numbers["rounds"] == [self.model.rounds]
            assert numbers["latest"] == [self.model.made]
            for what in ("told", "expired", "reward"):
                assert numbers[what] == [getattr(self.model, what)], what
            pairs = {"awake_counts": "awake"}
            for what in ("played", "awake_counts", "feedbacks", "reward_sums", "pending"):
                sums = dict(zip(names, numbers[what], strict=True))
                assert sums == self.model.sums(pairs.get(what, what)), what

    def teardown(self):
        for store in getattr(self, "stores", ()):
            compact(store, "shelf", -1e12)
            with store.view() as view:
                assert verify(view, "shelf")[1] == []
            store.close()


@pytest.mark.parametrize("kinds", [("memory", "sqlite"), ("memory", "postgres")], ids="-".join)
def test_all_stores_do_the_same_and_what_a_plain_model_does(kinds, url_of):
    class OnThese(Precompiler):
        make_urls = staticmethod(lambda: [url_of(kind) for kind in kinds])

    fast = "postgres" not in kinds
    run_state_machine_as_test(
        OnThese,
        settings=settings(
            max_examples=60 if fast else 12,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
