"""opt-f and opt-nf attain, when simulated, what the program promises."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import Environment, InfeasibleFloors, Joint, Problem, find_optimum, simulate


def check(environment, horizon=100_000, replications=10):
    best = find_optimum(environment)
    results = simulate(
        environment, ["opt-f", "opt-nf"], horizon=horizon, replications=replications, seed=11
    )
    # A rate is the mean of a million plays or not: five errors are at most 0.0025.
    rates = list(results.rates("opt-f").values())
    assert rates == pytest.approx(best.rates, abs=0.0025)
    for name, value in (("opt-f", best.with_floors), ("opt-nf", best.without_floors)):
        reward = results.reward(name)
        assert abs(reward.mean - value) < 5 * reward.standard_error
    assert results.regret("opt-f").mean[-1] == pytest.approx(0.0, abs=0.005)
    assert results.with_floors == best.with_floors
    assert results.without_floors == best.without_floors


def test_setting_1(setting_1):
    check(setting_1)


def test_many_arms_with_tight_floors():
    """97% of what is feasible, equal promises: one block with many orders."""
    rng = np.random.default_rng(3)
    probabilities, means = rng.uniform(0.3, 1, 12), rng.uniform(size=12)
    common = find_optimum(
        Environment(Problem(12, plays=4), means, probabilities)
    ).largest_common_floor
    problem = Problem(12, plays=4, floors=0.97 * common, weights=rng.uniform(0.5, 2, 12))
    check(Environment(problem, means, probabilities))


def test_a_joint_table():
    sets = [["a", "b"], ["b", "c"], ["a", "c"], ["a", "b", "c"], []]
    problem = Problem(["a", "b", "c"], plays=1, floors=[0.3, 0.2, 0.25])
    check(Environment(problem, [0.2, 0.9, 0.5], Joint(sets, [0.3, 0.2, 0.2, 0.2, 0.1])))


def test_infeasible_floors_have_no_optimal_policy(setting_1):
    environment = Environment(Problem(2, plays=1, floors=0.6, allow_impossible=True), 0.5)
    with pytest.raises(InfeasibleFloors):
        simulate(environment, ["opt-f"], horizon=10)
    results = simulate(environment, ["tscsf-b"], horizon=10)
    assert results.with_floors is None
    assert results.without_floors == pytest.approx(0.5)
