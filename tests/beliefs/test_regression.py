"""Regressions against closed forms, and against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand.beliefs.registry import BELIEFS
from evenhand.beliefs.regression import location, refresh, spread
from evenhand.core.jit import compiled
from evenhand.core.round import StepOptions
from evenhand.core.schema import new
from evenhand.core.state import State

FEATURES = 6
OPTIONS = StepOptions(ridge=0.7)


def started(name, arms=1, options=OPTIONS):
    known = BELIEFS[name]
    belief = known.start(arms, FEATURES)
    known.refresh_all(belief, options, 1.0)
    return known, belief


def contexts(count, seed=3):
    rng = np.random.default_rng(seed)
    found = rng.uniform(-1.0, 1.0, (count, FEATURES))
    found[:, 0] = 1.0
    return found, rng


def fed(known, belief, rows, rewards, options=OPTIONS, epochs=None):
    learn, state = compiled(known.learn), new(State, 1)
    for context, reward in zip(rows, rewards, strict=True):
        learn(belief, state, context, 0, reward, 1.0, options)


def test_a_hundred_thousand_updates_give_the_solution_of_the_normal_equations():
    known, belief = started("linear")
    rows, rng = contexts(100_000)
    rewards = rng.random(100_000)
    fed(known, belief, rows, rewards)
    matrix = OPTIONS.ridge * np.eye(FEATURES) + rows.T @ rows
    exact = np.linalg.solve(matrix, rows.T @ rewards)
    assert np.abs(belief.means[0] - exact).max() < 1e-9
    context = rows[7]
    wanted = math.sqrt(context @ np.linalg.solve(matrix, context))
    assert spread(belief, 0, context) == pytest.approx(wanted, rel=1e-9)


def test_the_order_of_rewards_does_not_matter_to_linear_sums():
    rows, rng = contexts(500)
    rewards = rng.random(500)
    first, second = started("linear"), started("linear")
    fed(*first, rows, rewards)
    shuffled = rng.permutation(500)
    fed(*second, rows[shuffled], rewards[shuffled])
    assert np.abs(first[1].means - second[1].means).max() < 1e-12
    assert np.abs(first[1].factors - second[1].factors).max() < 1e-12


@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_an_updated_factor_is_the_one_computed_from_the_sums(name):
    known, belief = started(name)
    rows, rng = contexts(2_000)
    fed(known, belief, rows, (rng.random(2_000) < 0.3).astype(float))
    factors, means = belief.factors.copy(), belief.means.copy()
    refresh(belief, 0, OPTIONS, 1.0)
    assert np.abs(belief.factors - factors).max() < 1e-10
    assert np.abs(belief.means - means).max() < 1e-10


@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_interpreted_and_compiled_give_the_same_bits(name):
    plain, fast = started(name), started(name)
    rows, rng = contexts(200)
    rewards = (rng.random(200) < 0.6).astype(float)
    state = new(State, 1)
    for context, reward in zip(rows, rewards, strict=True):
        given = context, 0, reward, 1.0, OPTIONS
        plain[0].learn(plain[1], state, *given)
        compiled(fast[0].learn)(fast[1], state, *given)
    for one, other in zip(plain[1], fast[1], strict=True):
        assert one.tobytes() == other.tobytes()


def test_linear_agrees_with_bayesian_ridge_of_fixed_precisions():
    linear_model = pytest.importorskip("sklearn.linear_model")
    known, belief = started("linear")
    rows, rng = contexts(3_000)
    rewards = np.clip(0.5 + 0.2 * rows[:, 1] + 0.1 * rng.standard_normal(3_000), 0.0, 1.0)
    fed(known, belief, rows, rewards)
    model = linear_model.BayesianRidge(
        max_iter=1, alpha_init=1.0, lambda_init=OPTIONS.ridge, alpha_1=1e12, alpha_2=1e12,
        lambda_1=1e12, lambda_2=1e12 / OPTIONS.ridge, fit_intercept=False,
    ).fit(rows, rewards)  # fmt: skip
    assert np.abs(belief.means[0] - model.coef_).max() < 1e-6


def test_logistic_ends_up_near_a_fit_with_the_same_penalty():
    """One Newton step a reward: within a fifth of a standard deviation of the fit's estimate."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    known, belief = started("logistic")
    rows, rng = contexts(20_000)
    truth = np.array([-0.4, 1.0, -0.5, 0.0, 0.3, 0.8])
    rewards = (rng.random(20_000) < 1.0 / (1.0 + np.exp(-rows @ truth))).astype(float)
    fed(known, belief, rows, rewards)
    model = linear_model.LogisticRegression(
        C=1.0 / OPTIONS.ridge, fit_intercept=False, tol=1e-10, max_iter=1_000
    ).fit(rows, rewards)
    deviations = [spread(belief, 0, unit) for unit in np.eye(FEATURES)]
    assert np.abs((belief.means[0] - model.coef_[0]) / deviations).max() < 0.2
    assert np.abs(belief.means[0] - truth).max() < 0.1


@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_extreme_rewards_leave_finite_numbers(name):
    known, belief = started(name)
    rows, _ = contexts(5_000)
    fed(known, belief, rows, np.ones(5_000))
    assert all(np.isfinite(array).all() for array in belief)
    assert known.value(location(belief, 0, rows[0])) > 0.9


@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_a_prior_is_what_is_expected_before_the_first_reward(name):
    known, belief = started(name)
    known.add_prior(belief, 0, 0.3, 1e6)
    known.refresh_all(belief, OPTIONS, 1.0)
    unit = np.eye(FEATURES)[0]
    assert known.value(location(belief, 0, unit)) == pytest.approx(0.3, abs=1e-5)
    assert known.value(0.25) > 0.0


@pytest.mark.parametrize(("columns", "wanted"), [(1, 1.0), (3, 3.0), (6, 6.0)])
def test_dimensions_count_the_directions_in_which_contexts_vary(columns, wanted):
    """The other columns are always 1, as the intercept is: they add no direction."""
    known, belief = started("linear")
    rows, rng = contexts(20_000)
    rows[:, 1:] = np.where(rng.random((20_000, FEATURES - 1)) < 0.5, 1.0, -1.0)
    rows[:, columns:] = 1.0
    fed(known, belief, rows, rng.random(20_000))
    assert belief.dimensions[0] == pytest.approx(wanted, rel=0.2)
    updated = belief.dimensions.copy(), belief.log_determinants.copy()
    refresh(belief, 0, OPTIONS, 1.0)
    assert belief.dimensions == pytest.approx(updated[0], rel=1e-9)
    assert belief.log_determinants == pytest.approx(updated[1], rel=1e-9)


@pytest.mark.parametrize("mean", [0.05, 0.5])
def test_samples_are_as_wide_as_those_of_the_beta_posterior_on_average(mean):
    known, belief = started("linear")
    rows, rng = contexts(5_000)
    rewards = (rng.random(5_000) < mean).astype(float)
    fed(known, belief, rows, rewards)
    state = new(State, 1)
    state.feedbacks[0], state.reward_sums[0] = 5_000, rewards.sum()
    variances = []
    for context in rows[:500]:
        belief.context[:] = context
        samples = np.ones(1)
        arm = np.zeros(1, dtype=np.int64)
        known.given(samples, arm, state, belief, OPTIONS, None)
        variances.append((samples[0] - location(belief, 0, context)) ** 2)
    estimated = rewards.mean()
    assert np.mean(variances) == pytest.approx(estimated * (1.0 - estimated) / 5_000, rel=0.2)
