"""priced over thousands of rounds: floors kept on time, whatever the model gets wrong."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import (
    Beta,
    Environment,
    Geometric,
    Joint,
    Problem,
    find_optimum,
    make_policy,
    simulate,
)
from evenhand.generate import random_environment
from evenhand.lab.science._worlds import shifts


def fractions(environment, horizon=20_000, **options):
    results = simulate(environment, ["priced"], horizon=horizon, replications=4, seed=1, **options)
    rates = np.array(list(results.rates("priced").values()))
    floors = environment.problem.floors
    return rates[floors > 0] / floors[floors > 0], results


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
    environment = shifts(np.random.default_rng(number), horizon=20_000)
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
    problem = Problem(4, plays=1, floors=[0.5, 0.4, 0.3, 0.1], allow_impossible=True)
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
        (Environment(Problem(4, 1, 0.0, [0.6, 0.2, 0.1, 0.0]), 0.5, 0.95), {}),
        (Environment(Problem(6, 2, floors=[0.4, 0.3, 0.2, 0.1, 0.2, 0.3]), 0.5, 0.8), {}),
        (Environment(Problem(4, 2, floors=0.3), [0.1, 0.4, 0.6, 0.9], 0.8, Beta(3)), {}),
        (Environment(Problem(4, 2, floors=0.3), [0.1, 0.4, 0.6, 0.9], 0.8), {"delay": 200}),
        (
            Environment(Problem(4, 2, floors=0.3), [0.1, 0.4, 0.6, 0.9], 0.8),
            {"delay": Geometric(100.0)},
        ),
    ],
    ids=["weights", "no weights", "equal means", "real rewards", "late", "late at random"],
)
def test_floors_are_kept_under_odd_conditions(environment, options):
    got, results = fractions(environment, **options)
    assert got.min() > 0.995
    assert results.regret("priced").mean[-1] <= 0.015 * results.with_floors
