"""Snapshots: exactly the same agent again, or a sentence that says why not."""

from __future__ import annotations

import json

import pytest

from evenhand import Agent, InputError, Problem, SnapshotError, make_policy
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
        (damaged(lambda d: d.update(version=1)), "snapshot must be of version 3, got 1"),
        (damaged(lambda d: d.pop("state")), "snapshot must be undamaged, got KeyError: 'state'"),
        (damaged(lambda d: d["state"]["played"].pop()), "played has 2 entries instead of 3"),
        (damaged(lambda d: d["problem"].update(plays=0)), "plays must be"),
        (damaged(lambda d: d["policy"].update(name="x")), "unknown policy 'x'"),
        (damaged(lambda d: d["promises"].pop("since")), "undamaged"),
        (damaged(lambda d: d.update(random={})), "undamaged"),
        (damaged(lambda d: d.update(decisions=[[1]])), "undamaged"),
        (damaged(lambda d: d.update(decisions=[[7, ["a"], {}]])), "decision 7 after 0 rounds"),
        (damaged(lambda d: d.update(latest=3)), "latest decision is 3 after 0 rounds"),
        (damaged(lambda d: d.update(memory=0)), "memory must be"),
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


@pytest.mark.parametrize("told", [[0.5], [], {"b": 0.5}, {"a": 2}, "a", 3, None])
def test_a_snapshot_whose_rewards_are_not_by_chosen_arms_is_refused(told):
    agent = Agent(Problem(["a", "b"], plays=1), seed=1)
    agent.ask(["a"])
    document = json.loads(agent.snapshot())
    document["decisions"][0][2] = told
    with pytest.raises(SnapshotError, match="snapshot must be undamaged"):
        Agent.restore(json.dumps(document))


def test_the_shortest_memory_comes_back():
    agent = Agent(Problem(["a"], plays=1), memory=1)
    agent.ask()
    assert Agent.restore(agent.snapshot()).tell(1, {"a": 1}).learned == ("a",)
    document = json.loads(agent.snapshot())
    document["decisions"][0][0] = 0
    with pytest.raises(SnapshotError, match="decision must be a whole number of at least 1"):
        Agent.restore(json.dumps(document))
