"""Forgetting: by the round of the decision, whenever feedback comes, and never too large."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import Agent, Environment, InputError, Problem, make_policy
from evenhand.core.fading import fade, power_of_two, round_weight, rounds_lived
from evenhand.simulation._engine import run_reference
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, checkpoints, new_control, streams


@given(st.integers(1, 10**6), st.floats(0.5, 1e6), st.integers(0, 40))
def test_another_epoch_scales_every_weight_by_a_power_of_two_and_loses_no_bit(
    round_, half_life, steps
):
    epoch = math.floor(round_ / half_life)
    weight = round_weight(round_, epoch, half_life)
    assert round_weight(round_, epoch + steps, half_life) == math.ldexp(weight, -steps)


@given(st.floats(-900, 900))
def test_powers_of_two_are_what_they_are_called(exponent):
    assert power_of_two(exponent, 0) == pytest.approx(2.0**exponent, rel=1e-13)
    assert power_of_two(exponent, 10**9) == 2.0**1000
    assert power_of_two(exponent, -(10**9)) == 0.0


@given(st.integers(1, 10**6), st.floats(0.5, 1e6))
def test_a_weight_brought_to_the_present_is_a_power_of_its_age(round_, half_life):
    now, epoch = round_ + 37, math.floor(round_ / half_life)
    weight = round_weight(round_, epoch, half_life) * fade(now, epoch, half_life)
    assert weight == pytest.approx(0.5 ** (37 / half_life), rel=1e-9)


def test_the_latest_rounds_weigh_what_their_sum_does():
    weights = [0.5 ** (age / 7.0) for age in range(100)]
    assert rounds_lived(100, 7.0) == pytest.approx(sum(weights))
    assert rounds_lived(100, math.inf) == 100


def estimate(history, now, half_life):
    """The posterior mean by its definition: every reward weighed by the age of its decision."""
    weights = [0.5 ** ((now - round_) / half_life) for round_, _ in history]
    total = sum(w * reward for w, (_, reward) in zip(weights, history, strict=True))
    return (1 + total) / (2 + sum(weights))


@given(
    rewards=st.lists(st.floats(0, 1), min_size=1, max_size=30),
    half_life=st.sampled_from([0.01, 0.7, 5.0, 300.0]),
    data=st.data(),
)
@settings(max_examples=50, deadline=None)
def test_late_and_out_of_order_feedback_gives_the_same_estimate(rewards, half_life, data):
    policy = make_policy("thompson", half_life=half_life)
    agent = Agent(Problem(["a", "b"], plays=1), policy, seed=1)
    told = [(agent.ask(["a"]), reward) for reward in rewards]
    for decision, reward in data.draw(st.permutations(told)):
        agent.tell(decision.id, {"a": reward})
    history = [(decision.round, reward) for decision, reward in told]
    wanted = estimate(history, agent.rounds, half_life)
    assert agent.posterior_means()["a"] == pytest.approx(wanted, rel=1e-9)


def test_weights_never_grow_too_large_however_long_it_lasts():
    policy = make_policy("tscsf-b", half_life=0.5)
    agent = Agent(Problem(["a", "b"], plays=1, floors=0.2), policy, seed=1)
    for k in range(3_000):
        decision = agent.ask()
        agent.tell(decision.id, {decision.chosen[0]: float(k % 2)})
    for name in ("awake_counts", "feedbacks", "reward_sums"):
        assert np.isfinite(getattr(agent._learner.state, name)).all()
    assert agent._learner.awake_rates().tolist() == pytest.approx([1.0, 1.0])


def test_an_arm_that_changed_is_seen_again():
    """An arm returns 1 for a thousand rounds and 0 for fifty: only who forgets has noticed."""
    estimates = {}
    for half_life in (None, 10.0):
        policy = make_policy("thompson", half_life=half_life)
        agent = Agent(Problem(["a"], plays=1), policy, seed=1)
        for k in range(1_050):
            agent.tell(agent.ask().id, {"a": float(k < 1_000)})
        estimates[half_life] = agent.posterior_means()["a"]
    assert estimates[None] > 0.9
    assert estimates[10.0] < 0.15


@pytest.mark.parametrize("name", ["priced", "tscsf-b", "thompson", "floor-first"])
@pytest.mark.parametrize("half_life", [0.3, 25.0, 1e9])
def test_both_engines_forget_alike(setting_1, name, half_life):
    run = Run(setting_1, make_policy(name, half_life=half_life), 300, checkpoints(300), delay=7)
    fast, plain = (
        engine(run, streams(3, 0), new_control()) for engine in (run_compiled, run_reference)
    )
    for field, array in plain.state._asdict().items():
        assert np.array_equal(getattr(fast.state, field), array), field
    assert np.array_equal(fast.estimates, plain.estimates)


@pytest.mark.parametrize("delay", [0, 9])
def test_a_simulation_weighs_late_feedback_by_the_round_of_its_decision(delay):
    """One arm that always returns 1, 60 rounds: of the last ones nothing has been heard."""
    environment = Environment(Problem(1, plays=1), 1.0)
    policy = make_policy("thompson", half_life=4.0)
    run = Run(environment, policy, 60, checkpoints(60), delay=delay)
    wanted = estimate([(round_, 1.0) for round_ in range(1, 61 - delay)], 60, 4.0)
    for engine in (run_compiled, run_reference):
        found = engine(run, streams(1, 0), new_control()).estimates
        assert found.tolist() == pytest.approx([wanted])


def test_without_forgetting_every_weight_is_one(setting_1):
    policy = make_policy("priced", half_life=None)
    assert policy == make_policy("priced", half_life="inf") == make_policy("priced")
    state = run_compiled(
        Run(setting_1, policy, 400, checkpoints(400)), streams(3, 0), new_control()
    ).state
    assert np.array_equal(state.feedbacks, state.played)
    assert np.array_equal(state.awake_counts, np.round(state.awake_counts))
    assert state.epoch[0] == 0


def test_prices_of_who_forgets_are_worked_out_anew_before_they_are_forgotten():
    policy, problem = make_policy("priced", half_life=50.0), Problem(3, plays=1, floors=0.1)
    agent, due = Agent(problem, policy, seed=1), set()
    for _ in range(3_000):
        agent.ask()
        due.add(int(agent._learner.engine.memory.refresh[0]))
    assert np.diff(sorted(due)).max() == 5


@pytest.mark.parametrize("name", ["priced", "tscsf-b", "thompson", "floor-first"])
@pytest.mark.parametrize("wrong", [0, -1, 0.0, float("nan"), "long", True])
def test_a_half_life_is_a_number_of_rounds(name, wrong):
    rule = "must be a number of rounds of at least 0.001, or infinity, got"
    with pytest.raises(InputError, match=f"half_life of policy '{name}' {rule}"):
        make_policy(name, half_life=wrong)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan"), "often", True, None])
def test_exploration_is_a_chance(wrong):
    with pytest.raises(InputError, match="exploration of policy 'lfg' must be a number in"):
        make_policy("lfg", exploration=wrong)


@pytest.mark.parametrize("name", ["uniform", "lfg", "opt-f", "priced"])
def test_both_engines_explore_alike(setting_1, name):
    run = Run(setting_1, make_policy(name, exploration=0.4), 300, checkpoints(300))
    fast, plain = (
        engine(run, streams(3, 0), new_control()) for engine in (run_compiled, run_reference)
    )
    assert np.array_equal(fast.state.played, plain.state.played)


def test_who_explores_always_plays_everybody_alike():
    environment = Environment(Problem(4, plays=1), means=[0.1, 0.2, 0.3, 0.9])
    run = Run(environment, make_policy("thompson", exploration=1.0), 8_000, checkpoints(8_000))
    played = run_compiled(run, streams(1, 0), new_control()).state.played
    # Four standard deviations of 8,000 rounds with chance 1/4.
    assert np.abs(played - 2_000).max() < 4 * math.sqrt(1_500)
