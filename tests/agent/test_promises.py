"""An agent with promises beyond floors: how they stand, and arms that come and go."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import (
    Agent,
    InfeasiblePromises,
    InputError,
    Problem,
    Promise,
    SnapshotError,
    make_policy,
)

MEANS = {"farm": 0.3, "dairy": 0.5, "mall": 0.8, "web": 0.2, "kiosk": 0.9}
PROMISES = [
    Promise(["farm", "dairy"], at_least=0.5, name="local"),
    Promise(["web"], exactly=0.1, name="control"),
    Promise(["mall"], at_least=0.1, of="reward", name="revenue"),
]


def problem(**given):
    return Problem(["farm", "dairy", "mall", "web"], 1, promises=PROMISES, **given)


def serve(agent, rounds, seed=1, told=1.0):
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        decision = agent.ask([arm for arm in agent.problem.arms if rng.random() < 0.9])
        if rng.random() < told:
            agent.tell(decision, {arm: float(rng.random() < MEANS[arm]) for arm in decision.chosen})


@pytest.mark.parametrize("policy", ["priced", "tscsf-b"])
def test_compiled_and_interpreted_agents_decide_alike(policy):
    agents = [Agent(problem(), policy, seed=1, compiled=machine) for machine in (False, True)]
    for agent in agents:
        serve(agent, 150)
    assert agents[0].snapshot() == agents[1].snapshot()


def test_an_agent_tells_how_promises_stand():
    agent = Agent(problem(ceilings={"dairy": 0.3}), "priced", seed=1)
    serve(agent, 3_000)
    found = agent.promises()
    assert list(found) == ["ceiling of dairy", "local", "control", "revenue"]
    assert found["local"].rate == pytest.approx(0.5, abs=0.01)
    assert found["control"].rate == pytest.approx(0.1, abs=0.003)
    assert found["control"].standing == "kept"
    assert found["local"].price > 0.0
    assert (found["revenue"].of, found["revenue"].at_least) == ("reward", 0.1)
    assert Agent(problem(), "tscsf-b").promises()["local"].price is None
    late = Agent(problem(), "tscsf-b")
    for _ in range(20):
        late.ask(["mall"])
    assert late.promises()["local"].standing == "behind"
    assert late.promises()["local"].debt == pytest.approx(10.0)


def test_arms_join_promises_and_leave_them():
    agent = Agent(problem(), "tscsf-b", seed=1)
    serve(agent, 100)
    agent.join("kiosk", ceiling=0.4, promises=["local"])
    assert agent.problem.promises[0].arms == ("farm", "dairy", "kiosk")
    before = agent.promises()["local"]
    agent.ask(["kiosk"])
    assert agent.promises()["local"].debt == pytest.approx(max(before.debt - 0.5, 0.0))
    agent.retire(["farm", "dairy"])
    assert agent.problem.promises[0].arms == ("kiosk",)
    agent.retire("kiosk")
    assert "local" not in agent.promises()
    with pytest.raises(InputError, match="unknown promise to join 'local'"):
        agent.join("stall", promises=["local"])


def test_a_promise_rests_while_all_of_its_arms_do():
    agent = Agent(problem(), "tscsf-b", seed=1)
    serve(agent, 60)
    before, owed = agent.promises(), float(agent._learner.promises.debts[0])
    agent.pause(["farm", "dairy"])
    for _ in range(50):
        agent.ask(["mall"])
    assert agent.promises()["local"].standing == "paused"
    assert agent.promises()["local"].debt == before["local"].debt
    assert agent.promises()["local"].rate == before["local"].rate
    agent.resume("farm")
    assert agent.promises()["local"].rate == before["local"].rate
    agent.ask(["mall"])
    assert agent._learner.promises.debts[0] == pytest.approx(owed + 0.5)


def test_promises_are_made_changed_and_taken_back():
    agent = Agent(problem(), "priced", seed=1)
    serve(agent, 200)
    owed = agent.promises()["local"].debt
    agent.set_promise(Promise(["farm"], at_least=0.2, name="local"))
    assert agent.promises()["local"].debt == pytest.approx(max(owed, 0.0))
    agent.set_promise(Promise("all", at_most=0.9, name="cap"))
    serve(agent, 500)
    assert agent.promises()["cap"].rate < 0.95
    agent.remove_promise("cap")
    assert "cap" not in agent.promises()
    with pytest.raises(InputError, match="unknown promise 'cap'"):
        agent.remove_promise("cap")
    with pytest.raises(InputError, match="promise must be a Promise"):
        agent.set_promise("cap")


def test_what_can_never_be_kept_is_refused_and_changes_nothing():
    agent = Agent(problem(), "tscsf-b", seed=1)
    before = agent.snapshot()
    with pytest.raises(InfeasiblePromises, match="'local'"):
        agent.set_promise(Promise(["mall"], at_least=0.7, name="mall"))
    with pytest.raises(InfeasiblePromises):
        agent.change("mall", floor=0.8)
    with pytest.raises(InfeasiblePromises):
        agent.join("kiosk", floor=0.9)
    with pytest.raises(InputError, match="ceiling of arm 'mall' must be a number"):
        agent.change("mall", ceiling=1.5)
    assert agent.snapshot() == before
    willing = Agent(Problem(["a", "b"], 1, floors=0.4, allow_impossible=True), "tscsf-b")
    willing.change("a", floor=0.9)


def test_ceilings_change_and_end():
    agent = Agent(problem(), "tscsf-b", seed=1)
    agent.change("mall", ceiling=0.4)
    assert agent.promises()["ceiling of mall"].at_most == 0.4
    agent.change("mall", ceiling=1.0)
    assert "ceiling of mall" not in agent.promises()


@pytest.mark.parametrize("surplus", ["inf", 0.0, 1.5])
def test_what_is_cancelled_counts_as_never_made(surplus):
    """Of decisions with the same arms awake, some are cancelled in the end; two agents agree."""
    plain = Problem(3, 1, promises=[Promise(["1", "2"], at_least=0.6, at_most=0.7, name="most")])
    policy = make_policy("tscsf-b", surplus=surplus)
    agent, twin = Agent(plain, policy, seed=1), Agent(plain, policy, seed=1)
    made = [agent.ask([str(1 + number % 3)]) for number in range(12)]
    for number in (3, 7, 11):
        agent.cancel(made[number])
    for number in set(range(12)) - {3, 7, 11}:
        twin.ask([str(1 + number % 3)])
    mine, theirs = agent._learner.promises, twin._learner.promises
    assert mine.debts == pytest.approx(theirs.debts)
    assert mine.delivered == pytest.approx(theirs.delivered)
    assert agent.promises()["most"].rate == pytest.approx(twin.promises()["most"].rate)


def test_a_snapshot_goes_on_with_the_same_decisions():
    for policy in ("priced", make_policy("tscsf-b", surplus=3)):
        agent = Agent(problem(), policy, seed=1, compiled=False)
        serve(agent, 80, told=0.5)
        agent.join("kiosk", promises=["local"])
        last = agent.ask()
        twin = Agent.restore(agent.snapshot(), compiled=False)
        for one in (agent, twin):
            one.cancel(last.id)
            serve(one, 60, seed=7)
        assert twin.snapshot() == agent.snapshot()
        assert twin.promises() == agent.promises()
    with pytest.raises(SnapshotError, match="of promises must be"):
        Agent.restore(agent.snapshot().replace('"begun": [0.0, ', '"begun": ['))


def test_deltas_add_up_to_one_agent_that_saw_everything():
    policy = make_policy("tscsf-b", surplus="inf")
    agents = [Agent(problem(), policy, seed=seed) for seed in (1, 2)]
    for seed, agent in enumerate(agents):
        serve(agent, 50, seed=seed)
    first, second = (agent.deltas() for agent in agents)
    agents[0].apply(second)
    agents[1].apply(first)
    one, other = (agent._learner.promises for agent in agents)
    assert one.delivered == pytest.approx(other.delivered)
    assert one.debts == pytest.approx(other.debts)
    due = 100 * one.bound
    assert one.debts == pytest.approx(one.sign * (due - one.delivered))
    with pytest.raises(InputError, match="one whose state adds up"):
        Agent(problem(), "priced").deltas()


def test_reasons_say_which_promise_added_what():
    agent = Agent(problem(), "tscsf-b", seed=1)
    for _ in range(10):
        agent.ask(["mall"])
    reasons = {reason.arm: reason for reason in agent.ask(explain=True).reasons}
    farm, web, mall = (reasons[arm] for arm in ("farm", "web", "mall"))
    assert farm.bonuses == {"local": pytest.approx(5.0 / 10.0)}
    assert farm.score == pytest.approx(farm.sample + farm.bonuses["local"])
    assert web.bonuses == {"control": pytest.approx(1.0 / 10.0)}
    assert mall.bonuses == {"revenue": pytest.approx(1.0 / 10.0 * mall.sample)}
    plain = Agent(Problem(3, 1), seed=1).ask(explain=True)
    assert plain.reasons[0].bonuses is None


def test_history_teaches_and_pays_no_promise():
    agent = Agent(problem(), "tscsf-b", seed=1)
    agent.learn_history([{"arm": "mall", "reward": 1.0}] * 20)
    assert agent.promises()["revenue"].rate == 0.0
    assert agent.posterior_means()["mall"] > 0.9


def floor(arms, least, name, **given):
    return Promise(arms, at_least=least, name=name, **given)


def three(*promises, policy="tscsf-b", **given):
    return Agent(Problem(["a", "b", "c"], 1, promises=promises, **given), policy, seed=1)


def test_a_promise_of_unknown_arms_is_refused_and_changes_nothing():
    agent = three(floor(["a"], 0.2, "p"))
    for arms in (["typo"], ["a", "typo"]):
        with pytest.raises(InputError, match="unknown arm of promise 'p' 'typo'"):
            agent.set_promise(floor(arms, 0.1, "p"))
    assert agent.problem.promises == (floor(["a"], 0.2, "p"),)


def test_a_decision_is_cancelled_in_the_promises_it_was_made_under():
    agent = three(floor(["a"], 0.2, "p"), floor(["b"], 0.3, "q"))
    decision = agent.ask(["a"])
    agent.remove_promise("p")
    agent.set_promise(floor(["c"], 0.2, "r"))
    agent.cancel(decision)
    found = agent.promises()
    assert (found["q"].debt, found["q"].rate) == (0.0, 0.0)
    assert (found["r"].debt, found["r"].rate) == (0.0, 0.0)


@pytest.mark.parametrize("policy", ["tscsf-b", make_policy("tscsf-b", surplus=2)])
def test_many_decisions_are_cancelled_across_a_change_of_terms(policy):
    agent = three(floor(["a"], 0.2, "p"), policy=policy)
    made = [agent.ask(["a"]) for _ in range(10)]
    agent.set_promise(floor(["a"], 0.3, "p"))
    for decision in made[:9]:
        agent.cancel(decision)
    found = agent.promises()["p"]
    assert (agent.rounds, found.rate, found.debt) == (1, 1.0, 0.0)
    agent.ask(["b"])
    assert agent.promises()["p"].debt == pytest.approx(0.3)


def test_deltas_find_promises_by_name():
    p, q = floor(["a"], 0.2, "p"), floor(["b"], 0.3, "q")
    here, there = three(p, q), three(q, p)
    for _ in range(10):
        here.ask(["a"])
    there.apply(here.deltas())
    assert there.promises()["p"].rate == 1.0
    assert there.promises()["q"].debt == pytest.approx(3.0)
    with pytest.raises(InputError, match="deltas must be of the promises p, got 'those of others"):
        three(p).apply(three(q).deltas())


def test_deltas_that_wait_survive_a_change_of_promises():
    p, r = floor(["a"], 0.2, "p"), floor(["c"], 0.1, "r")
    here, there, third = three(p), three(p), three(p)
    decision = here.ask(["a"])
    first = here.deltas()
    here.cancel(decision)
    there.apply(here.deltas())
    for agent in (there, third):
        agent.set_promise(r)
    third.ask(["a"])
    there = Agent.restore(there.snapshot())
    there.apply(third.deltas())
    assert there.rounds == 0 or there.promises()["p"].rate <= 1.0
    assert set(first.rows) == {("p", 1.0, False)}


@pytest.mark.parametrize("policy", ["priced", "tscsf-b", "pessimistic", "fair-learn", "cl-sg"])
def test_nobody_awake_has_no_reasons(policy):
    capped = Agent(
        Problem(["a", "b", "c"], 2, promises=[Promise(["a"], at_most=0.2)]), policy, seed=1
    )
    assert capped.ask([], explain=True).reasons == ()
    assert len(capped.ask(["b"], explain=True).reasons) == 1


def test_arms_retire_whatever_is_left_of_the_promises():
    agent = three(floor("all", 0.5, "everyone"), Promise(["a"], at_most=0.2, name="cap"))
    agent.retire("c")
    agent.retire("b")
    assert set(agent.promises()) == {"everyone", "cap"}


def test_another_unit_or_surplus_begins_anew():
    agent = three(floor(["a"], 0.1, "p"), policy=make_policy("tscsf-b", surplus=10))
    for _ in range(100):
        agent.ask(["a"])
    agent.set_promise(floor(["a"], 0.1, "p", surplus="inf"))
    agent.ask(["b"])
    assert agent.promises()["p"].debt == pytest.approx(0.1)
    agent.set_promise(floor(["a"], 0.1, "p", of="reward"))
    assert agent.promises()["p"].rate == 0.0
