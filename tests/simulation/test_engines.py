"""The compiled engine does bit for bit what the readable one specifies."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from evenhand import Beta, Environment, Geometric, Joint, Problem, Recorded, Trace, make_policy
from evenhand.policies import Policy
from evenhand.policies.registry import BUILT_IN
from evenhand.simulation._engine import run_reference
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, new_control, streams

FORMS = {"debt": ("cumulative", "reflected"), "rewards": ("fractional", "binarised")}
ROUNDS = 120


def variants():
    """Every registered policy with every form of debt and rewards that it knows."""
    for name in (policy.name for policy in BUILT_IN):
        forms = {k: v for k, v in FORMS.items() if k in make_policy(name).parameters()}
        for values in product(*forms.values()):
            yield make_policy(name, **dict(zip(forms, values, strict=True)))


def random_environment(arms, plays, availability, rewards=None):
    rng = np.random.default_rng(arms)
    mean = availability if isinstance(availability, float) else 0.2
    floors = rng.uniform(0, 0.8, arms) * mean * min(1.0, plays / arms)
    names = tuple(str(1 + i) for i in range(arms))
    problem = Problem.of_arms_left(names, plays, rng.uniform(0.5, 2, arms), floors)
    return Environment(problem, rng.uniform(size=arms), availability, rewards or Beta(8))


def assert_same_bits(run, seed=3):
    one, two = streams(seed, 0), streams(seed, 0)
    compiled = run_compiled(run, one, new_control())
    reference = run_reference(run, two, new_control())
    assert np.array_equal(compiled.expected, reference.expected)
    assert np.array_equal(compiled.realised, reference.realised)
    for name, array in reference.state._asdict().items():
        assert np.array_equal(getattr(compiled.state, name), array), name
    floors = run.environment.problem.floors
    for mine, theirs in zip(compiled.moments(floors), reference.moments(floors), strict=True):
        assert np.array_equal(mine, theirs)
    for mine, theirs in zip(one, two, strict=True):
        assert mine.bit_generator.state == theirs.bit_generator.state
    return reference


def every_round(rounds=ROUNDS):
    kept = np.arange(1, rounds + 1)
    kept.flags.writeable = False
    return kept


@pytest.mark.parametrize("policy", list(variants()), ids=lambda policy: policy.label())
@pytest.mark.parametrize("delay", [0, 4, Geometric(3.0)], ids=["now", "fixed", "geometric"])
@pytest.mark.parametrize("arms", [1, 3, 40])
def test_every_policy_gives_the_same_bits(policy, delay, arms):
    plays = {1: 1, 3: 2, 40: 7}[arms]
    environment = random_environment(arms, plays, 0.8)
    record = assert_same_bits(Run(environment, policy, ROUNDS, every_round(), delay))
    assert record.state.rounds[0] == ROUNDS
    assert record.state.played.sum() > 0


@pytest.mark.parametrize("policy", list(variants()), ids=lambda policy: policy.label())
@pytest.mark.parametrize(
    ("availability", "plays"),
    [(0.0, 2), (1.0, 2), (0.1, 4), (1.0, 9)],
    ids=["none awake", "all awake", "fewer awake than plays", "more plays than arms"],
)
def test_the_same_bits_at_the_edges(policy, availability, plays):
    environment = random_environment(5, plays, availability)
    record = assert_same_bits(Run(environment, policy, ROUNDS, every_round()))
    if availability == 0.0:
        assert record.state.played.sum() == 0
        assert record.expected[-1] == 0.0


@pytest.mark.parametrize(
    "availability",
    [Joint([[1, 1, 0], [0, 1, 1], [0, 0, 0]], [0.5, 0.3, 0.2]), Trace(np.eye(3)[[0, 1, 2] * 40])],
    ids=["joint", "trace"],
)
def test_the_same_bits_for_every_kind_of_availability(availability):
    environment = random_environment(3, 1, availability)
    assert_same_bits(Run(environment, make_policy("tscsf-b"), ROUNDS, every_round()))


def test_the_same_bits_for_bernoulli_and_for_recorded_rewards(setting_1):
    assert_same_bits(Run(setting_1, make_policy("tscsf-b"), ROUNDS, every_round()))
    rng = np.random.default_rng(0)
    trace, record = rng.random((ROUNDS, 4)) < 0.7, rng.random((ROUNDS, 4))
    recorded = Environment(
        Problem(4, plays=2, floors=0.3), availability=Trace(trace), rewards=Recorded(record)
    )
    assert_same_bits(Run(recorded, make_policy("lfg"), ROUNDS, every_round(), 2))


@pytest.mark.parametrize("mean", [1e-6, 0.03, 0.5, 0.999])
def test_the_same_bits_for_the_smallest_concentration(mean):
    environment = Environment(Problem(2, plays=1), mean, rewards=Beta(0.1))
    assert_same_bits(Run(environment, make_policy("thompson"), 3_000, every_round(3_000)))


@pytest.mark.parametrize("policy", list(variants()), ids=lambda policy: policy.label())
def test_no_policy_plays_a_sleeping_arm_or_more_than_plays(policy):
    """With a trace, what was played is bounded by what was awake, round by round."""
    rng = np.random.default_rng(5)
    trace = rng.random((60, 6)) < rng.uniform(0.1, 0.9, 6)
    weights = 10.0 ** -np.arange(6)
    problem = Problem(6, plays=2, floors=0.3 * trace.mean(axis=0), weights=weights)
    environment = Environment(problem, 1.0, Trace(trace))
    record = run_compiled(
        Run(environment, policy, 60, every_round(60)), streams(1, 0), new_control()
    )
    steps = np.diff(record.expected, prepend=0.0)
    for step, awake in zip(steps, trace, strict=True):
        # With weights 1, .1, .01, ... the digits of a round's reward name the arms played.
        played = np.array([round(step * 10**i) % 10 for i in range(6)], dtype=bool)
        assert not (played & ~awake).any()
        assert played.sum() == min(2, awake.sum())
    assert (record.state.played <= trace.sum(axis=0)).all()


def test_thompson_is_tscsf_b_without_debts_and_ucb_is_lfg(setting_1):
    def totals(name, **parameters):
        policy = make_policy(name, **parameters)
        run = Run(setting_1, policy, 500, every_round(500))
        return run_compiled(run, streams(2, 0), new_control()).expected

    assert np.array_equal(totals("thompson"), totals("tscsf-b", eta=float("inf")))
    assert np.array_equal(totals("ucb"), totals("lfg", eta=float("inf")))
    assert not np.array_equal(totals("thompson"), totals("tscsf-b", eta=1))


def test_feedback_that_comes_after_the_end_is_never_learned(setting_1):
    run = Run(setting_1, make_policy("tscsf-b"), 50, every_round(50), delay=1_000)
    assert assert_same_bits(run).state.feedbacks.sum() == 0


def test_a_policy_of_ones_own_is_compiled_like_any_other(setting_1):
    run = Run(setting_1, Contrary(), ROUNDS, every_round())
    assert assert_same_bits(run).state.played[2] < 60


def favour(mean):
    return WISH - mean


def contrary_score(scores, view, constants, memory, rng):
    for j in range(view.awake.size):
        i = view.awake[j]
        mean = (1.0 + view.state.reward_sums[i]) / (2.0 + view.state.feedbacks[i])
        scores[j] = favour(mean)


WISH = 1.0


class Contrary(Policy):
    name = "contrary"
    score = staticmethod(contrary_score)


def test_a_fixed_delay_holds_back_exactly_the_last_rounds(setting_1):
    state = assert_same_bits(Run(setting_1, make_policy("uniform"), 50, every_round(50), 7)).state
    done = assert_same_bits(Run(setting_1, make_policy("uniform"), 43, every_round(43))).state
    assert state.feedbacks.tolist() == done.played.tolist()
