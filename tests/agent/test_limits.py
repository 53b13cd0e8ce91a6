"""An agent at its limits: the first and the last that is allowed, and the first that is not."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evenhand import Agent, Environment, FeedbackError, InputError, Problem, simulate


@pytest.mark.parametrize("seed", [-1, "x", 1.5])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InputError, match="seed must be a whole number"):
        Agent(Problem(["a"], plays=1), seed=seed)


@pytest.mark.parametrize("memory", [1, 2, 5])
def test_just_so_many_decisions_are_remembered(memory):
    agent = Agent(Problem(["a"], plays=1), log_size=memory)
    for _ in range(memory + 3):
        agent.ask()
    oldest = agent.rounds - memory + 1
    assert agent.tell(oldest, {"a": 1}).learned == ("a",)
    assert agent.tell(oldest - 1, {"a": 1}).expired == ("a",)
    with pytest.raises(FeedbackError, match=f"only the latest {memory} are remembered"):
        agent.expire(oldest - 1)


HUGE = 10**5000


def test_numbers_that_python_would_not_write_are_refused_like_others():
    agent = Agent(Problem(["a", "b"], plays=1), seed=1)
    decision = agent.ask()
    with pytest.raises(FeedbackError, match="got an int that cannot be written: it was never made"):
        agent.tell(HUGE, {})
    with pytest.raises(FeedbackError, match=r"must be a number in .* got an int that cannot"):
        agent.tell(decision.id, {decision.chosen[0]: HUGE})
    with pytest.raises(FeedbackError, match="must be for an arm it chose"):
        agent.tell(decision.id, {HUGE: 1.0})
    for refused in (
        lambda: agent.change("a", floor=HUGE),
        lambda: agent.change("a", weight=-HUGE),
        lambda: agent.join("c", floor=HUGE),
        lambda: agent.ask([HUGE]),
        lambda: agent.retire(HUGE),
        lambda: Problem(HUGE, plays=1),
        lambda: Problem(2, plays=HUGE),
        lambda: Agent(Problem(2, plays=1), seed=-HUGE),
    ):
        with pytest.raises(InputError):
            refused()


@pytest.mark.filterwarnings("error")
def test_the_largest_weights_overflow_nothing():
    problem = Problem(3, plays=1, weights=[1e100, 1.0, 0.0], floors=0.2)
    environment = Environment(problem, 0.5, 0.9)
    results = simulate(environment, ["priced", "tscsf-b"], horizon=500, replications=3)
    assert np.isfinite(results.margin("priced"))
    with pytest.raises(InputError, match=r"weight of arm '1' must be a number in \[0, 1e100\]"):
        Problem(1, plays=1, weights=1e300)


def test_rates_count_from_the_first_round_on():
    agent = Agent(Problem(["a"], plays=1))
    assert agent.rates() == {"a": 0.0}
    agent.ask()
    assert agent.rates() == {"a": 1.0}


@pytest.mark.parametrize("never", [0, -1, 2, True, "1", None, 1.5])
def test_a_decision_that_was_never_made_is_called_that(never):
    agent = Agent(Problem(["a"], plays=1))
    agent.ask()
    with pytest.raises(FeedbackError, match="it was never made"):
        agent.tell(never, {})


def test_more_plays_than_arms_keep_every_floor():
    agent = Agent(Problem.of_arms_left(("a", "b"), 3, 1.0, [0.9, 1.0]), seed=2)
    agent.ask()
    assert agent.targets() == {"a": 0.9, "b": 1.0}


def test_what_an_agent_takes_by_default_and_at_least():
    problem = Problem(["a"], plays=1)
    assert json.loads(Agent(problem).snapshot())["log"]["memory"] == 100_000
    assert Agent(problem, horizon=1, log_size=1, seed=0).rounds == 0
    for wrong in ({"log_size": 0}, {"horizon": 0}, {"seed": -1}):
        with pytest.raises(InputError, match="must be a whole number of at least"):
            Agent(problem, **wrong)


def test_options_are_named():
    with pytest.raises(TypeError):
        Agent(Problem(["a"], plays=1), "priced", 7)
    agent = Agent(Problem(["a"], plays=1))
    with pytest.raises(TypeError):
        agent.join("b", 0.5)
    agent.join(name="b", floor=0.5)
    assert agent.problem.arms == ("a", "b")


@pytest.mark.parametrize("reward", [-0.5, -1e-9, 1.0 + 1e-9, float("nan")])
def test_a_reward_is_between_0_and_1(reward):
    agent = Agent(Problem(["a"], plays=1))
    with pytest.raises(FeedbackError, match=r"must be a number in \[0, 1\]"):
        agent.tell(agent.ask().id, {"a": reward})
