"""Hostile input to an agent: a sentence, and nothing changed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from evenhand import (
    Agent,
    Environment,
    EvenhandError,
    InputError,
    Problem,
    SnapshotError,
    make_policy,
)
from evenhand.agent._columns import pack, unpack
from tests.agent.test_agent import play, three_arms


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no words")


DELTAS = three_arms().deltas()


@pytest.mark.parametrize(
    "act",
    [
        lambda agent: agent.tell(5, {"a": 0.5, "b": 10**400}),
        lambda agent: agent.tell(5, {"a": 0.5, "b": Fraction(10**400)}),
        lambda agent: agent.ask([0, [1]]),
        lambda agent: agent.ask([True, [1]]),
        lambda agent: agent.ask([0, np.array([1])]),
        lambda agent: agent.ask([10**30]),
        lambda agent: agent.ask(np.array(1.0)),
        lambda agent: agent.ask(np.array("a")),
        lambda agent: agent.ask(np.array(None)),
        lambda agent: agent.ask(np.array([[True, False, True]])),
        lambda agent: agent.join(np.array(1)),
        lambda agent: agent.join(np.array("xyz")),
        lambda agent: agent.join([]),
        lambda agent: agent.retire(np.array(1)),
        lambda agent: agent.change(np.array(1), floor=0.1),
        lambda agent: agent.pause(np.array(1)),
        lambda agent: agent.resume(Unprintable()),
        lambda agent: agent.apply(replace(DELTAS, sums={**DELTAS.sums, "played": None})),
        lambda agent: agent.apply(replace(DELTAS, sums={**DELTAS.sums, "played": np.zeros(2)})),
        lambda agent: agent.apply(
            replace(DELTAS, sums={**DELTAS.sums, "feedbacks": np.array([1.0, np.nan, 0.0])})
        ),
        lambda agent: agent.apply(replace(DELTAS, sums={})),
        lambda agent: agent.apply(replace(DELTAS, arms=("a", "b", 1))),
        lambda agent: agent.apply(replace(DELTAS, arms=("a", "b", "c", "c"))),
        lambda agent: make_policy("priced", half_life=np.zeros(2)),
        lambda agent: make_policy("priced", rewards=np.zeros(2)),
        lambda agent: make_policy("tscsf-b", debt=np.zeros(2)),
        lambda agent: make_policy(Unprintable()),
        lambda agent: Problem(np.array(1), 1),
        lambda agent: Environment(Problem(2, 1), 0.5, changes=np.array(1)),
    ],
)
def test_whatever_is_given_is_refused_with_a_sentence(act):
    agent = three_arms()
    play(agent, 3)
    agent.ask(["c"])
    agent.ask(["a", "b"])
    before = agent.snapshot()
    with pytest.raises(EvenhandError):
        act(agent)
    assert agent.snapshot() == before


def test_to_say_nothing_is_to_say_nothing():
    agent = three_arms()
    decision = agent.ask()
    agent.tell(decision.id, {})
    agent.cancel(decision.id)
    assert agent.rounds == 0


def test_a_forgotten_decision_does_not_take_everything():
    agent = three_arms(log_size=1)
    agent.ask(["a"])
    agent.ask(["a"])
    assert agent.tell(1, {"a": 0.5}).expired == ("a",)
    for rubbish in ({"a": 7}, {"a": "good"}):
        with pytest.raises(EvenhandError, match="reward of arm 'a' must be a number"):
            agent.tell(1, rubbish)


def test_bits_beyond_the_arms_are_damage():
    agent = three_arms()
    agent.ask(["a"])
    document = json.loads(agent.snapshot())
    bits = unpack(document["log"]["awake"], np.uint8)
    document["log"]["awake"] = pack(bits | 1, np.uint8)
    with pytest.raises(SnapshotError, match="must be among the arms"):
        Agent.restore(json.dumps(document))


def test_thousands_of_cancelled_decisions_do_not_make_the_others_weigh_more():
    policy = make_policy("thompson", half_life=1)
    agent = Agent(Problem(["a", "b"], plays=1), policy, seed=1)
    ids = [agent.ask().id for _ in range(2_000)]
    told = agent.ask(["a"])
    agent.tell(told.id, {"a": 1.0})
    for decision_id in ids:
        agent.cancel(decision_id)
    assert agent.rounds == 1
    assert agent.posterior_means()["a"] == pytest.approx(2 / 3)
    assert sum(reason.probability for reason in agent.ask(explain=True).reasons) == pytest.approx(1)


def test_what_is_told_after_others_were_cancelled_weighs_as_news_do():
    agent = Agent(Problem(["a", "b"], 1), make_policy("thompson", half_life=1), seed=1)
    for decision_id in [agent.ask().id for _ in range(20)][:10]:
        agent.cancel(decision_id)
    agent.tell(agent.ask(["a"]).id, {"a": 1.0})
    assert agent.posterior_means()["a"] == pytest.approx(2 / 3)
    twin = Agent.restore(agent.snapshot())
    late = twin.ask(["b"])
    Agent.restore(twin.snapshot()).tell(late.id, {"b": 1.0})
    twin.tell(late.id, {"b": 1.0})
    assert twin.posterior_means()["b"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(("eta", "weights"), [(10, [1e12, 1, 1, 1, 1]), (1e-9, 1.0)])
def test_probabilities_hold_whatever_the_scale(eta, weights):
    """Two are played: the giant, if there is one, and the best of the others."""
    agent = Agent(Problem(5, 2, weights, floors=0.01), make_policy("tscsf-b", eta=eta), seed=1)
    for _ in range(40):
        decision = agent.ask(["4", "5"])
        agent.tell(decision.id, {"4": 0.0, "5": 1.0})
    found = [reason.probability for reason in agent.ask(explain=True).reasons]
    agent.cancel(41)
    counts = np.zeros(5)
    for _ in range(1_500):
        decision = agent.ask()
        agent.cancel(decision.id)
        counts[[int(arm) - 1 for arm in decision.chosen]] += 1
    spread = np.sqrt(np.maximum(np.array(found) * (1 - np.array(found)), 1e-3) / 1_500)
    assert np.all(np.abs(counts / 1_500 - found) < 4.5 * spread)


@pytest.mark.parametrize("awake", [np.ma.array([0, 1], mask=[0, 1]), b"\x00\x01"])
def test_what_only_looks_like_places_is_refused(awake):
    agent = three_arms()
    with pytest.raises(InputError, match="awake arms must be a list of names, indices or"):
        agent.ask(awake)
    assert agent.rounds == 0


def test_a_mapping_of_awake_arms_is_refused():
    with pytest.raises(InputError, match="awake arms must be a list of names, indices"):
        three_arms().ask(awake={"a": True, "b": False})
