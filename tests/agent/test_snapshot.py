"""Snapshots: exactly the same agent again, or a sentence that says why not."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from evenhand import Agent, InputError, Problem, SnapshotError, make_policy
from evenhand.learner.columns import pack
from evenhand.learner.decision_log import Entry
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
        ("[]", "snapshot must have the format 'evenhand agent'"),
        (damaged(lambda d: d.update(version=2)), "snapshot must be of version 3 or 4, got 2"),
        (damaged(lambda d: d.pop("state")), "snapshot must be undamaged, got KeyError: 'state'"),
        (damaged(lambda d: d["state"]["played"].pop()), "played has 2 entries instead of 3"),
        (damaged(lambda d: d["roster"].update(plays=0)), "plays must be"),
        (damaged(lambda d: d["roster"].update(paused=[0, 0, "x"])), "paused must be of its kind"),
        (damaged(lambda d: d["roster"]["born"].pop()), "born has 2 entries instead of 3"),
        (damaged(lambda d: d["policy"].update(name="x")), "unknown policy 'x'"),
        (damaged(lambda d: d["roster"].pop("since")), "undamaged"),
        (damaged(lambda d: d.update(random={})), "undamaged"),
        (damaged(lambda d: d.pop("exchanged")), "undamaged"),
        (damaged(lambda d: d["ledger"].update(id="AA==")), "undamaged"),
        (damaged(lambda d: d["ledger"].update(latest=-1)), "latest must be"),
        (damaged(lambda d: d["ledger"].update(memory=0)), "memory must be"),
        (damaged(lambda d: d.update(horizon=-1)), "horizon must be"),
        (damaged(lambda d: d["policy"].update(name="oracle")), "undamaged"),
        (damaged(lambda d: d["state"].update(played=[1.5, 0, 0])), "played must be of its kind"),
        (damaged(lambda d: d["state"].update(played=[10**30, 0, 0])), "undamaged"),
        (damaged(lambda d: d["state"].update(debts=[-1.0, 0.0, 0.0])), "debts must be"),
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
        ("roster", pack([1], np.int64)),
        ("roster", pack([-1], np.int64)),
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
        ("before", pack([1.0], np.float64)),
        ("reasons", {"1": [[1, 2]]}),
        ("reasons", {"7": []}),
        ("older", [[3, "", ["a"], {}]]),
        ("older", [[1, "lost", ["a"], {}]]),
        ("older", [[1, "", ["a"], {"b": 1.0}]]),
    ],
)
def test_a_snapshot_with_a_damaged_decision_is_refused(column, wrong):
    agent = Agent(Problem(["a", "b"], plays=1), seed=1)
    agent.ask(["a"])
    document = json.loads(agent.snapshot())
    document["ledger"][column] = wrong
    with pytest.raises(SnapshotError, match="snapshot must be undamaged"):
        Agent.restore(json.dumps(document))


OLD = json.loads(Path(__file__).with_name("snapshots-of-version-3.json").read_text("utf-8"))


@pytest.mark.parametrize("old", OLD, ids=[old["snapshot"]["policy"]["name"] for old in OLD])
def test_a_snapshot_of_the_version_before_goes_on_as_it_would_have(old):
    agent = Agent.restore(json.dumps(old["snapshot"]))
    twin = Agent.restore(agent.snapshot())
    assert [list(agent.ask().chosen) for _ in old["later"]] == old["later"]
    assert [list(twin.ask().chosen) for _ in old["later"]] == old["later"]
    assert agent.debts() == old["debts"]
    assert agent.posterior_means() == old["means"]
    assert twin.snapshot() == agent.snapshot()


def test_what_the_version_before_had_decided_can_still_be_told_about():
    old = OLD[0]["snapshot"]
    agent = Agent.restore(json.dumps(old))
    decision_id, chosen, told = old["decisions"][-1]
    news = {arm: 0.75 for arm in chosen if arm not in told}
    receipt = agent.tell(decision_id, {**told, **news})
    assert (receipt.learned, receipt.repeated) == (tuple(news), tuple(told))
    late, names, heard = next(line for line in old["decisions"] if not line[2] and line[1])
    with pytest.raises(InputError, match="decision to cancel must be one of this version"):
        agent.cancel(late)
    assert agent.tell(late, dict.fromkeys(names, 0.5)).learned == tuple(names)
    assert heard == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["decisions"][0].__setitem__(2, [0.5]),
        lambda d: d["decisions"][0].__setitem__(2, {"zz": 0.5}),
        lambda d: d["decisions"][0].__setitem__(0, 10**6),
        lambda d: d.update(latest=3),
        lambda d: d["promises"].pop("since"),
    ],
)
def test_a_damaged_snapshot_of_the_version_before_is_refused(change):
    document = json.loads(json.dumps(OLD[0]["snapshot"]))
    change(document)
    with pytest.raises(SnapshotError, match="snapshot must be undamaged"):
        Agent.restore(json.dumps(document))


def test_a_full_ledger_is_written_and_read_within_a_second():
    """100,000 decisions of three arms each; the time is that of the process alone."""
    agent = Agent(Problem(20, plays=3, floors=0.1), seed=1, compiled=False, policy="uniform")
    entry = Entry(1, ("1", "2", "3"), np.arange(3), agent._roster)
    entry.rewards = [0.125, 0.25, 1 / 3]
    for _ in range(100_000):
        agent._ledger.add(entry)
    agent._state.rounds[0] = 100_000
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
    agent = Agent(Problem(["a"], plays=1), memory=1)
    agent.ask()
    assert Agent.restore(agent.snapshot()).tell(1, {"a": 1}).learned == ("a",)
