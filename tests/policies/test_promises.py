"""Policies keep promises beyond floors: debts by hand, the same bits, and what is promised."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import (
    Agent,
    Environment,
    Geometric,
    InputError,
    Problem,
    Promise,
    make_policy,
    simulate,
)
from evenhand.core.promises import add_bonuses, advance_promises, credit_reward
from evenhand.core.schema import new
from evenhand.core.state import DecisionView, State
from evenhand.policies import PolicySetup
from evenhand.policies.registry import BUILT_IN
from evenhand.promise_rows import arrays_of

KEEPERS = ["priced", "tscsf-b", "lfg", "fair-learn", "pessimistic", "opt-f", "floor-first", "cl-sg"]
PROMISES = [
    Promise(["1", "2", "3"], at_least=0.8, name="local"),
    Promise(["4"], exactly=0.1, name="control"),
    Promise(["5", "6"], at_most=0.3, name="ads"),
    Promise(["7"], at_least=0.1, of="reward", name="revenue"),
]
MEANS, AWAKE = [0.2, 0.35, 0.5, 0.15, 0.8, 0.7, 0.4], [0.9, 0.8, 0.7, 0.6, 0.9, 0.8, 0.7]


def world(**given):
    problem = Problem(7, 2, floors={"1": 0.1}, ceilings={"3": 0.4}, promises=PROMISES)
    return Environment(problem, MEANS, AWAKE, **given)


def rounds_of(surplus, plays):
    """Return the debts of a group of two arms at least 0.6, after some rounds, by hand."""
    problem = Problem(3, 1, promises=[Promise(["1", "2"], at_least=0.6, at_most=0.7)])
    promises, state = arrays_of(problem.rows, problem.weights, surplus), new(State, 3)
    found = []
    for arm in plays:
        state.rounds[0] += 1
        advance_promises(promises, state, np.array([arm]), 1)
        found.append(promises.debts.tolist())
    return found


def test_debts_of_both_sides_by_hand():
    # At least 0.6: +0.6, less 1 if arm 1 or 2 is played. At most 0.7: the other way round.
    assert np.array(rounds_of(np.inf, [2, 0, 1])) == pytest.approx(
        np.array([[0.6, -0.7], [0.2, -0.4], [-0.2, -0.1]])
    )
    assert np.array(rounds_of(0.0, [2, 0, 1])) == pytest.approx(
        np.array([[0.6, 0.0], [0.2, 0.3], [0.0, 0.6]])
    )


def test_a_debt_of_reward_is_what_was_told():
    paid = Promise(["2"], at_least=0.5, of="reward")
    problem = Problem(2, 1, weights=[1.0, 2.0], promises=[paid])
    promises, state = arrays_of(problem.rows, problem.weights, np.inf), new(State, 2)
    for _ in range(3):
        state.rounds[0] += 1
        advance_promises(promises, state, np.array([1]), 1)
    assert promises.debts.tolist() == [1.5]
    credit_reward(promises, state, 1, 0.25)
    credit_reward(promises, state, 0, 1.0)
    assert promises.debts.tolist() == [1.0]
    assert promises.delivered.tolist() == [0.5]


def test_a_debt_of_reward_forgets_what_is_beyond_the_surplus():
    """Weight 2: a surplus of 0.75 plays is one of 1.5 reward."""
    paid = Promise(["1"], at_least=0.5, at_most=0.75, of="reward")
    problem = Problem(2, 1, weights=[2.0, 1.0], promises=[paid])
    promises, state = arrays_of(problem.rows, problem.weights, 0.75), new(State, 2)
    state.rounds[0] += 1
    advance_promises(promises, state, np.array([0]), 1)
    assert promises.debts.tolist() == [0.5, -0.75]
    credit_reward(promises, state, 0, 0.5)
    assert promises.debts.tolist() == [-0.5, 0.25]
    credit_reward(promises, state, 0, 1.0)
    assert promises.debts.tolist() == [-1.5, 2.25]


def test_bonuses_go_to_plays_and_to_reward():
    promises = [
        Promise(["1", "2"], at_least=0.5),
        Promise(["2"], at_most=0.1),
        Promise(["3"], at_least=0.2, of="reward"),
    ]
    problem = Problem(3, 1, weights=[1.0, 1.0, 2.0], promises=promises)
    rows = arrays_of(problem.rows, problem.weights, np.inf)
    rows.bonuses[:] = [0.3, -0.7, 0.5]
    scores, samples = np.array([0.1, 0.2, 0.8]), np.array([0.1, 0.2, 0.4])
    view = DecisionView(np.arange(3), samples, new(State, 3), problem.arrays, promises=rows)
    add_bonuses(scores, view)
    assert scores == pytest.approx([0.4, -0.2, 0.8 + 0.5 * 2.0 * 0.4])


@pytest.mark.parametrize("name", KEEPERS)
@pytest.mark.parametrize("delay", [0, Geometric(5)])
def test_compiled_and_readable_rounds_are_the_same(name, delay):
    given = {"horizon": 250, "seed": 3, "delay": delay, "progress": False}
    one, other = (simulate(world(), [name], engine=e, **given) for e in ("compiled", "reference"))
    for what in ("expected", "realised", "played", "estimates"):
        assert np.array_equal(getattr(one, what), getattr(other, what))
    assert np.array_equal(one.kept.amounts, other.kept.amounts)
    assert np.array_equal(one.kept.window_misses, other.kept.window_misses)


def test_priced_keeps_every_kind_at_next_to_no_cost():
    results = simulate(world(), ["priced"], horizon=20_000, replications=4, seed=1, progress=False)
    assert results.worst_miss("priced").mean < 0.0003
    exact = results.promises("priced")["control"]
    assert max(exact.shortfall, exact.excess) < 0.0005
    assert results.regret("priced").mean[-1] < 0.01 * results.with_floors


def test_late_feedback_delays_promises_of_reward_and_breaks_none():
    given = {"horizon": 20_000, "replications": 3, "delay": 100, "progress": False}
    results = simulate(world(), ["priced"], **given)
    assert results.worst_miss("priced").mean < 0.0005


def test_promises_that_exclude_each_other_are_missed_by_equal_fractions_and_others_kept():
    local = Promise(["1", "2"], at_least=0.4, name="local")
    control = Promise(["4"], exactly=0.1, name="control")
    ceilings = {"1": 0.2, "2": 0.15}
    problem = Problem(4, 1, ceilings=ceilings, promises=[local, control], allow_impossible=True)
    nature = Environment(problem, [0.3, 0.4, 0.8, 0.2], 0.9)
    results = simulate(nature, ["priced"], horizon=20_000, replications=3, progress=False)
    found = results.promises("priced")
    missed = [
        found["local"].shortfall / 0.4,
        found["ceiling of 1"].excess / 0.2,
        found["ceiling of 2"].excess / 0.15,
    ]
    # 0.4 (1 - v) = 0.35 (1 + v)
    assert missed == pytest.approx([0.05 / 0.75] * 3, abs=0.002)
    assert max(found["control"].shortfall, found["control"].excess) < 0.0005


def test_a_play_stays_empty_where_no_arm_may_have_it():
    cap = Promise("all", at_most=0.6, name="cap")
    nature = Environment(Problem(3, 1, promises=[cap]), [0.9, 0.8, 0.7])
    for name in ("priced", "tscsf-b", "opt-f"):
        results = simulate(nature, [name], horizon=5_000, replications=2, progress=False)
        assert results.promises(name)["cap"].rate == pytest.approx(0.6, abs=0.02)


def test_a_small_surplus_keeps_a_promise_in_every_window():
    def worst(surplus):
        half = Promise(["1", "2"], exactly=0.5, name="half", surplus=surplus)
        nature = Environment(Problem(4, 1, promises=[half]), [0.2, 0.3, 0.9, 0.8], 0.7)
        given = {"horizon": 10_000, "replications": 3, "progress": False}
        return simulate(nature, ["priced"], **given).promises("priced")["half"].worst_window

    assert worst(2.0) < 0.02


@pytest.mark.parametrize("name", ["ucb-lp", "simplex-mixture", "strict-rate"])
def test_policies_that_keep_floors_alone_say_so(name):
    with pytest.raises(InputError, match=f"floors alone with policy '{name}', got 'ceiling of 3, "):
        simulate(world(), [name], horizon=10)
    with pytest.raises(InputError, match="promises of the problem must be floors alone"):
        Agent(world().problem, name)


def test_exact_prices_are_of_floors_alone():
    with pytest.raises(InputError, match="exact ones are of floors alone"):
        Agent(world().problem, make_policy("priced", prices="exact"))


@pytest.mark.parametrize("name", ["spoc", "banditq"])
def test_rivals_that_guarantee_rewards_say_what_they_can_keep(name):
    with pytest.raises(InputError, match="at_least of reward, of one arm each"):
        simulate(world(), [name], horizon=10)


def test_every_policy_says_what_it_keeps():
    keepers = {policy.name for policy in BUILT_IN if policy.keeps == "promises"}
    assert keepers == {*KEEPERS, "oracle"}


@pytest.mark.parametrize("name", ["priced", "tscsf-b", "lfg"])
def test_probabilities_are_those_of_many_replays(name):
    problem = Problem(4, 2, ceilings={"1": 0.2}, promises=[Promise(["2", "3"], at_least=0.9)])
    agent, rng = Agent(problem, name, seed=1, compiled=False), np.random.default_rng(2)
    for _ in range(60):
        decision = agent.ask()
        agent.tell(decision, {arm: float(rng.random() < 0.6) for arm in decision.chosen})
    text, played = agent.snapshot(), np.zeros(4)
    reasons = Agent.restore(text, compiled=False).ask(explain=True).reasons
    twin = Agent.restore(text, compiled=False)
    for number in range(3_000):
        twin._learner.rng = np.random.default_rng(number)
        decision = twin.ask()
        played[[int(arm) - 1 for arm in decision.chosen]] += 1
        twin.cancel(decision)
    told = np.array([reason.probability for reason in reasons])
    assert told == pytest.approx(played / 3_000, abs=0.035)


def test_rivals_reserve_what_earns_the_revenue():
    """Three quarters of the plays earn 0.3 at a mean of 0.4; greedy on a thousand rewards."""
    problem = Problem(2, 1, promises=[Promise(["1"], at_least=0.3, of="reward")])
    nature = Environment(problem, [0.4, 0.9])
    given = {"horizon": 20_000, "replications": 3, "progress": False}
    greedy = make_policy("spoc", estimate="greedy")
    results = simulate(nature, {"greedy": greedy, "banditq": "banditq"}, **given)
    assert results.rates("greedy")["1"] == pytest.approx(0.75, abs=0.02)
    assert results.promises("banditq")["reward of 1"].rate > 0.2
    constants = greedy.constants(PolicySetup(problem))
    assert constants.revenues.tolist() == [0.3, 0.0]
