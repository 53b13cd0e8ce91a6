"""Agent: ask, tell whenever feedback comes, change arms in mid-run, snapshot and restore."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import (
    Agent,
    FeedbackError,
    InputError,
    Problem,
    make_policy,
)
from evenhand.agent._columns import unpack
from evenhand.policies.registry import BUILT_IN
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, checkpoints, new_control, streams

SERVING = [policy.name for policy in BUILT_IN if not policy.knows_nature]


def three_arms(policy="tscsf-b", **options):
    problem = Problem(["a", "b", "c"], plays=2, floors=[0.5, 0.2, 0.1])
    return Agent(problem, policy, seed=1, **options)


def play(agent, rounds, seed=0):
    """Ask and tell with random awake sets and rewards; return the decisions."""
    rng = np.random.default_rng(seed)
    decisions = []
    for _ in range(rounds):
        awake = [arm for arm in agent.problem.arms if rng.random() < 0.8]
        decision = agent.ask(awake)
        decisions.append(decision)
        agent.tell(decision.id, {arm: rng.random() for arm in decision.chosen})
    return decisions


# Asking


def test_a_decision_names_awake_arms_and_at_most_plays_of_them():
    for decision in play(three_arms(), 200):
        assert set(decision.chosen) <= set(decision.awake)
        assert len(decision.chosen) == min(2, len(decision.awake))


def test_all_arms_are_awake_unless_said_otherwise():
    assert three_arms().ask().awake == ("a", "b", "c")


def test_nobody_awake_is_a_legal_round_in_which_debts_grow():
    agent = three_arms()
    assert agent.ask(awake=[]).chosen == ()
    assert agent.debts() == {"a": 0.5, "b": 0.2, "c": 0.1}
    assert agent.rounds == 1


@pytest.mark.parametrize(
    ("awake", "message"),
    [
        (["a", "bb"], "unknown awake arm 'bb'"),
        (["a", "a"], "awake arms must have different names"),
        ("a", "awake arms must be a list of names"),
        ([7], "index of an awake arm must be in 0 to 2, got 7"),
        ([0, -1], "index of an awake arm must be in 0 to 2, got -1"),
        ([1, 1], "awake arms must have different names, got 'b' twice"),
        (np.array([0.5]), "non-empty string"),
        ([0, "a"], "names, indices or truth values"),
        ([True, False], r"mask of awake arms must be one truth value for each of 3 arms"),
        (np.ones((1, 3), dtype=bool), r"mask of awake arms must be one truth value for each"),
        (np.array([[0]]), "awake arms must be a list of names, indices or truth values"),
        ([None], "non-empty string"),
        (7, "awake arms must be a list of names"),
    ],
)
def test_a_wrong_awake_set_is_refused_and_changes_nothing(awake, message):
    agent = three_arms()
    before = agent.snapshot()
    with pytest.raises(InputError, match=message):
        agent.ask(awake)
    assert agent.snapshot() == before


@pytest.mark.parametrize("name", SERVING)
def test_an_agent_decides_exactly_as_the_simulator(setting_1, name):
    """The same scoring function, the same random numbers, the same decisions and rewards."""
    rounds = 200
    run = Run(setting_1, make_policy(name), rounds, checkpoints(rounds))
    simulated = run_compiled(run, streams(4, 0), new_control()).state

    world = streams(4, 0)
    agent = Agent(setting_1.problem, make_policy(name), horizon=rounds)
    agent._learner.rng = world.policy
    for _ in range(rounds):
        awake = world.availability.random(3) < [0.9, 0.8, 0.7]
        rewards = (world.rewards.random(3) < setting_1.means).astype(float)
        decision = agent.ask([arm for arm, here in zip("abc", awake, strict=True) if here])
        agent.tell(decision.id, {arm: rewards["abc".index(arm)] for arm in decision.chosen})
    for field, array in simulated._asdict().items():
        assert np.array_equal(getattr(agent._learner.state, field), array), field


def test_policies_that_know_secrets_cannot_serve():
    with pytest.raises(InputError, match="can only be simulated"):
        three_arms(policy="oracle")


def test_the_papers_eta_needs_a_horizon():
    with pytest.raises(InputError, match="needs a horizon"):
        three_arms(policy=make_policy("tscsf-b", eta="paper"))
    three_arms(policy=make_policy("tscsf-b", eta="paper"), horizon=1_000).ask()


# Telling


def test_feedback_may_be_late_partial_and_out_of_order():
    agent = three_arms()
    first, second = agent.ask(["a", "b"]), agent.ask(["b", "c"])
    assert agent.tell(second.id, {"c": 0.5}).learned == ("c",)
    assert agent.tell(first.id, {"b": 1.0, "a": 0.25}).learned == ("a", "b")
    assert agent.tell(second.id, {"b": 0.0}).learned == ("b",)
    assert agent.posterior_means() == {"a": 1.25 / 3, "b": 2.0 / 4, "c": 1.5 / 3}


def test_the_same_feedback_twice_changes_nothing_and_says_so():
    agent = three_arms()
    decision = agent.ask(["a", "b"])
    agent.tell(decision.id, {"a": 1})
    before = agent.snapshot()
    receipt = agent.tell(decision.id, {"a": 1.0})
    assert (receipt.repeated, receipt.learned, receipt.changed) == (("a",), (), False)
    assert agent.snapshot() == before
    assert agent.tell(decision.id, {"a": True, "b": np.False_}).learned == ("b",)


@pytest.mark.parametrize(
    ("decision_id", "rewards", "message"),
    [
        (99, {"a": 1.0}, "decision must be a known one, got 99: it was never made"),
        ("1", {"a": 1.0}, "decision must be a known one, got '1'"),
        (True, {"a": 1.0}, "decision must be a known one, got True"),
        ([1], {"a": 1.0}, "decision must be a known one"),
        (1, {"b": 10**400}, "reward of arm 'b' must be a number"),
        (1, {"c": 1.0}, r"must be for an arm it chose \(a, b\), got 'c'"),
        (1, {"zz": 1.0}, "must be for an arm it chose"),
        (1, {"b": 1.5}, r"reward of arm 'b' must be a number in \[0, 1\], got 1.5"),
        (1, {"b": float("nan")}, "reward of arm 'b' must be a number"),
        (1, {"b": "good"}, "reward of arm 'b' must be a number"),
        (1, {"b": 0.5, "a": 0.0}, "reward of arm 'a' in decision 1 must be what was told before"),
        (1, {"b": 0.5, "c": 0.5}, "must be for an arm it chose"),
        (1, [("a", 1.0)], "feedback must map arms to rewards"),
    ],
)
def test_wrong_feedback_is_refused_and_changes_nothing(decision_id, rewards, message):
    agent = three_arms()
    agent.tell(agent.ask(["a", "b"]).id, {"a": 1.0})
    before = agent.snapshot()
    with pytest.raises(FeedbackError, match=message):
        agent.tell(decision_id, rewards)
    assert agent.snapshot() == before


def test_only_the_latest_decisions_are_remembered():
    agent = three_arms(log_size=3)
    old = agent.ask(["a"])
    for _ in range(3):
        agent.ask(["a"])
    before = agent.snapshot()
    assert agent.tell(old.id, {"a": 1.0}).expired == ("a",)
    assert agent.snapshot() == before
    assert unpack(json.loads(before)["log"]["id"], np.int64).tolist() == [2, 3, 4]


@given(order=st.permutations(range(12)))
@settings(max_examples=30, deadline=None)
def test_what_is_learned_does_not_depend_on_the_order_of_arrival(order):
    agent = three_arms()
    decisions = [agent.ask() for _ in range(12)]
    for position in order:
        agent.tell(decisions[position].id, dict.fromkeys(decisions[position].chosen, 0.25))
    played = {arm: sum(arm in d.chosen for d in decisions) for arm in "abc"}
    assert agent.posterior_means() == {arm: (1 + n / 4) / (2 + n) for arm, n in played.items()}


# Changing arms


def test_an_arm_that_joins_owes_and_is_owed_nothing_before():
    agent = three_arms()
    for _ in range(10):
        agent.ask(["a"])
    agent.join("d", floor=0.4, weight=2.0)
    assert agent.debts()["d"] == 0.0
    for _ in range(5):
        agent.ask(["a"])
    assert agent.debts()["d"] == pytest.approx(5 * 0.4)
    assert agent.ask(["d"]).chosen == ("d",)
    assert agent.rates()["d"] == pytest.approx(1 / 6)
    assert agent.debts()["d"] == pytest.approx(6 * 0.4 - 1)


@pytest.mark.parametrize("debt", ["cumulative", "reflected"])
def test_a_changed_floor_counts_from_then_on_and_what_is_owed_stays(debt):
    agent = three_arms(policy=make_policy("tscsf-b", debt=debt))
    for _ in range(10):
        agent.ask(["c"])
    agent.change("a", floor=0.1)
    agent.change("c", floor=0.5)
    assert agent.debts() == pytest.approx({"a": 5.0, "b": 2.0, "c": 0.0})
    for _ in range(10):
        agent.ask([])
    assert agent.debts() == pytest.approx({"a": 5.0 + 1.0, "b": 4.0, "c": 5.0})


def test_saying_the_same_floor_again_changes_nothing():
    agent = three_arms()
    for _ in range(10):
        agent.ask(["a"])
    before = agent.snapshot()
    agent.change("a", floor=0.5)
    assert agent.snapshot() == before


def test_the_others_do_not_notice_who_comes_and_goes():
    agent = three_arms()
    play(agent, 50)
    before = agent.debts(), agent.posterior_means(), agent.rates()
    agent.join("d", floor=0.2)
    agent.retire("d")
    assert (agent.debts(), agent.posterior_means(), agent.rates()) == before
    agent.retire("b")
    for now, then in zip((agent.debts(), agent.posterior_means()), before, strict=False):
        assert now == {arm: then[arm] for arm in ("a", "c")}


def test_a_changed_weight_leaves_debts_alone():
    agent = three_arms()
    for _ in range(4):
        agent.ask(["c"])
    before = agent.debts()
    agent.change("a", weight=7.0)
    assert agent.debts() == before
    assert agent.problem.weights.tolist() == [7.0, 1.0, 1.0]


def test_feedback_for_a_retired_arm_is_ignored_even_if_its_name_returns():
    agent = three_arms()
    decision = agent.ask(["a", "b"])
    agent.retire("b")
    assert agent.problem.arms == ("a", "c")
    receipt = agent.tell(decision.id, {"a": 1.0, "b": 1.0})
    assert (receipt.learned, receipt.ignored) == (("a",), ("b",))
    later = agent.ask(["a", "c"])
    older = agent.ask([])
    agent.join("b", floor=0.3)
    assert agent.posterior_means()["b"] == 0.5
    assert older.id == agent.rounds
    assert agent.tell(later.id, {"c": 0.5}).learned == ("c",)
    again = agent.ask(["b"])
    assert agent.tell(again.id, {"b": 1.0}).learned == ("b",)


def test_old_feedback_does_not_reach_a_new_arm_of_the_same_name():
    agent = three_arms()
    decision = agent.ask(["a", "b"])
    agent.retire("b")
    agent.join("b", floor=0.3)
    assert agent.tell(decision.id, {"b": 1.0}).ignored == ("b",)
    assert agent.posterior_means()["b"] == 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda agent: agent.retire([1]), "non-empty string"),
        (lambda agent: agent.join("a"), "arms must have different names"),
        (lambda agent: agent.join(""), "non-empty string"),
        (lambda agent: agent.join("d", floor=1.2), "floor of arm 'd' must be .* got 1.2"),
        (lambda agent: agent.join("d", weight=-1), "weight of arm 'd' must be .* got -1"),
        (lambda agent: agent.retire("x"), "unknown arm 'x'"),
        (lambda agent: agent.change("x", floor=0.1), "unknown arm 'x'"),
        (lambda agent: agent.change("a", floor=-0.1), "floor of arm 'a' must be .* got -0.1"),
        (lambda agent: agent.change("a", weight=float("nan")), "weight of arm 'a' must be"),
    ],
)
def test_wrong_changes_are_refused_and_change_nothing(change, message):
    agent = three_arms()
    play(agent, 5)
    before = agent.snapshot()
    with pytest.raises(InputError, match=message):
        change(agent)
    assert agent.snapshot() == before


def test_the_last_arm_cannot_retire():
    agent = Agent(Problem(["a"], plays=1))
    with pytest.raises(InputError, match="the arm to retire must be one of several, got 'a'"):
        agent.retire("a")


# Reading and restoring


def test_reading_draws_no_random_numbers():
    agent = three_arms()
    play(agent, 20)
    before = agent.snapshot()
    agent.debts(), agent.posterior_means(), agent.rates(), agent.rounds
    assert agent.snapshot() == before


def test_an_agent_tells_how_much_of_the_floors_looks_attainable():
    problem = Problem(["a", "b"], plays=1, floors=[0.9, 0.6], allow_impossible=True)
    agent = Agent(problem, "tscsf-b", seed=2)
    assert agent.targets() == {"a": 0.9, "b": 0.6}
    agent.ask()
    assert agent.targets() == pytest.approx({"a": 0.6, "b": 0.4})
    for _ in range(3):
        agent.ask(["b"])
    assert agent.targets() == pytest.approx({"a": 0.25, "b": 0.6})


def test_an_arm_joins_without_a_promise_and_with_the_usual_weight():
    agent = Agent(Problem(["a"], plays=1, weights=3.0, floors=0.5))
    agent.join("new")
    assert agent.problem == Problem(["a", "new"], 1, weights=[3.0, 1.0], floors=[0.5, 0.0])
    agent.change(name="new", floor=0.25, weight=2.0)
    assert agent.problem == Problem(["a", "new"], 1, weights=[3.0, 2.0], floors=[0.5, 0.25])
