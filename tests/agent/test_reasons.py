"""Why: what was known, drawn and owed, and with what chance an arm was to be chosen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evenhand import Agent, FeedbackError, Problem, make_policy
from evenhand.core.schema import new
from evenhand.core.state import DecisionView, State
from evenhand.policies.policy import PolicySetup
from tests.agent.test_agent import SERVING, play, three_arms

REPLAYS = 200_000


def random_moment(policy, rng):
    """Return a state that many things may have led to, with some of its arms awake."""
    arms = int(rng.integers(2, 12))
    plays = int(rng.integers(1, arms))
    problem = Problem(
        arms,
        plays,
        weights=np.where(rng.random(arms) < 0.1, 0.0, rng.uniform(0.2, 2.0, arms)),
        floors=rng.uniform(0, plays / arms, arms),
    )
    state = new(State, arms)
    state.rounds[0] = rounds = int(rng.integers(1, 5_000))
    state.awake_counts[:] = rng.integers(rounds // 2, rounds + 1, arms)
    state.played[:] = rng.integers(0, rounds + 1, arms)
    state.feedbacks[:] = np.minimum(state.played, rng.integers(0, 10 ** rng.integers(1, 4), arms))
    state.reward_sums[:] = state.feedbacks * rng.random(arms)
    state.debts[:] = np.round(rng.exponential(2.0, arms) * (rng.random(arms) < 0.6))
    awake = np.sort(rng.choice(arms, size=int(rng.integers(plays + 1, arms + 1)), replace=False))
    constants = policy.constants(PolicySetup(problem))
    view = DecisionView(awake, np.empty(0), state, problem.arrays)
    return view, constants, policy.new_memory(arms)


def replayed(policy, moment, rng):
    """Return how often each awake arm is among the best, of many draws of all samples.

    The scoring function is the policy's own: given a row of draws in place of each sample, it
    scores all of them at once.
    """
    view, constants, memory = moment
    awake, state, problem = view.awake, view.state, view.problem
    alphas = 1.0 + state.reward_sums[awake]
    betas = 1.0 + state.feedbacks[awake] - state.reward_sums[awake]
    samples = rng.beta(alphas[:, None], betas[:, None], (awake.size, REPLAYS))
    scores = np.zeros(samples.shape)
    if policy.name == "floor-first":
        scores = problem.weights[awake, None] * samples + 1e6 * state.debts[awake, None]
    else:
        policy.score(scores, view._replace(samples=samples), constants, memory, rng)
    scores += 1e-12 * rng.random(scores.shape)
    last = np.sort(scores, axis=0)[-problem.plays]
    return (scores >= last).mean(axis=1)


@pytest.mark.parametrize("name", ["priced", "tscsf-b", "thompson", "floor-first"])
def test_probabilities_are_those_of_many_replays(name):
    """To three standard errors, but for what chance explains of some 70 arms; never to five."""
    policy, rng, far = make_policy(name), np.random.default_rng(11), []
    for _ in range(12):
        moment = random_moment(policy, rng)
        found, wanted = policy.probabilities(*moment), replayed(policy, moment, rng)
        errors = np.sqrt(np.maximum(wanted * (1 - wanted), 1 / REPLAYS) / REPLAYS)
        far.extend(np.abs(found - wanted) / errors)
        assert found.sum() == pytest.approx(moment[0].problem.plays, abs=1e-3)
    assert np.mean(np.array(far) > 3.0) <= 0.02
    assert max(far) < 5.0


def test_two_arms_by_hand():
    """P(theta_1 > theta_2) of Beta(2, 1) against Beta(1, 1) is the mean of Beta(2, 1), 2/3."""
    agent = Agent(Problem(["a", "b"], plays=1), "thompson", seed=1)
    agent.tell(agent.ask(["a"]).id, {"a": 1.0})
    first, second = agent.ask(explain=True).reasons
    assert first.probability == pytest.approx(2 / 3, abs=1e-4)
    assert second.probability == pytest.approx(1 / 3, abs=1e-4)


def test_exploration_is_part_of_the_probability():
    agent = Agent(Problem(4, plays=1), make_policy("thompson", exploration=0.2), seed=1)
    for _ in range(2_000):
        decision = agent.ask()
        agent.tell(decision.id, {arm: float(arm == "2") for arm in decision.chosen})
    chances = {reason.arm: reason.probability for reason in agent.ask(explain=True).reasons}
    assert chances["2"] == pytest.approx(0.8 + 0.05, abs=0.01)
    assert chances["1"] == pytest.approx(0.05, abs=0.01)


def test_an_explored_choice_has_neither_samples_nor_scores():
    agent = Agent(Problem(4, plays=2), make_policy("tscsf-b", exploration=1), seed=1)
    chosen = np.zeros(4)
    for _ in range(2_000):
        chosen[[int(arm) - 1 for arm in agent.ask().chosen]] += 1
    # Four standard deviations of 2,000 choices with chance 1/2.
    assert np.abs(chosen - 1_000).max() < 4 * math.sqrt(500)
    for reason in agent.ask(explain=True).reasons:
        assert (reason.sample, reason.score, reason.rank) == (None, None, None)
        assert reason.probability == 0.5


@pytest.mark.parametrize("name", SERVING)
def test_reasons_say_what_was_known_before_and_what_was_drawn(name):
    agent = three_arms(policy=name)
    play(agent, 60)
    agent.ask([])
    means, debts = agent.posterior_means(), agent.debts()
    decision = agent.ask(explain=True)
    assert [reason.arm for reason in decision.reasons] == ["a", "b", "c"]
    assert tuple(reason.arm for reason in decision.reasons if reason.chosen) == decision.chosen
    by_rank = sorted(decision.reasons, key=lambda reason: reason.rank)
    assert [reason.rank for reason in by_rank] == [1, 2, 3]
    assert [reason.chosen for reason in by_rank] == [True, True, False]
    assert [reason.score for reason in by_rank] == sorted(
        (reason.score for reason in by_rank), reverse=True
    )
    for reason in decision.reasons:
        assert (reason.estimate, reason.debt) == (means[reason.arm], debts[reason.arm])
        assert reason.low < reason.estimate < reason.high
        assert (reason.price is None) == (name != "priced")
        assert 0.0 <= reason.probability <= 1.0
    assert sum(reason.probability for reason in decision.reasons) == pytest.approx(2, abs=1e-3)
    assert agent.explain(decision.id) == decision.reasons
    assert Agent.restore(agent.snapshot()).explain(decision.id) == decision.reasons


def test_the_interval_is_the_middle_95_percent_of_the_posterior():
    agent = three_arms()
    agent.tell(agent.ask(["a"]).id, {"a": 0.25})
    reason = agent.ask(["a", "b", "c"], explain=True).reasons[0]
    assert (reason.low, reason.high) == pytest.approx(stats.beta(1.25, 1.75).interval(0.95))


@pytest.mark.parametrize("name", SERVING)
def test_to_explain_changes_no_decision(name):
    policy = make_policy(name, exploration=0.3)
    explained, silent = three_arms(policy=policy), three_arms(policy=policy)
    for _ in range(40):
        assert explained.ask(explain=True).chosen == silent.ask().chosen
    for field, array in explained._learner.state._asdict().items():
        assert np.array_equal(array, getattr(silent._learner.state, field)), field


@pytest.mark.parametrize("name", ["ucb", "lfg"])
def test_a_policy_without_chance_chooses_for_sure_but_for_ties(name):
    agent = three_arms(policy=name)
    assert [reason.probability for reason in agent.ask(explain=True).reasons] == [2 / 3] * 3
    play(agent, 50)
    decision = agent.ask(explain=True)
    assert [reason.probability for reason in decision.reasons] == [
        float(reason.chosen) for reason in decision.reasons
    ]


def test_where_all_can_be_played_all_are_for_sure():
    decision = three_arms().ask(["a", "c"], explain=True)
    assert [(reason.probability, reason.sample) for reason in decision.reasons] == [(1.0, None)] * 2


def test_one_seed_for_all_arms_has_chances_too():
    """Arm a: 0.9 without spread to speak of; arm b moves by z: it wins if z is above 0.9 / s."""
    policy = make_policy("cl-sg", eta=math.inf)
    agent = Agent(Problem(["a", "b"], plays=1), policy, seed=1)
    (
        agent._learner.state.rounds[0],
        agent._learner.state.feedbacks[0],
        agent._learner.state.reward_sums[0],
    ) = 99, 1e12, 9e11
    chance = 1 - stats.norm.cdf(0.9 / math.sqrt(math.log(100)))
    assert agent.ask(explain=True).reasons[1].probability == pytest.approx(chance, abs=1e-4)


def test_what_cannot_be_explained():
    agent = three_arms(log_size=2)
    silent = agent.ask().id
    with pytest.raises(FeedbackError, match="must have been asked for with explain=True, got 1"):
        agent.explain(silent)
    told = agent.ask(explain=True)
    agent.ask()
    assert agent.explain(told.id) == told.reasons
    agent.ask()
    with pytest.raises(FeedbackError, match="got 2: only the latest 2 are remembered"):
        agent.explain(told.id)
    with pytest.raises(FeedbackError, match="got 77: it was never made"):
        agent.explain(77)


def test_nobody_awake_needs_no_reasons():
    agent = three_arms()
    assert agent.ask([], explain=True).reasons == ()
    assert agent.explain(1) == ()
    agent.ask([])
    with pytest.raises(FeedbackError, match="must have been asked for with explain=True, got 2"):
        agent.explain(2)


@pytest.mark.parametrize("half_life", [None, 30.0])
def test_probabilities_are_those_of_real_decisions(half_life):
    """Ask and take back, many times over: the state stays, the random numbers go on."""
    policy = make_policy("priced", half_life=half_life, exploration=0.1)
    agent = three_arms(policy=policy)
    play(agent, 80)
    wanted = {reason.arm: reason.probability for reason in agent.ask(explain=True).reasons}
    agent.cancel(81)
    counts, asks = dict.fromkeys("abc", 0), 4_000
    for _ in range(asks):
        decision = agent.ask()
        agent.cancel(decision.id)
        for arm in decision.chosen:
            counts[arm] += 1
    for arm, chance in wanted.items():
        spread = math.sqrt(max(chance * (1 - chance), 1e-4) / asks)
        assert abs(counts[arm] / asks - chance) < 4 * spread, arm


def test_who_was_chosen_of_those_that_tied_ranks_first():
    reasons = three_arms(policy="ucb").ask(explain=True).reasons
    assert {reason.rank for reason in reasons if reason.chosen} == {1, 2}


def test_ties_far_from_nothing_are_shared_like_any_other():
    problem = Problem(3, plays=1, floors=[0.5, 0.5, 0.0], weights=[0.0, 0.0, 1e6])
    agent = Agent(problem, "priced", seed=1)
    for _ in range(20):
        agent.ask([2])
    found = [reason.probability for reason in agent.ask(explain=True).reasons]
    assert found == pytest.approx([0.5, 0.5, 0.0])


@pytest.mark.parametrize("weight", [1.0, 1e4, 1e6, 1e9])
@pytest.mark.parametrize(("arms", "plays"), [(3, 1), (3, 2), (4, 3)])
def test_debts_above_large_weights_are_shared_like_any_other(arms, plays, weight):
    floors, weights = [0.5] * arms + [0.0], [1.0] * arms + [weight]
    problem = Problem(arms + 1, plays, weights, floors, allow_impossible=True)
    agent = Agent(problem, "fair-learn", seed=1)
    agent.ask([arms])
    found = [reason.probability for reason in agent.ask(explain=True).reasons]
    assert found == pytest.approx([plays / arms] * arms + [0.0], abs=1e-6)
