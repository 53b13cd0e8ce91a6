"""Environments: rewards with the stated means, records replayed, checked at the door."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from evenhand import Bernoulli, Beta, Environment, InputError, Joint, Problem, Recorded, Trace
from evenhand.core.nature import draw_rewards

MEANS = [0.0, 0.3, 0.8, 1.0]


def drawn(environment, rounds, seed=1):
    rng, rewards = np.random.default_rng(seed), np.empty(len(environment.problem.arms))
    rows = []
    for now in range(rounds):
        draw_rewards(rewards, environment.payoffs, now, rng)
        rows.append(rewards.copy())
    return np.array(rows)


def test_bernoulli_rewards_are_1_exactly_when_their_uniform_number_is_below_the_mean():
    environment = Environment(Problem(4, plays=1), MEANS, rewards=Bernoulli())
    uniform = np.random.default_rng(1).random((100, 4))
    assert np.array_equal(drawn(environment, 100), (uniform < MEANS).astype(float))


def test_beta_rewards_are_numpys_own_beta_draws():
    environment = Environment(Problem(2, plays=1), [0.3, 0.8], rewards=Beta(20))
    expected = np.random.default_rng(1).beta([6.0, 16.0], [14.0, 20.0 - 20 * 0.8], size=(50, 2))
    assert np.array_equal(drawn(environment, 50), expected)


def test_beta_rewards_have_the_given_means_also_at_the_ends():
    rewards = drawn(Environment(Problem(4, plays=1), MEANS, rewards=Beta(5)), 20_000)
    assert rewards[:, 0].max() == 0.0
    assert rewards[:, 3].min() == 1.0
    # The standard deviation is at most sqrt(.21 / 6) = 0.19: five errors of the mean are 0.0067.
    assert rewards.mean(axis=0) == pytest.approx(MEANS, abs=0.0067)


def test_recorded_rewards_are_replayed_and_their_means_counted_while_awake():
    trace = Trace([[1, 1], [1, 0], [0, 0]])
    record = Recorded([[0.2, 1.0], [0.6, np.nan], [9.0, np.nan]])
    environment = Environment(Problem(["a", "b"], plays=1), availability=trace, rewards=record)
    assert environment.means == pytest.approx([0.4, 1.0])
    assert drawn(environment, 3).tolist() == [[0.2, 1.0], [0.6, 0.0], [0.0, 0.0]]
    assert environment.longest_horizon == 3


def test_values_are_weights_times_means():
    environment = Environment(Problem(2, plays=1, weights=[2, 3]), [0.5, 0.1])
    assert environment.payoffs.values.tolist() == pytest.approx([1.0, 0.3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"means": [0.1, 1.2]}, r"mean of arm 'b' must be .* got 1.2"),
        ({"means": [0.1, float("nan")]}, r"mean of arm 'b' must be .* got nan"),
        ({"means": None}, r"means must be given"),
        ({"means": 0.5, "availability": [0.1, 2]}, r"availability of arm 'b' must be .* got 2"),
        ({"rewards": Recorded([[1, 1]])}, r"availability must be a Trace"),
        (
            {"rewards": Recorded([[1, 1]]), "availability": Trace([[1, 1], [1, 1]])},
            r"recorded rewards must be of the trace's shape \(2, 2\), got \(1, 2\)",
        ),
        (
            {"rewards": Recorded([[1, 1.5]]), "availability": Trace([[1, 1]])},
            r"recorded reward of arm 'b' in round 1 must be .* got 1.5",
        ),
        (
            {"rewards": Recorded([[1, np.nan]]), "availability": Trace([[1, 1]])},
            r"recorded reward of arm 'b' in round 1 must be .* got nan",
        ),
        (
            {"rewards": Recorded([[1, 1]]), "availability": Trace([[1, 1]]), "means": 0.5},
            r"means must be left out",
        ),
        ({"rewards": Recorded("x"), "availability": Trace([[1, 1]])}, r"a table of numbers"),
    ],
)
def test_bad_environments_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Environment(Problem(["a", "b"], plays=1), **arguments)


def test_a_concentration_must_not_be_tiny():
    with pytest.raises(InputError, match=r"concentration must be a number of at least 0.1, got 0"):
        Beta(0)


@pytest.mark.parametrize("rewards", ["beta", Beta])
def test_rewards_must_be_one_of_the_kinds(rewards):
    with pytest.raises(InputError, match="rewards must be Bernoulli"):
        Environment(Problem(2, plays=1), 0.5, rewards=rewards)


@pytest.mark.parametrize(
    "nature",
    [
        {"means": [0.2, 0.7], "availability": [0.5, 0.9]},
        {"means": [0.2, 0.7], "availability": Joint([["a"], ["a", "b"]], [0.25, 0.75])},
        {"rewards": Recorded([[1, 0.5], [0.2, 0]]), "availability": Trace([[1, 1], [1, 0]])},
        {"means": [0.2, 0.7], "rewards": Beta(20)},
    ],
)
def test_a_pickled_environment_comes_back_whole_and_read_only(nature):
    before = Environment(Problem(["a", "b"], plays=1, weights=2.0, floors=[0.1, 0.2]), **nature)
    after = pickle.loads(pickle.dumps(before))
    assert after.problem == before.problem
    for one, two in zip(arrays(before), arrays(after), strict=True):
        np.testing.assert_array_equal(one, two)
        assert not two.flags.writeable


def arrays(environment):
    payoffs = environment.payoffs
    recorded = payoffs.means, payoffs.values, payoffs.recorded
    return [*environment.awake, *recorded, *environment.problem.arrays[1:]]
