"""State that adds up: agents that exchange what they saw reach the same totals, in any order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import Agent, InputError, Problem, make_policy
from evenhand.core.round import begin_epoch
from evenhand.core.schema import copied
from evenhand.policies.registry import BUILT_IN
from tests.agent.test_agent import play, three_arms

DYADIC = st.sampled_from([0.0, 0.125, 0.5, 0.875, 1.0])
# Their queues forget a surplus, and so depend on the order of events.
NOT_ADDING_UP = ["banditq", "lfg", "pessimistic", "priced"]


def totals(agent):
    """Return the state, with weights counted from the present."""
    state = copied(agent._learner.state)
    time = state.rounds[0] + state.cancelled[0]
    begin_epoch(state, int(time / agent.policy.options.half_life))
    return {name: array.tolist() for name, array in state._asdict().items()}


def act(agent, deed, open_):
    """Do one thing: ask, tell the oldest open decision, or take the latest one back."""
    kind, reward = deed
    if kind == "ask" or not open_:
        open_.append(agent.ask())
    elif kind == "cancel":
        agent.cancel(open_.pop().id)
    else:
        decision = open_.pop(0)
        agent.tell(decision.id, dict.fromkeys(decision.chosen, reward))


@given(
    deeds=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.tuples(st.sampled_from(["ask", "ask", "tell", "cancel"]), DYADIC),
        ),
        max_size=40,
    ),
    data=st.data(),
    half_life=st.sampled_from([None, 3.0]),
)
@settings(max_examples=60, deadline=None)
def test_three_agents_reach_the_same_totals_whatever_the_order(deeds, data, half_life):
    """Every agent's news reach every other one once, at any moment and in any order."""
    policy = make_policy("tscsf-b", half_life=half_life)
    problem = Problem(["a", "b", "c"], plays=2, floors=[0.5, 0.2, 0.1])
    agents = [Agent(problem, policy, seed=seed) for seed in range(3)]
    open_, post = [[] for _ in agents], [[] for _ in agents]
    for who, deed in deeds:
        act(agents[who], deed, open_[who])
        if data.draw(st.booleans()):
            send(agents, post, who)
        if post[who] and data.draw(st.booleans()):
            agents[who].apply(post[who].pop(data.draw(st.integers(0, len(post[who]) - 1))))
    for who in range(len(agents)):
        send(agents, post, who)
    for who, agent in enumerate(agents):
        for deltas in data.draw(st.permutations(post[who])):
            agent.apply(deltas)
    first, *others = map(totals, agents)
    for other in others:
        for name, values in first.items():
            assert other[name] == pytest.approx(values, rel=1e-12), name
    if half_life is None:
        assert all(other == first for other in others)
    assert totals(Agent.restore(agents[0].snapshot())) == first


def send(agents, post, who):
    deltas = agents[who].deltas()
    for other in range(len(agents)):
        if other != who:
            post[other].append(deltas)


def test_what_was_said_once_is_not_said_again():
    agent, other = three_arms(), three_arms()
    play(agent, 10)
    other.apply(agent.deltas())
    nothing = agent.deltas()
    assert (nothing.sums["rounds"].tolist(), nothing.sums["played"].tolist()) == ([0], [0, 0, 0])
    assert not nothing.sums["reward_sums"].any()
    play(other, 5)
    assert other.deltas().sums["rounds"].tolist() == [5]


def test_news_of_others_are_not_ones_own():
    agent, other = three_arms(), three_arms()
    play(agent, 10)
    other.apply(agent.deltas())
    assert other.rounds == 10
    assert other.deltas().sums["rounds"].tolist() == [0]
    assert other.debts() == agent.debts()


def test_a_snapshot_knows_what_has_been_said():
    agent = three_arms()
    play(agent, 10)
    agent.deltas()
    play(agent, 3)
    assert Agent.restore(agent.snapshot()).deltas().sums["rounds"].tolist() == [3]


def test_joined_and_retired_arms_are_not_confused():
    agent, other = three_arms(), three_arms()
    for one in (agent, other):
        one.join("d", floor=0.2)
        one.retire("b")
    play(agent, 20)
    other.apply(agent.deltas())
    assert other.debts() == agent.debts()
    assert other.posterior_means() == agent.posterior_means()


def test_what_waits_is_not_lost_when_arms_come_and_go():
    """What takes a round back came before the round itself, and an arm joined in between."""
    agent, other = three_arms(), three_arms()
    decision = agent.ask(["a"])
    made = agent.deltas()
    agent.cancel(decision.id)
    taken_back = agent.deltas()
    other.apply(taken_back)
    assert other.rounds == 0
    other.join("d")
    other.retire("c")
    assert Agent.restore(other.snapshot()).snapshot() == other.snapshot()
    other.apply(replace(made, arms=("a", "b", "d")))
    assert (other.rounds, other._learner.state.played.tolist(), other._early) == (0, [0, 0, 0], [])


def test_epochs_may_differ():
    """One agent's clock is far ahead, so its weights are scaled to another epoch."""
    problem, policy = Problem(2, plays=1), make_policy("thompson", half_life=2.0)
    agent, other = (Agent(problem, policy, seed=1) for _ in range(2))
    for _ in range(1_000):
        agent.ask()
    decision = other.ask()
    other.tell(decision.id, dict.fromkeys(decision.chosen, 1.0))
    ahead, behind = agent.deltas(), other.deltas()
    assert ahead.epoch > behind.epoch
    agent.apply(behind)
    other.apply(ahead)
    assert totals(agent) == totals(other)


def test_an_agent_that_is_told_of_many_rounds_goes_on_and_comes_back():
    """However far apart the clocks are, nothing overflows."""
    problem, policy = Problem(2, plays=1), make_policy("thompson", half_life=0.5)
    agent, other = (Agent(problem, policy, seed=1) for _ in range(2))
    for _ in range(3_000):
        other.ask()
    other.deltas()
    decision = other.ask()
    other.tell(decision.id, dict.fromkeys(decision.chosen, 1.0))
    agent.apply(other.deltas())
    agent.ask()
    twin = Agent.restore(agent.snapshot())
    assert twin.ask().chosen == agent.ask().chosen


@pytest.mark.parametrize("name", [policy.name for policy in BUILT_IN if not policy.knows_nature])
def test_every_policy_says_whether_its_state_adds_up(name):
    assert make_policy(name).adds_up == (name not in NOT_ADDING_UP)


def test_reflected_debts_do_not_add_up():
    agent = three_arms(policy="lfg")
    for refused in (agent.deltas, lambda: agent.apply(three_arms().deltas())):
        with pytest.raises(InputError, match=r"must be one whose state adds up.* got 'lfg'"):
            refused()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: replace(d, arms=("a", "b", "x")), "deltas must be of the arms a, b, c, got"),
        (lambda d: replace(d, half_life=5.0), "half_life of deltas must be the agent's, inf"),
        (lambda d: "news", "deltas must be what deltas"),
    ],
)
def test_deltas_of_others_are_refused_and_change_nothing(change, message):
    agent, other = three_arms(), three_arms()
    play(other, 5)
    before = agent.snapshot()
    with pytest.raises(InputError, match=message):
        agent.apply(change(other.deltas()))
    assert agent.snapshot() == before


def test_the_order_of_the_arms_may_be_another():
    agent = Agent(Problem(["a", "b"], plays=1), "tscsf-b", seed=1)
    other = Agent(Problem(["b", "a"], plays=1), "tscsf-b", seed=1)
    agent.tell(agent.ask(["a"]).id, {"a": 1.0})
    other.apply(agent.deltas())
    assert other.posterior_means() == {"b": 0.5, "a": 2 / 3}
    assert np.array_equal(other._learner.state.played, [0, 1])
