"""Compiled or interpreted: the same decisions, to the last bit; and the awake set in any form."""

from __future__ import annotations

import logging
import sys

import numpy as np
import pytest

from evenhand import Agent, InputError, MissingExtra, Problem, make_policy
from evenhand.learner import engine as engines
from tests.agent.test_agent import SERVING


def twelve_arms(policy, **options):
    rng = np.random.default_rng(5)
    problem = Problem(12, plays=3, weights=rng.uniform(0.5, 2, 12), floors=rng.uniform(0, 0.2, 12))
    return Agent(problem, policy, seed=2, **options)


def lived(agent, rounds=150):
    """Ask, tell late, cancel and change arms, with everything random but the same each time."""
    rng, waiting = np.random.default_rng(9), []
    for _ in range(rounds):
        decision = agent.ask(rng.random(12) < 0.7)
        waiting.append((decision, {arm: rng.random() for arm in decision.chosen}))
        if rng.random() < 0.1 and agent.rounds > 1:
            agent.cancel(waiting.pop()[0].id)
        while waiting and rng.random() < 0.8:
            late, rewards = waiting.pop(int(rng.integers(len(waiting))))
            agent.tell(late.id, rewards)
    agent.pause("3")
    agent.ask()
    return agent.snapshot()


@pytest.mark.parametrize("name", SERVING)
def test_machine_code_gives_the_same_bits(name):
    parameters = {"exploration": 0.1}
    if make_policy(name).randomness == "samples":
        parameters |= {"half_life": 40.0, "rewards": "binarised"}
    for given in ({}, parameters):
        policy = make_policy(name, **given)
        fast, plain = (twelve_arms(policy, compiled=how) for how in (True, False))
        assert (fast.compiled, plain.compiled) == (True, False)
        assert lived(fast) == lived(plain)


def test_few_arms_are_not_worth_the_wait_and_many_are():
    assert Agent(Problem(9, plays=1), "tscsf-b").compiled is False
    assert Agent(Problem(10, plays=1), "tscsf-b").compiled is True
    agent = Agent(Problem(9, plays=1), "tscsf-b")
    agent.join("new")
    assert agent.compiled is True


def test_without_numba_the_agent_still_works(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert len(twelve_arms("priced").ask().chosen) == 3
    with pytest.raises(MissingExtra, match="numba"):
        twelve_arms("priced", compiled=True)


@pytest.mark.parametrize("wrong", ["yes", None, 1])
def test_whether_to_compile_is_said_in_one_of_three_ways(wrong):
    with pytest.raises(InputError, match="compiled must be True, False or 'auto'"):
        twelve_arms("tscsf-b", compiled=wrong)


def test_all_is_compiled_when_the_agent_is_made(caplog):
    """No function has more machine code after hundreds of decisions than before the first."""
    agent = twelve_arms("tscsf-b", compiled=True)
    made = [
        agent._learner.engine._decide,
        agent._learner.engine._settle,
        agent._learner.engine._learn_all,
    ]
    before = [len(function.signatures) for function in made]
    with caplog.at_level(logging.INFO, "evenhand"):
        lived(agent)
        agent.ask(["1", "2"])
        agent.ask([])
    assert [len(function.signatures) for function in made] == before
    assert not caplog.records


def test_waiting_for_the_compiler_is_in_the_log(caplog, monkeypatch):
    monkeypatch.setattr(engines, "SLOW_SECONDS", 0.0)
    with caplog.at_level(logging.INFO, "evenhand"):
        twelve_arms("tscsf-b", compiled=True)
    assert "compiled decisions in" in caplog.text


@pytest.mark.parametrize(
    "given",
    [
        ["2", "5", "11"],
        ("11", "2", "5"),
        {"5", "2", "11"},
        iter(["5", "11", "2"]),
        np.array(["11", "5", "2"]),
        [1, 4, 10],
        [np.int64(10), np.int64(4), np.int64(1)],
        np.array([10, 1, 4]),
        np.array([10, 1, 4], dtype=np.uint8),
        range(1, 11, 3),
        [i in (1, 4, 10) for i in range(12)],
        np.isin(np.arange(12), [1, 4, 10]),
    ],
)
def test_the_awake_set_may_be_names_places_or_a_mask(given):
    agent = twelve_arms("tscsf-b", compiled=False)
    wanted = ("2", "5", "8", "11") if isinstance(given, range) else ("2", "5", "11")
    assert agent.ask(given).awake == wanted
    assert twelve_arms("tscsf-b", compiled=False).ask().awake == agent.problem.arms


@pytest.mark.parametrize("name", ["priced", "tscsf-b", "lfg"])
def test_a_million_decisions_without_feedback_take_no_more_memory_than_a_thousand(name):
    """The ledger holds what it may, whatever is asked; here ten thousand stand for a million."""
    agent = Agent(Problem(3, plays=1, floors=0.2), name, seed=1, log_size=500, compiled=False)
    sizes = []
    for rounds in (1_000, 9_000):
        for _ in range(rounds):
            agent.ask()
        sizes.append((len(agent._log.records), len(agent.snapshot())))
    assert sizes[0][0] == sizes[1][0] == 500
    assert sizes[1][1] < sizes[0][1] * 1.1


@pytest.mark.parametrize("name", SERVING)
@pytest.mark.parametrize("awake", [range(12), range(5), range(3), []], ids=len)
def test_many_decisions_at_once_are_as_many_one_by_one(name, awake):
    places, agents = (
        np.array(awake, dtype=np.int64),
        [twelve_arms(name, compiled=False) for _ in "ab"],
    )
    made = agents[0]._learner.engine.decide_many(30, places, agents[0]._learner.rng)
    if made is None:
        assert agents[0].policy.randomness in ("own", "both")
        return
    for chosen, before, samples in zip(*made, strict=True):
        alone, owed, drawn, _ = agents[1]._learner.engine.decide(places, agents[1]._learner.rng)
        assert chosen.tolist() == alone.tolist()
        assert before.tolist() == owed[: alone.size].tolist()
        assert samples.tolist() == drawn.tolist()
    for one, other in zip(agents[0]._learner.state, agents[1]._learner.state, strict=True):
        assert one.tolist() == other.tolist()


def test_many_decisions_at_once_are_the_same_in_machine_code():
    agents = [twelve_arms("tscsf-b", compiled=compiled) for compiled in (True, False)]
    made = [
        agent._learner.engine.decide_many(50, np.arange(12), agent._learner.rng) for agent in agents
    ]
    one, other = ([chosen.tolist() for chosen in many.chosen] for many in made)
    assert one == other


def test_decisions_of_which_one_depends_on_the_last_are_not_made_at_once():
    for parameters in ({"exploration": 0.1}, {"half_life": 30}):
        agent = twelve_arms(make_policy("tscsf-b", **parameters), compiled=False)
        assert agent._learner.engine.decide_many(5, np.arange(12), agent._learner.rng) is None
