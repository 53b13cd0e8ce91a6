"""priced: floors kept on time, whatever the model gets wrong."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import (
    Agent,
    InputError,
    Problem,
    make_policy,
)
from evenhand.core.schema import new
from evenhand.core.state import State, cumulative_debts
from evenhand.policies import PolicySetup
from evenhand.policies.priced import PricedMemory, anytime_eta, refresh_prices
from tests.policies.test_golden import Script, score_awake

# The score


def unpriced(arms):
    """Prices of nothing that are not due in the first ten rounds."""
    return PricedMemory(np.zeros(arms), np.array([11]))


def test_its_score_by_hand():
    """Two arms, floors (0.4, 0.2), eta 5, weights (1, 2): the unit is 2 x 0.3 = 0.6.

    Arm 0 is owed 10 x 0.4 - 2 = 2: 0.1 + 0.6 x 2 / (5 x 0.4) = 0.7. Arm 1 is owed 2 - 4 = -2:
    0.5 - 0.6 x 2 / (5 x 0.2) = -0.7, so nothing.
    """
    problem = Problem(2, plays=1, weights=[1.0, 2.0], floors=[0.4, 0.2])
    policy, state, scores = make_policy("priced", eta=5), new(State, 2), np.empty(2)
    memory = PricedMemory(np.array([0.1, 0.5]), np.array([11]))
    state.rounds[0], state.played[:] = 10, [2, 4]
    state.feedbacks[:], state.reward_sums[:] = [2, 4], [0.5, 3.0]
    state.debts[:] = cumulative_debts(state, problem.arrays)
    constants, script = policy.constants(PolicySetup(problem)), Script([0.5, 0.25])
    score_awake(policy, scores, np.arange(2), state, problem.arrays, constants, memory, script)
    assert scores.tolist() == pytest.approx([0.5 + 0.7, 2 * 0.25])
    assert script.posteriors == [(1.5, 2.5), (4.0, 2.0)]


def test_a_floor_far_below_the_others_counts_as_a_hundredth_of_a_typical_one():
    """Floors (0.4, 1e-9), mean 0.2: 3 plays owed of arm 1 are 3 / 0.002 parts, times 0.2 / 5."""
    problem = Problem(2, plays=1, floors=[0.4, 1e-9])
    policy, state, scores = make_policy("priced", eta=5), new(State, 2), np.empty(2)
    state.rounds[0], state.played[:] = 10, [9, 3]
    arrays = problem.arrays._replace(promised=np.array([0.0, 6.0]))
    state.debts[:] = cumulative_debts(state, arrays)
    constants, memory = policy.constants(PolicySetup(problem)), unpriced(2)
    score_awake(policy, scores, np.arange(2), state, arrays, constants, memory, Script([0.5, 0.25]))
    assert scores.tolist() == pytest.approx([0.5, 0.25 + 60.0])


@pytest.mark.parametrize("eta", [0.5, 1.0])
def test_a_small_eta_is_taken_as_it_is(eta):
    """One arm, floor 0.4, owed 2 after 10 rounds: 0.4 x 2 / (eta 0.4) = 2 / eta."""
    problem = Problem(1, plays=1, floors=0.4)
    policy, state, scores = make_policy("priced", eta=eta), new(State, 1), np.empty(1)
    state.rounds[0], state.played[:] = 10, 2
    state.debts[:] = cumulative_debts(state, problem.arrays)
    constants, memory = policy.constants(PolicySetup(problem)), unpriced(1)
    score_awake(
        policy, scores, np.arange(1), state, problem.arrays, constants, memory, Script([0.5])
    )
    assert scores.tolist() == pytest.approx([0.5 + 2 / eta])


def test_its_prices_are_those_of_the_optimum_on_what_was_measured():
    problem = Problem(3, plays=2, floors=[0.5, 0.6, 0.4])
    state = new(State, 3)
    state.rounds[0] = 1_000
    state.awake_counts[:] = [900, 800, 700]
    state.feedbacks[:] = [10**9] * 3
    state.reward_sums[:] = [0.4e9, 0.5e9, 0.7e9]
    memory = make_policy("priced").new_memory(len(problem.arms))
    refresh_prices(state, problem.arrays, None, None, np.inf, memory)
    assert memory.prices == pytest.approx([0.1, 0, 0], abs=1e-6)
    assert memory.refresh[0] == 1_100


def test_its_values_are_posterior_means_times_weights():
    """Nothing seen of arm 0: 2 x 1/2 = 1; two rewards of 1 for arm 1: 3 x 3/4 = 2.25."""
    problem = Problem(2, plays=1, weights=[2.0, 3.0], floors=[0.5, 0.0])
    state = new(State, 2)
    state.rounds[0] = 10
    state.awake_counts[:], state.feedbacks[:], state.reward_sums[:] = [10, 10], [0, 2], [0, 2]
    memory = make_policy("priced").new_memory(len(problem.arms))
    refresh_prices(state, problem.arrays, None, None, np.inf, memory)
    assert memory.prices == pytest.approx([1.25, 0.0])


def test_prices_are_computed_anew_when_the_rounds_have_grown_by_a_tenth():
    problem, policy = Problem(3, plays=1, floors=[0.3, 0.2, 0.0]), make_policy("priced")
    constants, state = policy.constants(PolicySetup(problem)), new(State, 3)
    scores, memory, due = np.empty(3), policy.new_memory(3), []
    rng = np.random.default_rng(1)
    for now in range(2_000):
        before = int(memory.refresh[0])
        score_awake(policy, scores, np.arange(3), state, problem.arrays, constants, memory, rng)
        if memory.refresh[0] != before:
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
    policy, state, scores = make_policy("priced", eta=5), new(State, 2), np.empty(2)
    state.rounds[0], state.played[:] = 10, [9, 3]
    arrays = problem.arrays._replace(promised=np.array([0.0, 6.0]))
    state.debts[:] = cumulative_debts(state, arrays)
    constants, memory = policy.constants(PolicySetup(problem)), unpriced(2)
    score_awake(policy, scores, np.arange(2), state, arrays, constants, memory, Script([0.5, 0.25]))
    assert scores.tolist() == pytest.approx([0.5, 0.25 + 0.6])


@pytest.mark.parametrize(
    ("rounds", "each", "eta"),
    [(0, 0.2, 1.0), (100, 1.0, 2.0), (100, 0.5, 1.25), (10_000, 0.2, 11.0), (400, 0.125, 1.5)],
)
def test_its_eta_grows_with_the_rounds_once_arms_have_been_played(rounds, each, eta):
    assert anytime_eta(rounds, each) == pytest.approx(eta)


def test_its_constants_are_those_of_the_problem():
    problem = Problem(10, plays=2, weights=[3.0] + [1.0] * 9, floors=[0.2, 0.4] + [0.0] * 8)
    found = make_policy("priced").constants(PolicySetup(problem))
    assert (found.eta, found.plays_each) == (0.0, 0.2)
    assert found.worth == pytest.approx([3 * 0.3 / 0.2, 3 * 0.3 / 0.4] + [3.0] * 8)
    problem = Problem.of_arms_left(("a", "b"), 5, 0.0, 0.0)
    found = make_policy("priced", eta=7).constants(PolicySetup(problem))
    assert (found.eta, found.plays_each, found.worth.tolist()) == (7.0, 1.0, [1.0, 1.0])


@pytest.mark.parametrize("eta", [0, -1, "paper", "inf", float("inf"), float("nan"), True])
def test_eta_is_a_number_or_anytime(eta):
    with pytest.raises(InputError, match="eta of policy 'priced' must be a number above 0, or"):
        make_policy("priced", eta=eta)


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


def test_what_is_owed_from_a_larger_floor_does_not_starve_the_others():
    agent = Agent(Problem(["a", "b", "c"], plays=1, floors=[0.3, 0.4, 0.0]), seed=3)
    wakes_late(agent, asleep=300, rounds=0)
    agent.change("a", floor=1e-6)
    wakes_late(agent, asleep=0, rounds=400)
    assert agent.debts()["a"] < 2
    assert agent.debts()["b"] < 3


def test_an_arm_without_a_floor_waits_while_others_are_owed_plays():
    rng, means = np.random.default_rng(1), {"a": 0.1, "b": 0.2, "c": 0.9}
    problem = Problem(["a", "b", "c"], plays=1, floors=[0.3, 0.3, 0.0], allow_impossible=True)
    agent = Agent(problem, seed=2)
    serve(agent, 1_000, rng, means)
    agent.change("a", floor=1.0)
    before = agent.rates()["c"] * agent.rounds
    serve(agent, 1_000, rng, means)
    alone = 0.2 * 0.2 * 0.8 * 1_000
    assert agent.rates()["c"] * agent.rounds - before < alone + 30
    assert agent.debts()["a"] > 100


@pytest.mark.parametrize("surplus", [10, "inf"])
@pytest.mark.parametrize("rounds", [300, 3_000])
def test_what_is_owed_to_an_arm_is_paid_after_its_floor_was_lowered_to_0(surplus, rounds):
    """Asleep for 40 rounds at a floor of 0.3, it is owed 12 plays, of which none is forgotten."""
    problem = Problem(["a", "b", "c"], plays=1, floors=[0.2, 0.3, 0.1])
    agent = Agent(problem, make_policy("priced", surplus=surplus), seed=1)
    means, rng = {"a": 0.8, "b": 0.1, "c": 0.3}, np.random.default_rng(0)

    def play(count, awake=None):
        for _ in range(count):
            decision = agent.ask(awake)
            rewards = {arm: float(rng.random() < means[arm]) for arm in decision.chosen}
            agent.tell(decision.id, rewards)

    play(rounds)
    play(40, ["a", "c"])
    assert agent.debts()["b"] > 8.0
    agent.change("b", floor=0.0)
    play(400)
    assert agent.debts()["b"] == 0.0
