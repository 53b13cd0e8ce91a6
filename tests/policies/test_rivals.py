"""The rivals, against rounds worked out by hand and laws that must hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand import Agent, Environment, InputError, Problem, find_optimum, make_policy, simulate
from evenhand.core.round import advance
from evenhand.core.schema import new
from evenhand.core.state import DecisionView, State, cumulative_debts
from evenhand.optimum.mixture import mixture_chances
from evenhand.policies import PolicySetup
from tests.policies.test_golden import PROBLEM, Script, scores_of, trajectory

# Two arms, weights 1 and 0.5, floors 0.4 and 0.3, one play; all upper bounds are 1 that early.
ALWAYS = [[1.0, 0.0]] * 8


def chosen(policy, rounds, script=None, rewards=ALWAYS):
    return [arms[0] for arms, _ in trajectory(policy, rounds, rewards, script)]


# fair-learn


def test_fair_learn_plays_who_is_behind_and_else_asks_its_learner():
    # Owed to (0, 1) before each round: (0, 0), (-.6, .3), (-.2, -.4), (-.8, -.1), (-1.4, .2).
    assert chosen(make_policy("fair-learn", base="ucb"), 5) == [0, 1, 0, 0, 1]
    # Then (-1, -.5), and with 0.25 to spare the .2 is not enough: (-2, .5) one round later.
    assert chosen(make_policy("fair-learn", base="ucb", alpha=0.25), 6) == [0, 1, 0, 0, 0, 1]


def test_fair_learn_asks_thompson_sampling():
    script = Script([0.1, 0.9, 0.9, 0.1, 0.3, 0.5])
    # w theta: (.1, .45) -> 1; owed (.4, -.7) -> 0; owed (-.2, -.4): (.3, .25) -> 0.
    assert chosen(make_policy("fair-learn"), 3, script) == [1, 0, 0]


def test_fair_learn_puts_those_most_behind_first_whatever_the_weights():
    problem = Problem(3, plays=2, weights=[1e6, 1.0, 1.0], floors=[0.0, 0.3, 0.2])
    policy, state, scores = make_policy("fair-learn", base="ucb"), new(State, 3), np.empty(3)
    state.rounds[0] = 10
    constants = policy.constants(PolicySetup(problem))
    state.debts[:] = cumulative_debts(state, problem.arrays)
    view = DecisionView(np.arange(3), np.empty(3), state, problem.arrays)
    policy.score(scores, view, constants, policy.new_memory(3), None)
    assert scores.argsort()[::-1].tolist() == [1, 2, 0]


# pessimistic


def test_pessimistic_queues_follow_the_tightened_floors():
    policy = make_policy("pessimistic", base="ucb", eta=1.0, tightening=1.0)
    # 1: (1, .5). 2: Q = (0, .6), V = 1.414: (1, .924). 3: Q = (0, 1.112), V = 1.732: (1, 1.142).
    # 4: Q = (.631, .585), V = 2: (1.315, .793).
    assert chosen(policy, 4) == [0, 0, 1, 0]
    loose = make_policy("pessimistic", base="ucb", eta=1.0, tightening=0.0)
    # 3: Q = (0, .6), V = 1.732: (1, .846). 4: Q = (0, .9), V = 2: (1, .95). 5: Q = (0, 1.2): 1.037.
    assert chosen(loose, 5) == [0, 0, 0, 0, 1]


def test_a_pessimistic_queue_forgets_a_surplus_in_rounds_that_left_no_choice_too():
    policy, state = make_policy("pessimistic", base="ucb", eta=2.0, tightening=1.0), new(State, 2)
    for _ in range(3):
        advance(state, PROBLEM.arrays, np.array([0]), np.array([0]), policy.options)
    advance(state, PROBLEM.arrays, np.array([1]), np.array([1]), policy.options)
    # Arm 0: max(0.4 (1 + 1) - 1, 0) = 0, twice again, then 0.4 (1 + 1/2). Arm 1: 0.3 times what
    # three rounds promise, and 0.3 (1 + 1/2) - 1.
    promised = 3 + 1 + 1 / math.sqrt(2) + 1 / math.sqrt(3)
    queues = [0.6, 0.3 * promised + 0.45 - 1.0]
    assert state.debts == pytest.approx(queues)
    wanted = [1.0 + queues[0] / (2 * math.sqrt(5)), 0.5 + queues[1] / (2 * math.sqrt(5))]
    assert scores_of(policy, state) == pytest.approx(wanted)


def test_an_arm_that_joins_a_pessimistic_agent_is_owed_nothing_for_the_time_before():
    agent = Agent(Problem(["a", "b"], plays=1, floors=0.3), "pessimistic", seed=1)
    for _ in range(2_000):
        agent.tell(agent.ask().id, {})
    agent.join("c", floor=0.2)
    chosen = [agent.ask().chosen[0] for _ in range(200)]
    assert 30 <= chosen.count("c") <= 60


def test_cancelled_decisions_leave_no_queue_behind():
    agent = Agent(Problem(["a", "b"], plays=1, floors=0.3), "pessimistic", seed=1)
    for _ in range(50):
        for decision in [agent.ask(), agent.ask()][::-1]:
            agent.cancel(decision.id)
    assert agent.debts() == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-12)


def test_a_pessimistic_state_does_not_add_up():
    assert not make_policy("pessimistic").adds_up


# ucb-lp


def test_ucb_lp_plays_the_optimum_of_what_it_hopes_for():
    # All bounds are 1: arm 0 is worth 1, arm 1 0.5 and has its floor.
    assert chosen(make_policy("ucb-lp"), 3, Script([0.69, 0.71, 0.2])) == [0, 1, 0]


@pytest.mark.parametrize("seed", range(5))
def test_the_mixture_of_ucb_lp_gives_the_rates_of_the_program(seed):
    """Drawn awake sets, each with its exact chances, add up to what the program says."""
    rng = np.random.default_rng(seed)
    arms, plays = 6, 2
    floors, awake_rates = rng.uniform(0, 0.3, arms), rng.uniform(0.4, 1, arms)
    problem = Problem(arms, plays, floors=floors)
    policy, state = make_policy("ucb-lp"), new(State, arms)
    state.rounds[0] = 10_000_000
    state.awake_counts[:] = awake_rates * 10_000_000
    state.feedbacks[:] = 1e12
    state.reward_sums[:] = rng.uniform(size=arms) * 1e12
    memory = policy.new_memory(arms)
    rates = np.zeros(arms)
    for number in range(2**arms):
        here = np.array([number >> i & 1 for i in range(arms)], dtype=bool)
        chance = np.prod(np.where(here, awake_rates, 1 - awake_rates))
        awake = np.flatnonzero(here)
        if awake.size <= plays:
            rates[awake] += chance
            continue
        constants = policy.constants(PolicySetup(problem))
        view = DecisionView(awake, None, state, problem.arrays)
        rates[awake] += chance * policy.probabilities(view, constants, memory)
    means = state.reward_sums / state.feedbacks
    best = find_optimum(Environment(problem, means, awake_rates))
    assert rates == pytest.approx(best.rates, abs=1e-5)


def test_the_chances_of_a_mixture_are_those_of_its_orders():
    policy, state = make_policy("ucb-lp"), new(State, 2)
    memory = policy.new_memory(2)
    constants = policy.constants(PolicySetup(PROBLEM))
    view = DecisionView(np.arange(2), np.empty(2), state, PROBLEM.arrays)
    assert policy.probabilities(view, constants, memory) == pytest.approx([0.7, 0.3])
    assert memory.refresh[0] == 0
    policy.score(np.empty(2), view, constants, memory, np.random.default_rng(1))
    assert mixture_chances(memory, np.arange(2), 1) == pytest.approx([0.7, 0.3])


# simplex-mixture and strict-rate


def test_simplex_mixture_draws_by_the_floors_or_asks_thompson_sampling():
    # Samples first, then which kind of round (0.7 of them by the floors), then the start of a draw:
    # four sevenths of the way are arm 0's.
    script = Script([0.1, 0.9, 0.69, 0.57, 0.9, 0.1, 0.1, 0.58, 0.3, 0.9, 0.71])
    assert chosen(make_policy("simplex-mixture"), 3, script) == [0, 1, 1]


def test_strict_rate_reserves_plays_by_the_floors_first():
    # Samples, then the start: up to 0.4 arm 0 is reserved a play, up to 0.7 arm 1, then nobody.
    script = Script([0.1, 0.9, 0.39, 0.9, 0.1, 0.41, 0.9, 0.1, 0.71, 0.1, 0.9, 0.99])
    assert chosen(make_policy("strict-rate"), 4, script) == [0, 1, 0, 1]


def test_strict_rate_asks_for_more_of_the_rounds_in_which_an_arm_is_awake():
    state, policy = new(State, 2), make_policy("strict-rate")
    state.rounds[0], state.awake_counts[:] = 10, [10.0, 5.0]
    # 0.4 / 1 and 0.3 / 0.5: nothing is left to chance, and arm 1 begins at 0.4.
    for start, first in ((0.39, 0), (0.41, 1), (0.99, 1)):
        scores = scores_of(policy, state, Script([0.5, 0.5, start]))
        assert int(np.argmax(scores)) == first


@pytest.mark.parametrize("name", ["simplex-mixture", "strict-rate"])
def test_with_one_play_and_everybody_awake_the_floors_are_added_to_what_is_learned(name):
    """P = k_i + (1 - sum of k) P(Thompson sampling plays i), at every moment."""
    problem = Problem(3, plays=1, floors=[0.3, 0.2, 0.1])
    policy, plain, state = make_policy(name), make_policy("thompson"), new(State, 3)
    state.rounds[0], state.awake_counts[:] = 30, 30.0
    state.feedbacks[:], state.reward_sums[:] = [10, 10, 10], [2.0, 5.0, 6.0]
    chances = []
    for one in (policy, plain):
        constants, memory = one.constants(PolicySetup(problem)), one.new_memory(3)
        view = DecisionView(np.arange(3), None, state, problem.arrays)
        chances.append(one.probabilities(view, constants, memory))
    assert chances[0] == pytest.approx(problem.floors + 0.4 * chances[1], abs=1e-6)


@pytest.mark.parametrize("name", ["simplex-mixture", "strict-rate", "ucb-lp"])
def test_the_chances_are_those_of_many_decisions(name):
    rng = np.random.default_rng(8)
    problem = Problem(5, plays=2, weights=[1, 2, 1, 1, 1], floors=[0.3, 0.0, 0.6, 0.2, 0.1])
    policy, state = make_policy(name), new(State, 5)
    state.rounds[0], state.awake_counts[:] = 40, [30, 40, 35, 20, 40]
    state.feedbacks[:], state.reward_sums[:] = 12, [3.0, 4.0, 9.0, 6.0, 2.0]
    constants, memory, awake = (
        policy.constants(PolicySetup(problem)),
        policy.new_memory(5),
        [0, 1, 2, 4],
    )
    view = DecisionView(np.array(awake), None, state, problem.arrays)
    counts, draws = np.zeros(4), 20_000
    for _ in range(draws):
        scores, samples = np.empty(4), rng.beta(*(1 + x for x in _posterior(state, awake)))
        policy.score(scores, view._replace(samples=samples), constants, memory, rng)
        counts[np.argsort(-scores)[:2]] += 1
    # Four standard errors of a frequency are 0.014 at most.
    found = policy.probabilities(view, constants, memory)
    assert found == pytest.approx(counts / draws, abs=0.015)


def _posterior(state, awake):
    return state.reward_sums[awake], (state.feedbacks - state.reward_sums)[awake]


def test_too_many_arms_to_go_through_all_draws_have_no_known_chances():
    problem = Problem(101, plays=3, floors=0.02)
    for name in ("simplex-mixture", "strict-rate"):
        policy, state = make_policy(name), new(State, 101)
        constants = policy.constants(PolicySetup(problem))
        view = DecisionView(np.arange(101), None, state, problem.arrays)
        assert policy.probabilities(view, constants, policy.new_memory(101)) is None


# Together


@pytest.mark.parametrize(
    ("name", "shortfall"),
    [("fair-learn", 1e-4), ("pessimistic", 1e-4), ("strict-rate", 0.01), ("ucb-lp", 0.01)],
)
def test_rivals_keep_the_floors_of_setting_1_as_well_as_they_can(name, shortfall, setting_1):
    results = simulate(setting_1, [name], horizon=20_000, replications=4, progress=False)
    assert results.worst_shortfall(name).mean <= shortfall
    assert results.regret(name).mean[-1] > -0.005


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("fair-learn", {"alpha": -1}, "alpha of policy 'fair-learn' must be"),
        ("fair-learn", {"base": "exp3"}, "base of policy 'fair-learn' must be"),
        ("pessimistic", {"eta": 0}, "eta of policy 'pessimistic' must be"),
        ("pessimistic", {"tightening": -0.1}, "tightening of policy 'pessimistic' must be"),
    ],
)
def test_parameters_are_checked(name, given, words):
    with pytest.raises(InputError, match=words):
        make_policy(name, **given)
