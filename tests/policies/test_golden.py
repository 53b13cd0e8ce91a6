"""Trajectories and scores worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand import make_policy
from evenhand.core.choosing import choose
from evenhand.core.round import advance, draw_samples, learn
from evenhand.core.schema import new
from evenhand.core.state import DecisionView, State
from evenhand.optimum import Awake
from evenhand.optimum.mixture import Block, as_mixture
from evenhand.policies import PolicySetup
from evenhand.problem import Problem

NOWHERE = np.ones(1)
PROBLEM = Problem(2, plays=1, weights=[1.0, 0.5], floors=[0.4, 0.3])
SECRETS = np.array([0.9, 0.2]), Awake(np.ones(2))


class Script:
    """Random numbers in a known order; remembers which posteriors were asked for."""

    def __init__(self, samples=()):
        self.samples = list(samples)
        self.posteriors = []

    def beta(self, alpha, beta):
        self.posteriors.append((alpha, beta))
        return self.samples.pop(0)

    def standard_normal(self):
        return self.samples.pop(0)

    def random(self):
        return self.samples.pop(0)


def score_awake(policy, scores, awake, state, problem, constants, memory, script):
    """Draw samples if the policy wants them, and score."""
    samples = np.empty(awake.size)
    draw_samples(samples, awake, state, None, policy.options, script)
    view = DecisionView(awake, samples, state, problem)
    policy.score(scores, view, constants, memory, script)


def trajectory(policy, rounds, rewards, script=None, problem=PROBLEM):
    """Play with everybody awake; return the chosen arm and the debts after each round."""
    arms = len(problem.arms)
    state, arrays, memory = new(State, arms), problem.arrays, policy.new_memory(arms)
    constants = policy.constants(PolicySetup(problem, None, *SECRETS))
    steps = []
    for t in range(rounds):
        awake, chosen, scores = np.arange(arms), np.empty(arms, dtype=np.int64), np.empty(arms)
        score_awake(policy, scores, awake, state, arrays, constants, memory, script)
        count = choose(chosen, awake, scores, np.empty(arms), arrays.plays, script)
        advance(state, arrays, awake, chosen[:count], policy.options)
        for i in chosen[:count]:
            learn(state, i, rewards[t][i], t + 1, policy.options, None, NOWHERE, None, script)
        steps.append((chosen[:count].tolist(), [max(round(debt, 9), 0.0) for debt in state.debts]))
    return steps


# With eta = 0.1 a score is 10 Q_i + w_i estimate_i. The estimates are all 1 here: the confidence
# bounds are truncated (min(1, ...)) in the first five rounds, and the samples are scripted.
CUMULATIVE = [
    ([0], [0.0, 0.3]),  # 1 > 0.5;              0.4 - 1 -> 0,  0.3
    ([1], [0.0, 0.0]),  # 1 < 3 + 0.5;          0.8 - 1 -> 0,  0.6 - 1 -> 0
    ([0], [0.0, 0.0]),  # 1 > 0.5;              1.2 - 2 -> 0,  0.9 - 1 -> 0
    ([0], [0.0, 0.2]),  # 1 > 0.5;              1.6 - 3 -> 0,  1.2 - 1
    ([1], [0.0, 0.0]),  # 1 < 2 + 0.5;          2.0 - 3 -> 0,  1.5 - 2 -> 0
]
REFLECTED = [
    ([0], [0.0, 0.3]),  # 1 > 0.5;              0 + 0.4 - 1 -> 0,    0 + 0.3
    ([1], [0.4, 0.0]),  # 1 < 3 + 0.5;          0 + 0.4,             0.3 + 0.3 - 1 -> 0
    ([0], [0.0, 0.3]),  # 4 + 1 > 0.5;          0.4 + 0.4 - 1 -> 0,  0 + 0.3
    ([1], [0.4, 0.0]),  # 1 < 3 + 0.5;          0 + 0.4,             0.3 + 0.3 - 1 -> 0
    ([0], [0.0, 0.3]),  # 4 + 1 > 0.5;          0.4 + 0.4 - 1 -> 0,  0 + 0.3
]


@pytest.mark.parametrize(
    ("debt", "expected"), [("cumulative", CUMULATIVE), ("reflected", REFLECTED)]
)
def test_lfg_plays_the_hand_worked_rounds(debt, expected):
    policy = make_policy("lfg", eta=0.1, debt=debt)
    assert trajectory(policy, 5, [[1.0, 0.0]] * 5) == expected


@pytest.mark.parametrize(
    ("debt", "expected"), [("cumulative", CUMULATIVE), ("reflected", REFLECTED)]
)
def test_tscsf_b_plays_the_hand_worked_rounds(debt, expected):
    policy, script = make_policy("tscsf-b", eta=0.1, debt=debt), Script([1.0] * 10)
    assert trajectory(policy, 5, [[1.0, 0.0]] * 5, script) == expected


def test_tscsf_b_follows_its_samples_and_updates_its_posteriors():
    """Eta infinite: the larger w theta wins; Eq. (4) moves alpha by X and beta by 1 - X."""
    # w theta: (0.2, 0.25) -> arm 1; (0.5, 0.45) -> arm 0; (0.1, 0.4) -> arm 1.
    script = Script([0.2, 0.5, 0.5, 0.9, 0.1, 0.8])
    policy = make_policy("tscsf-b", eta=math.inf)
    steps = trajectory(policy, 3, [[0.0, 1.0], [0.25, 0.0], [0.0, 0.0]], script)
    assert [chosen for chosen, _ in steps] == [[1], [0], [1]]
    assert script.posteriors == [(1, 1), (1, 1), (1, 1), (2, 1), (1.25, 1.75), (2, 1)]


def scores_of(policy, state, script=None):
    scores = np.empty(2)
    constants = policy.constants(PolicySetup(PROBLEM, None, *SECRETS))
    memory = policy.new_memory(2)
    score_awake(policy, scores, np.arange(2), state, PROBLEM.arrays, constants, memory, script)
    return scores.tolist()


def seasoned():
    """After 999 rounds: 100 rewards adding up to 40, and none."""
    state = new(State, 2)
    state.rounds[0] = 999
    state.feedbacks[:] = [100, 0]
    state.reward_sums[:] = [40.0, 0.0]
    state.debts[:] = [2.0, 5.0]
    return state


def test_lfg_adds_the_confidence_radius_and_trusts_the_unknown_fully():
    radius = math.sqrt(3 * math.log(1_000) / (2 * 100))
    wanted = [2.0 / 10 + 1.0 * (0.4 + radius), 5.0 / 10 + 0.5 * 1.0]
    assert scores_of(make_policy("lfg", eta=10), seasoned()) == pytest.approx(wanted, abs=1e-12)


def test_lfg_trusts_one_reward_in_the_very_first_round():
    """At t = 1 the radius is 0, so what was seen once counts as it is."""
    state = new(State, 2)
    state.feedbacks[:], state.reward_sums[:] = [1, 0], [0.3, 0.0]
    assert scores_of(make_policy("lfg", eta=10), state) == pytest.approx([0.3, 0.5])


def test_lfg_never_hopes_for_more_than_one():
    state = seasoned()
    state.feedbacks[0], state.reward_sums[0] = 1, 1.0
    assert scores_of(make_policy("lfg", eta=10), state) == pytest.approx([0.2 + 1.0, 0.5 + 0.5])


def test_uniform_scores_a_random_number_for_everybody():
    scores = np.full(2, np.nan)
    policy = make_policy("uniform")
    view = DecisionView(np.arange(2), None, new(State, 2), PROBLEM.arrays)
    policy.score(scores, view, None, None, Script([0.25, 0.75]))
    assert scores.tolist() == [0.25, 0.75]


def test_cl_sg_moves_all_estimates_by_one_seed():
    spread = math.sqrt(2.0 * math.log(1_000))
    wanted = [0.2 + (0.4 - 0.7 * spread / math.sqrt(101)), 0.5 + 0.5 * (0.0 - 0.7 * spread)]
    policy = make_policy("cl-sg", eta=10, gamma=2)
    assert scores_of(policy, seasoned(), Script([-0.7])) == pytest.approx(wanted, abs=1e-12)


def test_cl_sg_counts_a_single_reward():
    state = new(State, 2)
    state.feedbacks[:], state.reward_sums[:] = [1, 0], [0.3, 0.0]
    assert scores_of(make_policy("cl-sg"), state, Script([1.0])) == pytest.approx([0.3, 0.0])


def test_opt_f_prefers_what_is_worth_more():
    """No floors, everybody awake, one play: the larger w u comes first."""
    problem = Problem(2, plays=1, weights=[1.0, 3.0])
    policy, scores = make_policy("opt-f"), np.empty(2)
    mixture = policy.constants(PolicySetup(problem, None, *SECRETS))
    view = DecisionView(np.arange(2), None, new(State, 2), problem.arrays)
    policy.score(scores, view, mixture, None, None)
    assert scores[0] > scores[1]


def test_the_oracle_uses_the_true_means():
    assert scores_of(make_policy("oracle", eta=10), seasoned()) == pytest.approx([1.1, 0.6])


def test_floor_first_looks_at_estimates_only_among_equal_debts():
    policy, state = make_policy("floor-first"), seasoned()
    assert scores_of(policy, state, Script([1.0, 0.1])) == [0.0, 1.0]
    state.debts[:] = 5e15
    assert scores_of(policy, state, Script([0.9, 0.1])) == [1.0, 0.0]
    state.debts[:] = 0.0
    script = Script([0.25, 0.5])
    assert scores_of(policy, state, script) == [0.0, 0.0]
    assert script.posteriors == [(41.0, 61.0), (1.0, 1.0)]


def test_opt_f_draws_one_order_in_each_block_that_has_several():
    """Arms 0 and 1 change places in a quarter of the rounds, arm 2 comes after them."""
    mixture = as_mixture(
        [
            Block(np.array([0, 1]), np.array([[0, 1], [1, 0]]), np.array([0.75, 0.25])),
            Block(np.array([2]), np.array([[0]]), np.array([1.0])),
        ]
    )
    policy, scores = make_policy("opt-f"), np.empty(3)
    for draw, wanted in ((0.0, [0, -1, -2]), (0.74, [0, -1, -2]), (0.75, [-1, 0, -2])):
        script = Script([draw])
        view = DecisionView(np.arange(3), None, new(State, 3), PROBLEM.arrays)
        policy.score(scores, view, mixture, None, script)
        assert scores.tolist() == wanted
        assert not script.samples


def test_opt_f_knows_its_order_when_only_some_are_awake():
    blocks = [Block(np.array([i]), np.array([[0]]), np.array([1.0])) for i in (2, 0, 1)]
    policy, scores = make_policy("opt-f"), np.empty(2)
    view = DecisionView(np.array([1, 2]), None, new(State, 3), PROBLEM.arrays)
    policy.score(scores, view, as_mixture(blocks), None, None)
    assert scores.tolist() == [-2, 0]
