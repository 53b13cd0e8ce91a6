"""An agent that is told who is asking."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from evenhand import Agent, InputError, Problem, make_policy
from evenhand.core.schema import to_lists
from evenhand.learner.reasons import probabilities

FEATURES = {"age": (0, 100), "evening": bool, "country": ["de", "fr"]}
PROBLEM = Problem(["a", "b", "c", "d"], plays=2, floors={"d": 0.2}, features=FEATURES)
POLICIES = (
    "priced", "tscsf-b", "thompson", "lfg", "ucb", "fair-learn", "floor-first", "simplex-mixture",
    "strict-rate",
)  # fmt: skip
BELIEFS = ("beta", "linear", "logistic")


def visitors(count, seed=5):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield {
            "age": float(rng.integers(0, 101)),
            "evening": bool(rng.random() < 0.5),
            "country": str(rng.choice(["de", "fr"])),
        }


def reward_of(arm, context, rng):
    likes = {"a": context["evening"], "b": not context["evening"], "c": context["age"] > 50}
    return float(rng.random() < (0.8 if likes.get(arm, False) else 0.2))


def lived(agent, rounds=80, seed=7):
    rng, chosen = np.random.default_rng(seed), []
    for context in visitors(rounds):
        decision = agent.ask(context=context)
        chosen.append(decision.chosen)
        agent.tell(decision, {arm: reward_of(arm, context, rng) for arm in decision.chosen})
    return chosen


def state_of(agent):
    learner = agent._learner
    return to_lists(learner.state), to_lists(learner.belief), to_lists(learner.engine.memory)


@pytest.mark.parametrize("belief", BELIEFS)
@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_takes_every_belief(name, belief):
    agent = Agent(PROBLEM, make_policy(name, belief=belief), seed=3, compiled=False)
    assert all(len(chosen) == 2 for chosen in lived(agent))
    assert agent.rounds == 80


# Each of them takes seconds to compile.
@pytest.mark.parametrize(
    ("name", "belief"),
    [("priced", "linear"), ("priced", "logistic"), ("lfg", "linear"), ("strict-rate", "linear")],
)
def test_interpreted_and_compiled_give_the_same_bits(name, belief):
    policy = make_policy(name, belief=belief)
    plain, fast = (Agent(PROBLEM, policy, seed=3, compiled=how) for how in (False, True))
    assert lived(plain) == lived(fast)
    assert state_of(plain) == state_of(fast)


def test_contexts_earn_what_no_average_can():
    earned = {}
    for belief in BELIEFS:
        agent = Agent(PROBLEM, make_policy("priced", belief=belief), seed=1)
        rng, total = np.random.default_rng(2), 0.0
        for context in visitors(3_000):
            decision = agent.ask(context=context)
            rewards = {arm: reward_of(arm, context, rng) for arm in decision.chosen}
            agent.tell(decision, rewards)
            total += sum(rewards.values())
        earned[belief] = total
        assert agent.rates()["d"] > 0.2 - 0.01
    assert earned["linear"] > 1.15 * earned["beta"]
    assert earned["logistic"] > 1.15 * earned["beta"]


@pytest.mark.parametrize(
    "context",
    [None, {}, {"age": 3}, {"age": 300, "evening": True, "country": "de"}, [1, 2], "x"],
)
def test_a_bad_context_changes_nothing(context):
    agent = Agent(PROBLEM, seed=1)
    lived(agent, 5)
    before, drawn = state_of(agent), agent._learner.rng.bit_generator.state
    with pytest.raises(InputError, match="context"):
        agent.ask(context=context)
    assert state_of(agent) == before
    assert agent._learner.rng.bit_generator.state == drawn
    assert agent.rounds == 5


def test_a_problem_without_features_refuses_a_context():
    agent = Agent(Problem(2, plays=1), seed=1)
    with pytest.raises(InputError, match="no features"):
        agent.ask(context={"age": 3})


@pytest.mark.parametrize("belief", ["linear", "logistic"])
def test_a_regression_without_features_knows_the_intercept_alone(belief):
    agent = Agent(Problem(3, plays=1), make_policy("thompson", belief=belief), seed=1)
    for _ in range(300):
        decision = agent.ask()
        agent.tell(decision, {arm: float(arm == "2") for arm in decision.chosen})
    assert agent.rates()["2"] > 0.7
    assert list(agent.coefficients()["1"]) == ["intercept"]


def test_late_partial_and_shuffled_feedback_gives_the_same_linear_estimate():
    agents = [Agent(PROBLEM, make_policy("tscsf-b", exploration=1.0), seed=4) for _ in range(2)]
    rng, told = np.random.default_rng(6), []
    for context in visitors(200):
        punctual, late = (agent.ask(context=context) for agent in agents)
        assert punctual.chosen == late.chosen
        rewards = {arm: float(rng.random()) for arm in punctual.chosen}
        agents[0].tell(punctual, rewards)
        told += [(late.id, arm, reward) for arm, reward in rewards.items()]
    rng.shuffle(told)
    for id_, arm, reward in told:
        agents[1].tell(int(id_), {arm: float(reward)})
    first, second = (agent._learner.belief for agent in agents)
    assert np.abs(first.means - second.means).max() < 1e-9
    assert np.abs(first.factors - second.factors).max() < 1e-9


@pytest.mark.parametrize("belief", BELIEFS)
def test_a_snapshot_goes_on_with_the_same_decisions(belief):
    agent = Agent(PROBLEM, make_policy("priced", belief=belief), seed=9)
    lived(agent, 60)
    open_ = agent.ask(context=next(visitors(1)))
    copy = Agent.restore(agent.snapshot())
    assert state_of(copy) == state_of(agent)
    for one in (agent, copy):
        one.tell(open_, dict.fromkeys(open_.chosen, 1.0))
    assert lived(agent, 40) == lived(copy, 40)
    assert state_of(copy) == state_of(agent)


@pytest.mark.parametrize("half_life", [np.inf, 50.0])
def test_linear_deltas_add_up(half_life):
    policy = make_policy("tscsf-b", half_life=half_life)
    agents = [Agent(PROBLEM, policy, seed=seed) for seed in (1, 2)]
    for agent in agents:
        lived(agent, 100, seed=agent._learner.decisions)
    first, second = (agent.deltas() for agent in agents)
    agents[0].apply(second)
    agents[1].apply(first)
    one, other = (agent._learner.belief for agent in agents)
    for agent in agents:
        agent.ask(context=[50, 1, 0])
    assert np.abs(one.grams - other.grams).max() < 1e-9
    assert np.abs(one.means - other.means).max() < 1e-9


def test_logistic_deltas_are_refused_with_the_reason():
    agent = Agent(PROBLEM, make_policy("tscsf-b", belief="logistic"), seed=1)
    with pytest.raises(InputError, match="not the logistic belief"):
        agent.deltas()


def test_history_is_learned_step_by_step_by_an_agent_that_forgets():
    """Each Newton step starts from the mean after the one before, not from the last decision's."""
    rows = [{"arm": "a", "reward": 1.0, "context": [50, 1, 0]} for _ in range(400)]
    found = []
    for half_life in (np.inf, 1e9):
        policy = make_policy("tscsf-b", belief="logistic", half_life=half_life)
        agent = Agent(PROBLEM, policy, seed=1)
        agent.learn_history(rows)
        found.append([one.mean for one in agent.coefficients()["a"].values()])
    assert found[1] == pytest.approx(found[0], rel=1e-6)


def test_forgetting_follows_the_solution_of_faded_equations():
    half_life, ridge = 30.0, 2.0
    policy = make_policy("tscsf-b", half_life=half_life, ridge=ridge, exploration=1.0)
    agent, rng, rows = Agent(PROBLEM, policy, seed=3), np.random.default_rng(1), []
    for number, context in enumerate(visitors(5_000), start=1):
        decision = agent.ask(context=context)
        rewards = {arm: float(rng.random()) for arm in decision.chosen}
        agent.tell(decision, rewards)
        if "a" in rewards:
            rows.append((number, PROBLEM.features.encode(context), rewards["a"]))
    weights = np.array([2.0 ** ((number - 5_000) / half_life) for number, *_ in rows])
    contexts, told = (np.array(column) for column in list(zip(*rows, strict=True))[1:])
    matrix = ridge * np.eye(contexts.shape[1]) + (weights[:, None] * contexts).T @ contexts
    exact = np.linalg.solve(matrix, contexts.T @ (weights * told))
    found = [one.mean for one in agent.coefficients()["a"].values()]
    assert np.abs(np.array(found) - exact).max() < 1e-9


def test_a_pause_of_an_agent_that_forgets_leaves_its_coefficients():
    agent = Agent(PROBLEM, make_policy("tscsf-b", half_life=40.0), seed=3)
    lived(agent, 300)
    before = means_of(agent, "b")
    agent.pause("a")
    agent.resume("a")
    assert means_of(agent, "b") == pytest.approx(before, abs=1e-9)
    decision = agent.ask(context=[30, 1, 0], explain=True)
    assert np.isfinite([reason.estimate for reason in decision.reasons]).all()


def means_of(agent, arm):
    return {column: one.mean for column, one in agent.coefficients()[arm].items()}


def test_arms_join_with_priors_pause_and_retire():
    agent = Agent(PROBLEM, seed=5)
    lived(agent, 50)
    kept = means_of(agent, "b")
    agent.join("e", floor=0.1, prior=(0.9, 500))
    assert means_of(agent, "b") == pytest.approx(kept)
    assert agent.coefficients()["e"]["intercept"].mean == pytest.approx(0.9, abs=0.01)
    assert agent.posterior_means()["e"] == pytest.approx(0.9, abs=0.01)
    agent.pause("a")
    agent.retire("c")
    decision = agent.ask(context=[30, 1, 0])
    assert not {"a", "c"} & set(decision.chosen)
    agent.cancel(decision)
    agent.resume("a")
    assert means_of(agent, "b") == pytest.approx(kept)


def test_a_prior_is_not_told_to_others_as_news():
    agent = Agent(PROBLEM, "tscsf-b", seed=5)
    agent.join("e", prior=(0.9, 500))
    assert all(np.all(column == 0) for column in agent.deltas().sums.values())


@pytest.mark.parametrize("belief", ["beta", "linear"])
@pytest.mark.parametrize("form", ["list", "polars", "nested"])
def test_history_is_learned_without_clock_or_plays(belief, form):
    rng, rows = np.random.default_rng(3), []
    for context in visitors(300):
        arm = str(rng.choice(["a", "b"]))
        rows.append({"arm": arm, "reward": reward_of(arm, context, rng), **context})
    agent = Agent(PROBLEM, make_policy("priced", belief=belief), seed=1)
    frame = pl.DataFrame(rows) if form == "polars" else rows
    if form == "nested":
        keys = ("arm", "reward")
        frame = [
            {
                **{k: row[k] for k in keys},
                "context": {k: v for k, v in row.items() if k not in keys},
            }
            for row in rows
        ]
    assert agent.learn_history(frame) == 300
    assert agent.rounds == 0
    assert set(agent.rates().values()) == {0.0}
    assert agent.posterior_means()["a"] != 0.5
    if belief == "linear":
        assert agent.coefficients()["a"]["evening"].mean > 0.1
        assert agent.coefficients()["b"]["evening"].mean < -0.1


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"arm": "z", "reward": 1}, "unknown arm"),
        ({"arm": "a", "reward": 2}, "reward of arm 'a'"),
        ({"arm": "a"}, "row must be one with"),
        ({"arm": "a", "reward": 1, "age": 1}, "'evening'"),
        (7, "row must be a mapping"),
    ],
)
def test_a_bad_row_of_history_is_named_and_nothing_is_learned(row, words):
    agent = Agent(PROBLEM, seed=1)
    good = {"arm": "a", "reward": 1, "age": 1, "evening": True, "country": "de"}
    before = state_of(agent)
    with pytest.raises(InputError) as refused:
        agent.learn_history([good, row])
    assert "row 2 of the history" in str(refused.value)
    assert words in str(refused.value)
    assert state_of(agent) == before


def test_reasons_tell_what_each_feature_adds():
    agent = Agent(PROBLEM, make_policy("thompson"), seed=2)
    lived(agent, 400)
    decision = agent.ask(context={"age": 20, "evening": True, "country": "fr"}, explain=True)
    for reason in decision.reasons:
        assert set(reason.contributions) == {"intercept", "age", "evening", "country"}
        assert sum(reason.contributions.values()) == pytest.approx(reason.estimate)
        assert reason.low < reason.estimate < reason.high
    first = decision.reasons[0]
    assert first.contributions["evening"] > 0.1


def drawn_from(policy, view, normal):
    """Return the linear values of the samples that a belief makes of one normal number."""
    samples = np.full(view.awake.size, normal)
    policy.known.given(samples, view.awake, view.state, view.belief, policy.options, None)
    return samples if policy.known.name == "linear" else np.log(samples / (1.0 - samples))


@pytest.mark.parametrize("belief", ["linear", "logistic"])
@pytest.mark.parametrize("name", ["priced", "tscsf-b", "floor-first", "fair-learn"])
def test_probabilities_are_those_of_replays(name, belief):
    agent = Agent(PROBLEM, make_policy(name, belief=belief, width=1.0), seed=2, compiled=False)
    lived(agent, 40)
    learner = agent._learner
    view, memory = learner.before(learner.table.everyone, PROBLEM.features.encode([70, 1, 0]))
    found = probabilities(learner.resolved, view, learner.engine.constants, memory)
    replays = 200_000
    # What the belief itself makes of the normal numbers 0 and 1 gives all its samples.
    low, high = (drawn_from(learner.resolved, view, normal) for normal in (0.0, 1.0))
    normals = np.random.default_rng(8).standard_normal((replays, 4))
    linear = low + (high - low) * normals
    samples = linear if belief == "linear" else 1.0 / (1.0 + np.exp(-linear))
    lines = learner.resolved.lines(view, learner.engine.constants, memory)
    scores = lines.offsets + lines.slopes * samples + 1e6 * lines.tiers
    chosen = np.argsort(-scores, axis=1)[:, :2]
    counted = np.bincount(chosen.ravel(), minlength=4) / replays
    errors = np.sqrt(np.maximum(found * (1.0 - found), 1e-6) / replays)
    assert np.all(np.abs(counted - found) < 3.5 * errors)
    assert found.sum() == pytest.approx(2.0, abs=1e-6)


def test_probabilities_are_those_of_prices_that_are_computed_for_the_decision():
    """In the second round prices are computed again, with that round among the latest ones."""
    problem = Problem(["a", "b", "c"], plays=1, floors=[0.0, 0.35, 0.1])
    policy, count = make_policy("priced", prices="sample"), 1_500

    def second(seed, **options):
        agent = Agent(problem, policy, seed=seed, compiled=False)
        agent.tell(agent.ask(["a"]), {"a": 0.0})
        return agent.ask(**options)

    [said] = [one.probability for one in second(0, explain=True).reasons if one.arm == "b"]
    happened = np.mean([second(seed).chosen == ("b",) for seed in range(count)])
    assert abs(said - happened) < 3.5 * np.sqrt(said * (1.0 - said) / count)


def test_an_arm_that_is_overdue_comes_before_any_sample():
    features = {f"x{number}": (-1, 1) for number in range(20)}
    problem = Problem(6, plays=1, floors=0.15, features=features)
    policy = make_policy("fair-learn", ridge=0.1, width=10)
    agent, rng = Agent(problem, policy, seed=1, compiled=False), np.random.default_rng(2)
    for _ in range(120):
        debts = agent._learner.state.debts.copy()
        decision = agent.ask(context=rng.uniform(-1, 1, 20))
        agent.tell(decision, dict.fromkeys(decision.chosen, float(rng.random() < 0.5)))
        if debts.max() > policy.alpha:
            assert debts[int(decision.chosen[0]) - 1] > policy.alpha


@pytest.mark.parametrize("ridge", [1e-13, 1e-9])
def test_a_tiny_ridge_survives_a_join(ridge):
    """The columns of a category add up to the intercept: all that keeps them apart is the ridge."""
    problem = Problem(["a", "b"], plays=1, features={"country": ["de", "fr"]})
    agent = Agent(problem, make_policy("thompson", ridge=ridge), seed=1, compiled=False)
    for number in range(300):
        decision = agent.ask(context=[number % 2])
        agent.tell(decision, dict.fromkeys(decision.chosen, float(number % 3 == 0)))
    agent.join("c")
    assert np.isfinite(
        [one.mean for arm in agent.coefficients().values() for one in arm.values()]
    ).all()
