"""Worlds with contexts: both engines, the agent beside the simulator, and what contexts earn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenhand import (
    Agent,
    Beta,
    ByCategory,
    DrawnContexts,
    Environment,
    Generated,
    Geometric,
    Grid,
    InputError,
    Joint,
    LinearMean,
    LogisticMean,
    Problem,
    Recorded,
    RecordedContexts,
    Results,
    Trace,
    find_optimum,
    make_policy,
    run_sweep,
    simulate,
)
from evenhand.core.contexts import apply_context
from evenhand.core.nature import draw_awake, draw_rewards, own_nature
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, checkpoints, new_control, streams
from evenhand.sweeps._summary import found_columns
from tests.simulation.test_engines import assert_same_bits, every_round

FEATURES = {"age": (0, 100), "evening": bool, "land": ["de", "fr", "it"]}
PROBLEM = Problem(
    ["news", "film", "local"],
    plays=1,
    weights=[1.0, 1.5, 1.0],
    floors={"local": 0.3},
    features=FEATURES,
    priors={"film": (0.3, 5)},
)
MEANS = [
    LinearMean({"intercept": 0.4, "age": 0.2}),
    LogisticMean({"intercept": -0.5, "age": 2, "evening": 1}),
    ByCategory("land", {"de": 0.1, "fr": 0.5, "it": 0.3}),
]
AVAILABILITY = [0.9, ByCategory("evening", {"yes": 1.0, "no": 0.5}), 0.8]
CONTEXTS = DrawnContexts({"age": {"mean": 40, "sd": 30}, "evening": 0.3, "land": [0.2, 0.5, 0.3]})
WORLD = Environment(PROBLEM, MEANS, AVAILABILITY, contexts=CONTEXTS)
ROUNDS = 120


@pytest.mark.parametrize("delay", [0, 4, Geometric(3.0)], ids=["now", "fixed", "geometric"])
@pytest.mark.parametrize(
    "policy",
    [
        make_policy("priced"),
        make_policy("priced", belief="logistic", half_life=50),
        make_policy("tscsf-b", belief="beta"),
        make_policy("lfg"),
    ],
    ids=lambda policy: policy.label(),
)
def test_both_engines_give_the_same_bits(policy, delay):
    record = assert_same_bits(Run(WORLD, policy, ROUNDS, every_round(), delay))
    assert record.state.played.sum() > 0


def test_late_feedback_of_several_arms_has_the_context_of_its_decision():
    problem = Problem(4, plays=3, floors=0.2, features=FEATURES)
    world = Environment(problem, [*MEANS, 0.5], [*AVAILABILITY, 0.6], contexts=CONTEXTS)
    for delay in (5, Geometric(8.0)):
        run = Run(world, make_policy("tscsf-b"), ROUNDS, every_round(), delay)
        assert assert_same_bits(run).state.feedbacks.sum() > ROUNDS


def test_the_same_bits_for_recorded_contexts_rewards_and_awake_sets():
    rng = np.random.default_rng(3)
    rows = [{"age": float(a), "evening": True, "land": "fr"} for a in rng.uniform(0, 100, ROUNDS)]
    record = rng.random((ROUNDS, 3))
    replayed = Environment(
        PROBLEM,
        availability=Trace(rng.random((ROUNDS, 3)) < 0.8),
        rewards=Recorded(record),
        contexts=RecordedContexts(rows),
    )
    found = assert_same_bits(Run(replayed, make_policy("tscsf-b"), ROUNDS, every_round()))
    # The mean of a round is what was recorded in it.
    assert found.expected == pytest.approx(found.realised)
    drawn = Environment(
        PROBLEM,
        MEANS,
        Joint([[1, 1, 0], [0, 1, 1]], [0.5, 0.5]),
        Beta(8),
        contexts=RecordedContexts(rows, order="resample"),
    )
    assert_same_bits(Run(drawn, make_policy("tscsf-b"), ROUNDS, every_round()))


def test_all_policies_meet_the_same_visitors_and_other_streams_are_as_before(setting_1):
    seen = {}
    for name in ("uniform", "tscsf-b"):
        run = Run(WORLD, make_policy(name), 50, every_round(50))
        given = streams(3, 0)
        run_compiled(run, given, new_control())
        seen[name] = given.contexts.bit_generator.state, given.rewards.bit_generator.state
    assert seen["uniform"] == seen["tscsf-b"]
    assert setting_1.contexts is None
    untouched = streams(3, 0)
    run_compiled(
        Run(setting_1, make_policy("tscsf-b"), 50, every_round(50)), untouched, new_control()
    )
    assert untouched.contexts.bit_generator.state == streams(3, 0).contexts.bit_generator.state


def test_an_agent_in_the_same_world_does_what_the_simulator_does():
    """The agent gets contexts as numbers, and draws from the same stream."""
    policy = make_policy("priced", belief="linear")
    simulated = run_compiled(
        Run(WORLD, policy, 200, checkpoints(200)), streams(4, 0), new_control()
    ).state
    world, agent = streams(4, 0), Agent(PROBLEM, policy, compiled=False)
    agent._learner.rng = world.policy
    awake, payoffs = own_nature(WORLD.awake, WORLD.payoffs)
    here, rewards, context = np.empty(3, dtype=np.int64), np.empty(3), np.empty(6)
    for now in range(200):
        apply_context(
            context, awake, payoffs, WORLD.contextual, PROBLEM.weights, now, world.contexts
        )
        present = here[: draw_awake(here, awake, now, world.availability)]
        draw_rewards(rewards, payoffs, now, world.rewards)
        given = 50 * (context[1] + 1), context[2] > 0, int(np.argmax(context[3:]))
        decision = agent.ask(awake=present.tolist(), context=list(given))
        told = {arm: rewards[PROBLEM.arms.index(arm)] for arm in decision.chosen}
        agent.tell(decision, told)
    state = agent._learner.state
    assert state.played.tolist() == simulated.played.tolist()
    assert state.reward_sums.tolist() == simulated.reward_sums.tolist()


def test_contexts_earn_more_than_averages_and_floors_are_kept_with_both():
    policies = {
        belief: make_policy("priced", belief=belief) for belief in ("beta", "linear", "logistic")
    }
    results = simulate(WORLD, policies, horizon=6_000, replications=4, seed=2, progress=False)
    best = find_optimum(WORLD)
    assert results.optimum_error == best.standard_error > 0.0
    for label in policies:
        assert results.worst_shortfall(label).mean < 0.002
    lost = {label: float(results.regret(label).mean[-1]) / best.with_floors for label in policies}
    assert lost["beta"] > 0.1
    assert lost["linear"] < 0.04
    assert lost["logistic"] < 0.04


def test_a_feature_that_says_nothing_costs_next_to_nothing():
    """With one constant feature the rates are those of Beta samples."""
    means, floors = [0.8, 0.45, 0.3, 0.15], [0.0, 0.1, 0.2, 0.1]
    problem = Problem(4, plays=1, floors=floors, features={"shop": (0, 1)})
    same = RecordedContexts([{"shop": 0.9}], order="resample")
    environment = Environment(problem, means, 0.9, contexts=same)
    policies = {belief: make_policy("priced", belief=belief) for belief in ("beta", "linear")}
    results = simulate(environment, policies, horizon=10_000, replications=8, seed=3)
    rates = {label: np.array(list(results.rates(label).values())) for label in policies}
    assert rates["linear"] == pytest.approx(rates["beta"], abs=0.002)
    # Within what replications differ by.
    assert results.reward("linear").mean > results.reward("beta").mean - 0.0005


def test_results_carry_the_standard_error_of_the_optimum(tmp_path):
    given = {"horizon": 50, "replications": 3, "engine": "reference", "progress": False}
    results = simulate(WORLD, ["tscsf-b"], **given)
    curve, exact = results.regret("tscsf-b"), replace(results, optimum_error=0.0).regret("tscsf-b")
    assert np.all(curve.high - curve.low > exact.high - exact.low)
    results.save(tmp_path / "out")
    assert Results.load(tmp_path / "out").optimum_error == results.optimum_error > 0.0


def test_settings_of_recorded_contexts_can_be_written(tmp_path):
    rows = np.array([[30, 1, 2], [40, 0, 0]])
    contexts = RecordedContexts(rows, order="resample")
    world = Environment(PROBLEM, MEANS, AVAILABILITY, contexts=contexts)
    results = simulate(world, ["uniform"], horizon=5, engine="reference", progress=False)
    results.save(tmp_path / "out")
    settings = Results.load(tmp_path / "out").provenance["settings"]
    assert settings["contexts"]["recorded"][0] == {"age": 30.0, "evening": True, "land": "it"}


def test_a_sweep_of_random_worlds_with_contexts(tmp_path):
    text = """
    horizon = 60
    replications = 2
    [[instances]]
    name = "random"
    generate = {arms = 4, plays = 2, tightness = 0.7, seeds = 1, features = [0, 2]}
    [[policies]]
    name = "tscsf-b"
    """
    (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
    found = run_sweep(Grid.load(tmp_path / "sweep.toml"), tmp_path / "out", backend="threads")
    plain = found.results("random features=0", 60)
    contextual = found.results("random features=2", 60)
    assert plain.optimum_error == 0.0
    assert contextual.optimum_error > 0.0
    curve = contextual.regret("tscsf-b")
    margin = found_columns(contextual, "tscsf-b")["margin"]
    assert margin == pytest.approx(float(curve.high[-1] - curve.mean[-1]))


def test_a_policy_that_knows_nature_is_refused():
    with pytest.raises(InputError, match="with contexts nature's means depend on the round"):
        simulate(WORLD, ["opt-f"], horizon=10, progress=False)
    for source in (WORLD, Generated(4, 2, 0.7, seed=1, features=2)):
        with pytest.raises(
            InputError, match=r"instance 'world': policy .* must be one that learns"
        ):
            Grid({"world": source}, ["uniform", "oracle"], 10)
    limits = {"world": {"policies": ["uniform"]}}
    assert Grid({"world": WORLD}, ["uniform", "oracle"], 10, limits=limits).cells == 1


def test_a_regression_needs_no_features():
    plain = Environment(Problem(3, plays=1, floors=0.1), [0.2, 0.5, 0.8])
    run = Run(plain, make_policy("tscsf-b", belief="linear"), ROUNDS, every_round())
    assert assert_same_bits(run).state.played[2] > 50
