"""A decision is made, then told in full or in parts, or cancelled, or expired."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import Agent, FeedbackError, InputError, Problem, make_policy
from tests.agent.test_agent import play, three_arms


def counted(agent):
    """Return all that a decision changes, but the ids and the random numbers."""
    state = agent._learner.state
    return {
        name: getattr(state, name).tolist() for name in ("rounds", "played", "awake_counts")
    } | {"debts": [round(float(debt), 9) for debt in state.debts]}


def recount(decisions, floors, surplus):
    """Count decisions by hand: (awake, chosen) of each that was not cancelled."""
    arms, debts = len(floors), [0.0] * len(floors)
    played, awake = [0] * arms, [0.0] * arms
    for here, chosen in decisions:
        for i in range(arms):
            played[i] += i in chosen
            awake[i] += i in here
            debts[i] = max(debts[i] + floors[i] - (i in chosen), -surplus)
    if surplus == math.inf:
        debts = [len(decisions) * floors[i] - played[i] for i in range(arms)]
    return {
        "rounds": [len(decisions)],
        "played": played,
        "awake_counts": awake,
        "debts": [round(debt, 9) for debt in debts],
    }


@pytest.mark.parametrize("surplus", [math.inf, 0.0, 0.75])
@given(
    asked=st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=25),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_what_is_cancelled_counts_as_never_made(surplus, asked, data):
    floors = [0.55, 0.3, 0.2, 0.05]
    policy = make_policy("tscsf-b", surplus=surplus, eta=2)
    problem = Problem(4, plays=1, floors=floors, allow_impossible=True)
    agent = Agent(problem, policy, seed=3)
    made = {}
    for here in asked:
        decision = agent.ask(sorted(here))
        made[decision.id] = here, {int(arm) - 1 for arm in decision.chosen}
        for gone in data.draw(st.sets(st.sampled_from(sorted(made)), max_size=2)):
            agent.cancel(gone)
            del made[gone]
            if not made:
                break
        if not made:
            break
    assert counted(agent) == recount(made.values(), floors, surplus)


@pytest.mark.parametrize("name", ["priced", "tscsf-b", "lfg", "floor-first", "uniform"])
@pytest.mark.parametrize("half_life", [None, 20])
def test_to_cancel_at_once_changes_nothing(name, half_life):
    forgetful = {} if half_life is None or name in ("lfg", "uniform") else {"half_life": half_life}
    agent = three_arms(policy=make_policy(name, **forgetful))
    play(agent, 40)
    before = counted(agent), agent.posterior_means(), agent.rates(), agent.targets()
    agent.cancel(agent.ask(["a", "c"]).id)
    after = counted(agent), agent.posterior_means(), agent.rates(), agent.targets()
    assert after[0].pop("awake_counts") == pytest.approx(before[0].pop("awake_counts"))
    assert after[0] == before[0]
    for then, now in zip(before[1:], after[1:], strict=True):
        assert now == pytest.approx(then)


def test_arms_that_joined_paused_or_changed_since_do_not_notice():
    """The same changes at the same rounds, with one decision fewer before them."""
    with_it, without = three_arms(), three_arms()
    for agent in (with_it, without):
        for _ in range(4):
            agent.ask(["c"])
    gone = with_it.ask(["a"])
    for agent in (with_it, without):
        agent.join("d", floor=0.4)
        agent.change("b", floor=0.6)
        agent.pause("c")
        for _ in range(3):
            agent.ask(["a"])
        agent.resume("c")
        for _ in range(5):
            agent.ask(["d"])
    with_it.cancel(gone.id)
    assert with_it.rounds == without.rounds
    assert with_it.debts() == pytest.approx(without.debts())
    assert with_it.rates() == pytest.approx(without.rates())
    assert with_it.targets() == pytest.approx(without.targets())
    for agent in (with_it, without):
        agent.ask([])
    assert with_it.debts() == pytest.approx(without.debts())


def test_a_decision_during_a_pause_can_be_taken_back_after_it():
    with_it, without = three_arms(), three_arms()
    for agent in (with_it, without):
        play(agent, 5)
        agent.pause("a")
        agent.ask(["b"])
    gone = with_it.ask(["b"])
    for agent in (with_it, without):
        agent.resume("a")
        agent.ask(["b"])
    with_it.cancel(gone.id)
    assert with_it.debts() == pytest.approx(without.debts())
    assert with_it.rates() == pytest.approx(without.rates())


def test_ids_go_on_and_rounds_go_back():
    agent = three_arms()
    first = agent.ask()
    agent.cancel(first.id)
    second = agent.ask()
    assert (first.id, first.round, second.id, second.round) == (1, 1, 2, 1)
    assert agent.rounds == 1


def refused(agent, act, message, error=FeedbackError):
    before = agent.snapshot()
    with pytest.raises(error, match=message):
        act()
    assert agent.snapshot() == before


def test_what_cannot_be_cancelled():
    agent = three_arms(log_size=4)
    twice, heard, late = (agent.ask(["a", "b"]).id for _ in range(3))
    agent.cancel(twice)
    agent.tell(heard, {"a": 0.5})
    agent.expire(late)
    refused(agent, lambda: agent.cancel(twice), "decision to cancel must be .* it was cancelled")
    refused(agent, lambda: agent.cancel(heard), "got 2: it has been told about")
    refused(agent, lambda: agent.cancel(late), "got 3: it has expired")
    refused(agent, lambda: agent.cancel(99), "got 99: it was never made")
    refused(agent, lambda: agent.tell(twice, {"a": 1.0}), "got 1: it was cancelled")
    refused(agent, lambda: agent.expire(twice), "must await feedback, got 1: it was cancelled")
    for _ in range(4):
        agent.ask()
    refused(agent, lambda: agent.cancel(heard), "only the latest 4 are remembered")


def test_feedback_that_is_no_longer_awaited_counts_as_nothing_or_as_a_default():
    agent = three_arms()
    first, second = agent.ask(["a", "b"]), agent.ask(["a", "b"])
    receipt = agent.expire(first.id)
    assert (receipt.learned, receipt.expired) == ((), ("a", "b"))
    assert agent.posterior_means()["a"] == 0.5
    agent.tell(second.id, {"b": 1.0})
    receipt = agent.expire(second.id, reward=0.25)
    assert (receipt.learned, receipt.expired) == (("a",), ())
    assert agent.tell(second.id, {"a": 1.0, "b": 1.0}).expired == ("a",)
    assert agent.posterior_means() == {"a": 1.25 / 3, "b": 2 / 3, "c": 0.5}


def test_feedback_after_the_end_is_answered_as_expired():
    agent = three_arms()
    decision = agent.ask(["a", "b"])
    agent.tell(decision.id, {"a": 0.5})
    agent.expire(decision.id)
    before = agent.snapshot()
    receipt = agent.tell(decision.id, {"a": 0.5, "b": 1.0})
    assert (receipt.learned, receipt.repeated, receipt.expired) == ((), ("a",), ("b",))
    assert not receipt.changed
    assert agent.snapshot() == before
    refused(agent, lambda: agent.expire(decision.id), "must await feedback, got 1: it has expired")
    refused(agent, lambda: agent.tell(decision.id, {"c": 1.0}), "must be for an arm it chose")
    refused(agent, lambda: agent.expire(decision.id, reward=1.5), "reward must be", InputError)


def test_expiry_reaches_only_arms_that_are_still_there():
    agent = three_arms()
    decision = agent.ask(["a", "b"])
    agent.retire("b")
    assert agent.expire(decision.id, reward=1.0).ignored == ("b",)
    assert agent.posterior_means() == {"a": 2 / 3, "c": 0.5}


def test_a_cancelled_decision_leaves_the_feedback_of_others_alone():
    agent = three_arms()
    kept, gone = agent.ask(["a", "b"]), agent.ask(["b", "c"])
    agent.cancel(gone.id)
    assert agent.tell(kept.id, {"a": 1.0, "b": 0.0}).learned == ("a", "b")
    assert np.isclose(agent.posterior_means()["a"], 2 / 3)


@pytest.mark.parametrize("debt", ["cumulative", "reflected"])
def test_a_snapshot_knows_what_became_of_every_decision(debt):
    agent = three_arms(policy=make_policy("tscsf-b", debt=debt))
    cancelled, expired, told, _open = (agent.ask(["a", "b"]) for _ in range(4))
    agent.cancel(cancelled.id)
    agent.expire(expired.id)
    agent.tell(told.id, {"a": 1.0})
    agent.pause("c")
    twin = Agent.restore(agent.snapshot())
    assert twin.snapshot() == agent.snapshot()
    for one in (agent, twin):
        refused(one, lambda one=one: one.cancel(cancelled.id), "it was cancelled")
        assert one.tell(expired.id, {"a": 0.5}).expired == ("a",)
        one.cancel(_open.id)
        one.resume("c")
    assert twin.snapshot() == agent.snapshot()


@pytest.mark.parametrize("first", ["a", "c"])
def test_plays_that_a_new_floor_forgave_stay_forgiven(first):
    """Five plays at a floor of 0.5 are 2.5 too many; a new floor of 0.6 forgets them."""
    with_it, without = three_arms(), three_arms()
    gone = with_it.ask([first])
    for agent in (with_it, without):
        for _ in range(5):
            agent.ask(["a"])
        agent.change("a", floor=0.6)
        agent.ask(["b"])
    with_it.cancel(gone.id)
    assert with_it.debts() == pytest.approx(without.debts())
    for agent in (with_it, without):
        agent.change("a", floor=0.1)
        agent.ask([])
    assert with_it.debts() == pytest.approx(without.debts())


def test_an_arm_of_the_same_name_is_another_one_where_debts_are_reflected():
    agent = three_arms(policy=make_policy("tscsf-b", debt="reflected"))
    gone = agent.ask(["c"])
    agent.retire("a")
    agent.join("a", floor=0.5)
    for _ in range(3):
        agent.ask(["c"])
    kept = agent.ask(["a"])
    before = agent._log.records[kept.id].before.copy()
    agent.cancel(gone.id)
    assert agent._log.records[kept.id].before.tolist() == before.tolist()


@pytest.mark.parametrize("name", ["priced", "ucb-lp"])
def test_after_many_cancellations_what_is_due_again_is_not_a_thousand_rounds_away(name):
    agent = Agent(Problem(["a", "b"], plays=1, floors=[0.5, 0.0]), name, seed=1)
    made = [agent.ask().id for _ in range(1_000)]
    for decision in made[10:]:
        agent.cancel(decision)
    assert agent._learner.engine.memory.refresh[0] >= 1_000
    agent.ask()
    assert agent._learner.engine.memory.refresh[0] <= 12


def test_a_decision_stands_for_its_id():
    agent = Agent(Problem(["a", "b"], plays=1), seed=1)
    first, second, third = (agent.ask(explain=True) for _ in range(3))
    assert agent.tell(first, dict.fromkeys(first.chosen, 1.0)).learned == first.chosen
    assert agent.expire(second).expired == second.chosen
    assert agent.explain(third) == third.reasons
    agent.cancel(third)
    assert agent.rounds == 2
