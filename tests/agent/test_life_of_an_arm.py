"""Arms join, retire, change, pause and resume: one at a time, or many at once."""

from __future__ import annotations

import time

import numpy as np
import pytest

from evenhand import Agent, InputError, Problem, make_policy
from tests.agent.test_agent import SERVING, play, three_arms


def test_a_paused_arm_is_not_played_and_is_owed_nothing():
    agent = three_arms()
    for _ in range(4):
        agent.ask(["c"])
    owed = agent.debts()["a"]
    agent.pause("a")
    for _ in range(10):
        assert "a" not in agent.ask(["a", "b"]).awake
    assert agent.debts()["a"] == owed
    agent.resume("a")
    agent.ask([])
    assert agent.debts()["a"] == pytest.approx(owed + 0.5)


@pytest.mark.parametrize("name", SERVING)
def test_to_pause_and_resume_at_once_changes_nothing_that_can_be_read(name):
    agent = three_arms(policy=name)
    play(agent, 30)
    before = agent.debts(), agent.rates(), agent.posterior_means(), agent.targets()
    agent.pause(["a", "c"])
    agent.resume(["c", "a"])
    assert (agent.debts(), agent.rates(), agent.posterior_means(), agent.targets()) == before


def test_a_surplus_outlives_a_pause():
    """Five plays at a floor of 0.5 in five rounds: nothing is owed for the next five."""
    agent = three_arms()
    for _ in range(5):
        agent.ask(["a"])
    agent.pause("a")
    agent.ask([])
    agent.resume("a")
    for _ in range(5):
        agent.ask([])
    assert agent.debts()["a"] == pytest.approx(0.0)
    agent.ask([])
    assert agent.debts()["a"] == pytest.approx(0.5)


@pytest.mark.parametrize("half_life", [None, 10.0])
def test_a_pause_counts_neither_for_the_rate_nor_for_the_awake_rate(half_life):
    agent = three_arms(policy=make_policy("priced", half_life=half_life))
    for k in range(20):
        agent.ask(["a"] if k % 2 else ["b"])
    before, rates = agent.rates()["a"], agent._learner.awake_rates()[0]
    agent.pause("a")
    for _ in range(500):
        agent.ask(["b"])
    assert agent.rates()["a"] == before
    assert agent._learner.awake_rates()[0] == 0.0
    agent.resume("a")
    assert agent.rates()["a"] == before
    assert agent._learner.awake_rates()[0] == pytest.approx(rates)


def test_what_others_may_have_grows_while_an_arm_rests():
    problem = Problem(["a", "b"], plays=1, floors=0.6, allow_impossible=True)
    agent = Agent(problem, seed=1)
    play(agent, 40)
    before = agent.targets()["b"]
    assert before < 0.6
    agent.pause("a")
    after = agent.targets()
    assert (after["a"], after["b"]) == (0.0, min(0.6, agent._learner.awake_rates()[1]))
    assert after["b"] > before


def test_a_floor_may_change_during_a_pause():
    agent = three_arms()
    agent.pause("a")
    agent.change("a", floor=0.25)
    for _ in range(4):
        agent.ask([])
    assert agent.debts()["a"] == 0.0
    agent.resume("a")
    for _ in range(4):
        agent.ask([])
    assert agent.debts()["a"] == pytest.approx(1.0)


def test_feedback_on_a_paused_arm_is_learned():
    agent = three_arms()
    decision = agent.ask(["a"])
    agent.pause("a")
    assert agent.tell(decision.id, {"a": 1.0}).learned == ("a",)
    assert agent.posterior_means()["a"] == 2 / 3


def test_everybody_may_rest():
    agent = three_arms()
    agent.pause(["a", "b", "c"])
    assert agent.ask().chosen == ()
    assert agent.ask(["a"]).awake == ()


def test_many_arms_at_once_are_as_many_one_by_one():
    together, singly = three_arms(), three_arms()
    new = [f"new {i}" for i in range(5)]
    floors, weights = [0.01 * i for i in range(5)], [1.0 + i for i in range(5)]
    play(together, 10), play(singly, 10)
    together.join(new, floor=floors, weight=weights)
    for name, floor, weight in zip(new, floors, weights, strict=True):
        singly.join(name, floor=floor, weight=weight)
    together.change(["a", "b"], floor=[0.3, 0.1], weight=2.0)
    singly.change("a", floor=0.3, weight=2.0)
    singly.change("b", floor=0.1, weight=2.0)
    together.pause(new[:3]), together.resume(new[:2]), together.retire([new[4], "c"])
    for name in new[:3]:
        singly.pause(name)
    for name in new[:2]:
        singly.resume(name)
    for name in (new[4], "c"):
        singly.retire(name)
    assert together.problem == singly.problem
    play(together, 30, seed=4), play(singly, 30, seed=4)
    assert together.debts() == singly.debts()
    assert together.rates() == singly.rates()


def test_a_thousand_arms_join_at_once_as_fast_as_one():
    agent = Agent(Problem(1_000, plays=10), "tscsf-b", compiled=False)
    seconds = []
    for names in (["one"], [f"arm {i}" for i in range(1_000)]):
        start = time.process_time()
        agent.join(names, floor=0.001)
        seconds.append(time.process_time() - start)
    assert seconds[1] < 20 * seconds[0] + 0.05
    assert len(agent.problem.arms) == 2_001


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda agent: agent.resume("a"), "the arm to resume must be a paused one, got 'a'"),
        (lambda agent: agent.resume(["b", "a"]), "the arm to resume must be a paused one, got 'a'"),
        (
            lambda agent: agent.pause("b"),
            "must be one that is not paused, got 'b'",
        ),
        (lambda agent: agent.pause(["a", "a"]), "arms must have different names, got 'a' twice"),
        (lambda agent: agent.pause("x"), "unknown arm 'x'"),
        (lambda agent: agent.resume(None), "non-empty string"),
        (lambda agent: agent.join(["d", "a"]), "arms must have different names"),
        (lambda agent: agent.join(["d", "e"], floor=[0.1]), "one for each of 2 arms"),
        (lambda agent: agent.join(["d", "e"], floor=[0.1, 2]), "floor of arm 'e' must be"),
        (lambda agent: agent.change(["a", "c"], weight=[1, -1]), "weight of arm 'c' must be"),
        (lambda agent: agent.retire(["a", "b", "c"]), "the arm to retire must be one of several"),
        (lambda agent: agent.retire(["a", "x"]), "unknown arm 'x'"),
    ],
)
def test_a_wrong_change_of_one_of_many_changes_none(change, message):
    agent = three_arms()
    play(agent, 5)
    agent.pause("b")
    before = agent.snapshot()
    with pytest.raises(InputError, match=message):
        change(agent)
    assert agent.snapshot() == before


def test_prices_know_who_rests():
    """With its rival paused, an arm's floor costs nothing any more."""
    agent = Agent(Problem(["a", "b"], plays=1, weights=[1.0, 3.0], floors=[0.4, 0.0]), seed=3)
    for _ in range(60):
        decision = agent.ask()
        agent.tell(decision.id, dict.fromkeys(decision.chosen, 0.5))
    assert agent._learner.engine.memory.prices[0] > 0.5
    agent.pause("b")
    agent.ask(["a"])
    agent.join("c")
    agent.ask(["a", "c"])
    assert np.all(agent._learner.engine.memory.prices < 0.1)


@pytest.mark.parametrize("compiled", [False, True])
def test_another_number_of_plays_counts_from_now_on(compiled):
    agent = Agent(Problem(12, plays=2, floors=0.1), "tscsf-b", seed=1, compiled=compiled)
    for _ in range(20):
        agent.ask()
    before = agent.rates()
    agent.set_plays(5)
    assert (agent.problem.plays, agent.rates()) == (5, before)
    assert len(agent.ask().chosen) == 5
    restored = Agent.restore(agent.snapshot())
    assert restored.ask() == agent.ask()
    with pytest.raises(InputError, match="plays must be a whole number of at least 1, got 0"):
        agent.set_plays(0)
    assert agent.problem.plays == 5
