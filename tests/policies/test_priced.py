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
from evenhand.generate import random_environment
from evenhand.optimum.feasibility import attainable, headroom
from evenhand.policies import Situation, new_state
from evenhand.policies.priced import refresh_prices
from tests.policies.test_golden import Script


def shift_world(rng):
    """Return twelve arms in four shifts, any of which may be on, with floors at 80 to 97%."""
    shifts, arms = rng.integers(0, 4, 12), 12
    sets = [(shifts == rng.integers(0, 4)) | (rng.random(arms) < 0.15) for _ in range(24)]
    chances = rng.dirichlet(np.ones(24))
    availability = Joint(np.array(sets), (chances / chances.sum()).tolist())
    means = rng.uniform(0.05, 0.95, arms)
    own = chances @ np.array(sets)
    wanted = rng.uniform(size=arms) * own
    room = find_optimum(Environment(Problem(arms, 2, floors=wanted / 100), means, availability))
    tight = rng.uniform(0.8, 0.97) * room.floor_headroom
    problem = Problem(arms, 2, floors=wanted / 100 * tight)
    return Environment(problem, means, availability)


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
    state.played[:], state.prices[:] = [2, 4], [0.1, 0.5]
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


def test_prices_are_computed_anew_when_the_rounds_have_grown_by_a_tenth():
    problem, policy = Problem(3, plays=1, floors=[0.3, 0.2, 0.0]), make_policy("priced")
    constants, state = policy.constants(Situation(problem)), new_state(3)
    scores, rng, due = np.empty(3), np.random.default_rng(1), []
    for now in range(2_000):
        before = int(state.refresh[0])
        policy.score(scores, np.arange(3), state, problem.terms, constants, rng)
        if state.refresh[0] != before:
            due.append(now)
        state.rounds[0] += 1
    assert due[:12] == list(range(12))
    later = [now for now in due if now >= 50]
    ratios = np.array(later[1:]) / np.array(later[:-1])
    assert ratios.min() > 1.07
    assert ratios.max() < 1.11


def test_an_arm_without_a_floor_that_is_still_owed_plays_counts_as_a_typical_one():
    """Floors (0.4, 0), eta 5: arm 1 is owed 3 of 6 promised, 0.4 x 3 / (5 x 0.4) = 0.6."""
    problem = Problem(2, plays=1, floors=[0.4, 0.0])
    policy, state, scores = make_policy("priced", eta=5), new_state(2), np.empty(2)
    state.rounds[0], state.refresh[0] = 10, 11
    state.played[:], state.promised[:] = [9, 3], [0, 6]
    constants = policy.constants(Situation(problem))
    policy.score(scores, np.arange(2), state, problem.terms, constants, Script([0.5, 0.25]))
    assert scores.tolist() == pytest.approx([0.5, 0.25 + 0.6])


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


def test_arms_that_exclude_each_other_get_their_floors():
    """Taken for independent, a and b could not both have 0.45; they are never awake together."""
    problem = Problem(["a", "b", "c"], 1, floors=[0.45, 0.45, 0])
    sets = Joint([["a", "c"], ["b", "c"]], [0.5, 0.5])
    environment = Environment(problem, [0.2, 0.3, 0.9], sets)
    results = simulate(environment, ["priced"], horizon=20_000, replications=10)
    assert results.worst_shortfall("priced").mean < 0.0005
    assert abs(results.regret("priced").mean[-1]) < 0.002 * results.with_floors


@pytest.mark.parametrize("number", range(6))
def test_shifts_are_no_excuse(number):
    """Groups of arms are on and off together, and floors are near the most that can be kept."""
    environment = shift_world(np.random.default_rng(number))
    results = simulate(environment, ["priced"], horizon=20_000, replications=5, seed=number)
    assert results.worst_shortfall("priced").mean < 0.001
    assert abs(results.regret("priced").mean[-1]) < 0.01 * results.with_floors


def test_many_arms_and_a_short_horizon_cost_no_more_than_an_eta_of_one():
    """Estimates are rough while arms have hardly been played: prices must not serve on credit."""
    environment = random_environment(np.random.default_rng(100), 300, 5, tightness=0.85)
    policies = {"anytime": make_policy("priced"), "one": make_policy("priced", eta=1)}
    results = simulate(environment, policies, horizon=2_000, replications=10)
    regret = {label: results.regret(label).mean[-1] / results.with_floors for label in policies}
    assert regret["anytime"] < 1.1 * regret["one"]
    assert results.worst_shortfall("anytime").mean < 0.0002


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


def wakes_late(agent, asleep, rounds):
    """Let arm "a" sleep at first; return the rounds after its waking in which it is played."""
    plays = []
    for now in range(asleep + rounds):
        decision = agent.ask(["b", "c"] if now < asleep else ["a", "b", "c"])
        agent.tell(decision.id, {arm: 1.0 if arm == "c" else 0.0 for arm in decision.chosen})
        if now >= asleep and "a" in decision.chosen:
            plays.append(now - asleep)
    return plays


def test_an_arm_that_wakes_late_is_paid_at_once():
    agent = Agent(Problem(["a", "b", "c"], plays=1, floors=[0.3, 0.2, 0.0]), seed=3)
    plays = wakes_late(agent, asleep=2_000, rounds=1_500)
    assert plays[:20] == list(range(20))
    assert agent.debts()["a"] < 10


def test_what_is_owed_is_paid_although_the_floor_is_gone():
    agent = Agent(Problem(["a", "b", "c"], plays=1, floors=[0.3, 0.2, 0.0]), seed=3)
    wakes_late(agent, asleep=500, rounds=0)
    agent.change("a", floor=0.0)
    assert agent.debts()["a"] == pytest.approx(150)
    assert len(wakes_late(agent, asleep=0, rounds=400)) >= 145
    assert agent.debts()["a"] <= 5


def test_an_arm_without_a_floor_waits_while_others_are_owed_plays():
    rng, means = np.random.default_rng(1), {"a": 0.1, "b": 0.2, "c": 0.9}
    agent = Agent(Problem(["a", "b", "c"], plays=1, floors=[0.3, 0.3, 0.0]), seed=2)
    serve(agent, 1_000, rng, means)
    agent.change("a", floor=1.0)
    before = agent.rates()["c"] * agent.rounds
    serve(agent, 1_000, rng, means)
    alone = 0.2 * 0.2 * 0.8 * 1_000
    assert agent.rates()["c"] * agent.rounds - before < alone + 30
    assert agent.debts()["a"] > 100


def test_an_agent_tells_which_floors_it_can_aim_at():
    agent = Agent(Problem(["a", "b"], plays=1, floors=[0.9, 0.6]), seed=2)
    assert agent.targets() == {"a": 0.9, "b": 0.6}
    serve(agent, 300, np.random.default_rng(1), {"a": 0.5, "b": 0.5})
    targets = agent.targets()
    assert targets["a"] + targets["b"] < 1.0
    assert agent.rates()["a"] / 0.9 == pytest.approx(agent.rates()["b"] / 0.6, rel=0.05)
