"""What must come out, whatever the code looks like. Seeds are fixed, error bounds stated."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import Beta, Environment, Geometric, Problem, make_policy, simulate
from evenhand.core.delay import as_wait, draw_wait

OPT_F_SETTING_1 = 1.038


def regret_at_the_end(setting_1, name, debt):
    policy = make_policy(name, eta=1, debt=debt)
    results = simulate(setting_1, [policy], horizon=20_000, replications=100, seed=1)
    curve = results.regret(policy.label(), OPT_F_SETTING_1)
    return curve.mean[-1], curve.high[-1] - curve.mean[-1]


@pytest.mark.parametrize("name", ["tscsf-b", "lfg"])
def test_at_eta_1_the_two_forms_of_the_debt_differ_by_0_03(setting_1, name):
    cumulative, margin = regret_at_the_end(setting_1, name, "cumulative")
    reflected, _ = regret_at_the_end(setting_1, name, "reflected")
    # Margins of 95% are below 0.0005; four of them are allowed.
    assert margin < 0.0005
    assert cumulative == pytest.approx(0.0, abs=0.002)
    assert reflected == pytest.approx(0.03, abs=0.002)


@pytest.mark.parametrize("rewards", ["fractional", "binarised"])
def test_posterior_means_converge_to_the_true_means(rewards):
    means = [0.15, 0.5, 0.85]
    environment = Environment(Problem(3, plays=2, floors=0.5), means, 0.9, Beta(4))
    policy = make_policy("tscsf-b", rewards=rewards)
    results = simulate(environment, {"it": policy}, horizon=20_000, replications=10, seed=5)
    # 100,000 rewards an arm, each with a deviation of at most 0.5: five errors are 0.008.
    assert list(results.mean_estimates("it").values()) == pytest.approx(means, abs=0.008)


@pytest.mark.parametrize("policy", ["tscsf-b", "lfg", "cl-sg", "oracle", "floor-first"])
def test_feasible_floors_are_kept_in_the_long_run(setting_1, policy):
    results = simulate(setting_1, [policy], horizon=50_000, replications=4, seed=2)
    assert max(results.shortfall(policy).values()) < 0.001


def test_uniform_plays_every_arm_equally_often():
    environment = Environment(Problem(4, plays=1), 0.5, 0.5)
    rates = simulate(environment, ["uniform"], horizon=100_000, seed=1).rates("uniform")
    # Awake at all: 15/16, shared by four. Five standard deviations are 0.007.
    assert list(rates.values()) == pytest.approx([15 / 64] * 4, abs=0.007)


def test_learning_finds_the_best_arms(setting_1):
    """Without floors the best is to play by descending mean: 1.0484 (Opt-NF of setting 1)."""
    for name in ("thompson", "ucb"):
        results = simulate(setting_1, [name], horizon=50_000, replications=20, seed=3)
        assert results.reward(name).mean == pytest.approx(1.0484, abs=0.004)


def test_delay_costs_reward_but_not_floors(setting_1):
    policy = make_policy("tscsf-b", eta=1)
    late = simulate(setting_1, {"it": policy}, horizon=20_000, replications=4, delay=500)
    assert max(late.shortfall("it").values()) < 0.001


def test_a_geometric_delay_has_its_mean():
    rng, wait = np.random.default_rng(1), as_wait(Geometric(4.0))
    waits = np.array([draw_wait(wait, rng) for _ in range(20_000)])
    # Standard deviation sqrt(4 * 5) = 4.5: five errors of the mean are 0.16.
    assert waits.mean() == pytest.approx(4.0, abs=0.16)
    assert (waits == 0).mean() == pytest.approx(0.2, abs=0.015)
    assert waits.min() == 0


def test_weights_scale_rewards():
    problem = Problem(2, plays=1, weights=[10.0, 1.0])
    environment = Environment(problem, [0.3, 0.9])
    results = simulate(environment, ["thompson"], horizon=5_000, replications=2)
    assert results.reward("thompson").mean == pytest.approx(3.0, abs=0.05)
