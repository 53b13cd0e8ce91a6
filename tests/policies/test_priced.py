"""priced: floors kept on time, whatever the model gets wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import (
    Agent,
    Beta,
    Environment,
    Geometric,
    InputError,
    Joint,
    Problem,
    find_optimum,
    make_policy,
    simulate,
)
from evenhand.optimum.feasibility import attainable, headroom
from evenhand.policies import Situation, new_state
from evenhand.policies.priced import GROWTH, refresh_prices
from tests.policies.test_golden import Script


def fractions(environment, horizon=20_000, **options):
    results = simulate(environment, ["priced"], horizon=horizon, replications=4, seed=1, **options)
    rates = np.array(list(results.rates("priced").values()))
    floors = environment.problem.floors
    return rates[floors > 0] / floors[floors > 0], results


# The score


def test_its_score_by_hand():
    """Two arms, floors (0.4, 0.2), eta 5, weights (1, 2): the unit is 2 x 0.3 = 0.6.

    Arm 0 is owed 10 x 0.4 - 2 = 2: 0.1 + 0.6 x 2 / (5 x 0.4) = 0.7. Arm 1 is owed 2 - 4 = -2:
    0.5 - 0.6 x 2 / (5 x 0.2) = -0.7, so nothing.
    """
    problem = Problem(2, plays=1, weights=[1.0, 2.0], floors=[0.4, 0.2])
    policy, state, scores = make_policy("priced", eta=5), new_state(2), np.empty(2)
    state.rounds[0], state.refresh[0] = 10, 11
    state.played[:], state.prices[:], state.targets[:] = [2, 4], [0.1, 0.5], [0.4, 0.2]
    constants = policy.constants(Situation(problem))
    policy.score(scores, np.arange(2), state, problem.terms, constants, Script([0.5, 0.25]))
    assert scores.tolist() == pytest.approx([0.5 + 0.7, 2 * 0.25])


def test_its_prices_are_those_of_the_optimum_on_what_was_measured():
    problem = Problem(3, plays=2, floors=[0.5, 0.6, 0.4])
    state = new_state(3)
    state.rounds[0] = 1_000
    state.awake_counts[:] = [900, 800, 700]
    state.feedbacks[:] = [10**9] * 3
    state.reward_sums[:] = [0.4e9, 0.5e9, 0.7e9]
    refresh_prices(state, problem.terms)
    assert state.prices == pytest.approx([0.1, 0, 0], abs=1e-6)
    assert state.targets.tolist() == problem.floors.tolist()
    assert state.refresh[0] == int(1_000 * GROWTH)


@pytest.mark.parametrize("eta", [0, -1, "paper", "inf", float("inf"), float("nan"), True])
def test_eta_is_a_number_or_anytime(eta):
    with pytest.raises(InputError, match="eta of policy 'priced' must be a number above 0, or"):
        make_policy("priced", eta=eta)


# What can be kept


@given(
    values=st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 1)), min_size=1, max_size=8),
    plays=st.integers(1, 8),
)
@settings(max_examples=200, deadline=None)
def test_attainable_floors_fit_and_are_the_floors_where_those_fit(values, plays):
    floors, probabilities = (np.array(column) for column in zip(*values, strict=True))
    plays = min(plays, len(floors))
    kept = attainable(floors, probabilities, plays)
    assert (kept <= floors + 1e-12).all()
    assert headroom(kept, probabilities, plays) >= 1 - 1e-9
    if headroom(floors, probabilities, plays) >= 1:
        assert kept == pytest.approx(floors)


def test_what_is_missing_is_shared_in_proportion():
    """One play, floors of 1.2 in all, everybody always awake: each gets 1 / 1.2 of its floor."""
    kept = attainable(np.array([0.6, 0.4, 0.2]), np.ones(3), 1)
    assert kept == pytest.approx(np.array([0.6, 0.4, 0.2]) / 1.2)


def test_an_arm_that_sleeps_too_much_does_not_drag_the_others_down():
    kept = attainable(np.array([0.9, 0.2]), np.array([0.5, 1.0]), 1)
    assert kept == pytest.approx([0.5, 0.2])


# In the long run


@pytest.mark.parametrize("eta", ["anytime", 1, 20, 200])
def test_floors_are_kept_on_time_at_every_eta(setting_1, eta):
    policy = make_policy("priced", eta=eta)
    results = simulate(setting_1, {"it": policy}, horizon=20_000, replications=10, seed=1)
    assert results.worst_shortfall("it").mean < 0.0005
    assert abs(results.regret("it").mean[-1]) < 0.01


def test_tight_floors_with_dependent_availability():
    """Arms wake in pairs only: the prices assume otherwise, and the debts correct them."""
    sets = Joint([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]], [0.4, 0.4, 0.2])
    problem = Problem(4, plays=1, floors=[0.3, 0.08, 0.08, 0.3])
    environment = Environment(problem, [0.2, 0.9, 0.9, 0.2], sets)
    got, results = fractions(environment)
    assert got.min() > 0.999
    assert results.regret("priced").mean[-1] < 0.01 * find_optimum(environment).with_floors


def test_infeasible_floors_are_missed_by_the_same_fraction():
    problem = Problem(4, plays=1, floors=[0.5, 0.4, 0.3, 0.1])
    got, _ = fractions(Environment(problem, [0.9, 0.1, 0.5, 0.3], [0.9, 0.8, 0.7, 0.9]))
    assert got.max() - got.min() < 0.05 * got.mean()


def test_floors_that_only_dependence_makes_infeasible_are_missed_evenly_too():
    sets = Joint([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]], [0.4, 0.4, 0.2])
    problem = Problem(4, plays=1, floors=[0.4, 0.3, 0.1, 0.1])
    got, _ = fractions(Environment(problem, [0.2, 0.9, 0.9, 0.2], sets))
    assert got[0] == pytest.approx(got[1], rel=0.05)
    assert got[2:].min() > 0.99


@pytest.mark.parametrize(
    ("environment", "options"),
    [
        (Environment(Problem(4, 1, [1000, 1, 0.01, 50], 0.2), 0.5, 0.9), {}),
        (Environment(Problem(6, 2, floors=[0.4, 0.3, 0.2, 0.1, 0.2, 0.3]), 0.5, 0.8), {}),
        (Environment(Problem(4, 2, floors=0.3), [0.1, 0.4, 0.6, 0.9], 0.8, Beta(3)), {}),
        (Environment(Problem(4, 2, floors=0.3), [0.1, 0.4, 0.6, 0.9], 0.8), {"delay": 200}),
        (
            Environment(Problem(4, 2, floors=0.3), [0.1, 0.4, 0.6, 0.9], 0.8),
            {"delay": Geometric(100.0)},
        ),
    ],
    ids=["weights", "equal means", "real rewards", "late", "late at random"],
)
def test_floors_are_kept_under_odd_conditions(environment, options):
    got, results = fractions(environment, **options)
    assert got.min() > 0.995
    assert results.regret("priced").mean[-1] < 0.015 * results.with_floors


# Serving


def test_it_is_what_an_agent_uses():
    assert Agent(Problem(2, plays=1)).policy == make_policy("priced")


def serve(agent, rounds, rng, means):
    for _ in range(rounds):
        awake = [arm for arm in agent.problem.arms if rng.random() < 0.8]
        decision = agent.ask(awake)
        agent.tell(decision.id, {a: float(rng.random() < means[a]) for a in decision.chosen})


def test_an_arm_that_joins_late_gets_its_share_from_then_on():
    rng, means = np.random.default_rng(1), {"a": 0.9, "b": 0.5, "new": 0.1}
    agent = Agent(Problem(["a", "b"], plays=1, floors=[0.0, 0.2]), seed=2)
    serve(agent, 500, rng, means)
    agent.join("new", floor=0.25)
    agent.change("b", floor=0.3)
    serve(agent, 1_500, rng, means)
    assert agent.rates()["new"] == pytest.approx(0.25, abs=0.01)
    assert agent.debts()["b"] < 5


def test_an_agent_tells_which_floors_it_can_aim_at():
    agent = Agent(Problem(["a", "b"], plays=1, floors=[0.9, 0.6]), seed=2)
    assert agent.targets() == {"a": 0.9, "b": 0.6}
    serve(agent, 300, np.random.default_rng(1), {"a": 0.5, "b": 0.5})
    targets = agent.targets()
    assert targets["a"] + targets["b"] < 1.0
    assert agent.rates()["a"] / 0.9 == pytest.approx(agent.rates()["b"] / 0.6, rel=0.05)
