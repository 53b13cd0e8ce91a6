"""Snapshots: exactly the same agent again, or a sentence that says why not."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from evenhand import Agent, InputError, Problem, SnapshotError, make_policy
from evenhand.agent._columns import pack
from evenhand.learner.decision import DecisionRecord
from tests.agent.test_agent import SERVING, play, three_arms


@pytest.mark.parametrize("name", SERVING)
def test_a_restored_agent_goes_on_with_exactly_the_same_decisions(name):
    agent = three_arms(policy=name)
    play(agent, 30)
    unanswered = agent.ask()
    agent.join("d", floor=0.2)
    agent.change("a", floor=0.35)
    twin = Agent.restore(agent.snapshot())
    assert play(twin, 100, seed=3) == play(agent, 100, seed=3)
    rewards = dict.fromkeys(unanswered.chosen, 0.5)
    assert twin.tell(unanswered.id, rewards) == agent.tell(unanswered.id, rewards)
    assert twin.snapshot() == agent.snapshot()


def test_a_snapshot_survives_infinite_eta_and_a_horizon():
    policy = make_policy("lfg", eta=float("inf"))
    agent = three_arms(policy=policy, horizon=500)
    twin = Agent.restore(agent.snapshot())
    assert twin.policy == policy
    assert twin.snapshot() == agent.snapshot()


def test_a_policy_of_ones_own_serves_but_is_not_written_down():
    class Mine(type(make_policy("uniform"))):
        name = "mine"

    agent = Agent(Problem(2, plays=1), Mine())
    assert len(agent.ask().chosen) == 1
    with pytest.raises(InputError, match="policy of an agent to snapshot must be a registered"):
        agent.snapshot()


def damaged(change):
    document = json.loads(three_arms().snapshot())
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "snapshot must be JSON"),
        ("[]", "stored form must be 'evenhand agent', got"),
        (
            damaged(lambda d: d.update(version=2)),
            "this release reads .5, 6, 7., got 'version 2'",
        ),
        (damaged(lambda d: d.pop("state")), "snapshot must be undamaged, got KeyError: 'state'"),
        (damaged(lambda d: d["state"]["played"].pop()), r"played is of shape \(2,\), not \(3,\)"),
        (damaged(lambda d: d["table"].update(plays=0)), "plays must be"),
        (damaged(lambda d: d["table"].update(paused=[0, 0, "x"])), "paused must be"),
        (
            damaged(lambda d: d["table"]["clock"]["born"].pop()),
            r"born is of shape \(2,\), not \(3,\)",
        ),
        (damaged(lambda d: d["policy"].update(name="x")), "unknown policy 'x'"),
        (damaged(lambda d: d["table"].pop("since")), "undamaged"),
        (damaged(lambda d: d.update(random={})), "undamaged"),
        (damaged(lambda d: d.pop("exchanged")), "undamaged"),
        (damaged(lambda d: d["log"].update(id="AA==")), "undamaged"),
        (damaged(lambda d: d["log"].update(latest=-1)), "latest must be"),
        (damaged(lambda d: d["log"].update(memory=0)), "memory must be"),
        (damaged(lambda d: d.update(horizon=-1)), "horizon must be"),
        (damaged(lambda d: d["policy"].update(name="oracle")), "undamaged"),
        (damaged(lambda d: d["state"].update(played=[1.5, 0, 0])), "played must be made of"),
        (damaged(lambda d: d["state"].update(played=[10**30, 0, 0])), "undamaged"),
        (damaged(lambda d: d["state"].update(debts=[1e999, 0.0, 0.0])), "debts must be"),
        (damaged(lambda d: d["state"].update(reward_sums=[9.0, 0.0, 0.0])), "exceed feedbacks"),
        ("[" * 100_000, "snapshot must be JSON"),
    ],
)
def test_a_wrong_snapshot_is_refused(text, message):
    with pytest.raises(SnapshotError, match=message):
        Agent.restore(text)


@pytest.mark.parametrize(
    ("column", "wrong"),
    [
        ("id", pack([0], np.int64)),
        ("id", pack([2], np.int64)),
        ("id", [1]),
        ("id", "?"),
        ("round", pack([0], np.int64)),
        ("table", pack([1], np.int64)),
        ("table", pack([-1], np.int64)),
        ("count", pack([0], np.int64)),
        ("count", pack([2], np.int64)),
        ("chosen", pack([5], np.int64)),
        ("chosen", pack([-1], np.int64)),
        ("chosen", pack([0, 1], np.int64)),
        ("told", pack([2.0], np.float64)),
        ("told", pack([], np.float64)),
        ("end", pack([3], np.int64)),
        ("awake", "!"),
        ("awake", "AAAA"),
        ("awake", ""),
        ("owed", pack([1], np.int64)),
        ("before", pack([1.0, 2.0], np.float64)),
        ("reasons", {"1": [[1, 2]]}),
        ("reasons", {"7": []}),
    ],
)
def test_a_snapshot_with_a_damaged_decision_is_refused(column, wrong):
    policy = make_policy("tscsf-b", surplus=0 if column == "before" else "inf")
    agent = Agent(Problem(["a", "b"], plays=1), policy, seed=1)
    agent.ask(["a"])
    document = json.loads(agent.snapshot())
    document["log"][column] = wrong
    with pytest.raises(SnapshotError, match="snapshot must be undamaged"):
        Agent.restore(json.dumps(document))


def test_a_full_log_is_written_and_read_within_a_second():
    """100,000 decisions of three arms each; the time is that of the process alone."""
    agent = Agent(Problem(20, plays=3, floors=0.1), seed=1, compiled=False, policy="uniform")
    table = agent._learner.table
    for number in range(1, 100_001):
        record = DecisionRecord(number, number, number, ("1", "2", "3"), np.arange(3), table)
        record.rewards = [0.125, 0.25, 1 / 3]
        agent._log.add(record)
    agent._learner.state.rounds[0] = 100_000
    written, read = [], []
    for _ in range(3):
        start = time.process_time()
        text = agent.snapshot()
        written.append(time.process_time() - start)
        start = time.process_time()
        twin = Agent.restore(text, compiled=False)
        read.append(time.process_time() - start)
    assert min(written) < 1.0
    assert min(read) < 1.0
    assert twin.snapshot() == text


def test_the_shortest_memory_comes_back():
    agent = Agent(Problem(["a"], plays=1), log_size=1)
    agent.ask()
    assert Agent.restore(agent.snapshot()).tell(1, {"a": 1}).learned == ("a",)
