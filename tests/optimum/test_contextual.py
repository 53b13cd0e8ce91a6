"""The optimum with contexts, against a linear program over all contexts, awake sets and arms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from evenhand import (
    ByCategory,
    DrawnContexts,
    Environment,
    InfeasibleFloors,
    Joint,
    LinearMean,
    LogisticMean,
    Problem,
    Recorded,
    RecordedContexts,
    Trace,
    find_optimum,
    random_environment,
)
from evenhand.optimum.environment import rows_of
from tests.optimum.brute import all_sets

FEATURES = {"evening": bool, "land": ["de", "fr", "it"]}


def by_program(probabilities, values, members, floors, plays):
    """Return the best value of rows (a probability, values, awake arms); None if none fits."""
    rows, arms = values.shape
    gains = -(probabilities[:, None] * values).ravel()
    limits = np.kron(np.eye(rows), np.ones(arms))
    rates = np.hstack([p * np.eye(arms) for p in probabilities])
    found = linprog(
        gains,
        A_ub=np.vstack([limits, -rates]),
        b_ub=np.concatenate([np.full(rows, plays), -floors]),
        bounds=[(0.0, float(awake)) for awake in members.ravel()],
    )
    return -found.fun if found.status == 0 else None


def random_world(seed):
    """Return arms whose means and availability depend on categories, and floors that may fit."""
    rng = np.random.default_rng(seed)
    arms, plays = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    means = [
        LogisticMean(rng.normal(size=5))
        if rng.random() < 0.5
        else ByCategory("land", dict(zip(FEATURES["land"], rng.random(3), strict=True)))
        for _ in range(arms)
    ]
    awake = [ByCategory("evening", {"yes": rng.random(), "no": 1.0}), *rng.random(arms - 1)]
    floors = rng.random(arms) * rng.uniform(0.2, 1.2) * plays / arms
    weights = rng.uniform(0.5, 2.0, arms)
    given = weights, floors, FEATURES
    problem = Problem(arms, min(plays, arms), *given, allow_impossible=True)
    contexts = DrawnContexts({"evening": rng.random(), "land": rng.dirichlet(np.ones(3)).tolist()})
    return Environment(problem, means, awake, contexts=contexts)


def program_of(environment):
    """Return the optimum by the program over every context and every awake set."""
    rows, problem = rows_of(environment), environment.problem
    parts = [all_sets(awake) for awake in rows.awake]
    sets = len(parts[0][0])
    chances = np.concatenate(
        [p * chance for p, (_, chance) in zip(rows.probabilities, parts, strict=True)]
    )
    members = np.concatenate([members for members, _ in parts])
    values = np.repeat(rows.values, sets, axis=0)
    return by_program(chances, values, members, problem.floors, problem.plays)


@pytest.mark.parametrize("seed", range(25))
def test_combinations_of_categories_agree_with_the_program_over_everything(seed):
    environment = random_world(seed)
    expected = program_of(environment)
    if expected is None:
        with pytest.raises(InfeasibleFloors) as raised:
            find_optimum(environment)
        certificate = raised.value.certificate
        assert certificate.promised > certificate.possible
        return
    best = find_optimum(environment)
    assert best.with_floors == pytest.approx(expected, abs=1e-8)
    assert best.gap < 1e-8
    assert best.standard_error == 0.0
    assert np.all(best.rates >= environment.problem.floors - 1e-8)
    assert np.all(best.prices[best.rates > environment.problem.floors + 1e-7] == 0.0)
    assert best.without_floors >= best.with_floors - 1e-9


def test_some_of_the_random_worlds_fit_and_some_do_not():
    fits = [program_of(random_world(seed)) is not None for seed in range(25)]
    assert 5 < sum(fits) < 23


def test_a_certificate_holds_in_every_context():
    """Arms '1' and '2' are awake in the evening only: three evenings in ten, one play."""
    evening = ByCategory("evening", {"yes": 1.0, "no": 0.0})
    problem = Problem(3, plays=1, floors=[0.2, 0.2, 0.1], features={"evening": bool})
    contexts = DrawnContexts({"evening": 0.3})
    with pytest.raises(InfeasibleFloors) as raised:
        find_optimum(Environment(problem, 0.5, [evening, evening, 1.0], contexts=contexts))
    certificate = raised.value.certificate
    assert certificate.arms == ("1", "2")
    assert (certificate.promised, certificate.possible) == pytest.approx((0.4, 0.3))
    assert raised.value.floor_headroom == pytest.approx(0.75)


def test_values_that_no_context_changes_have_the_optimum_of_before(setting_1):
    problem = setting_1.problem
    personal = Problem(problem.arms, problem.plays, floors=problem.floors, features=FEATURES)
    plain = find_optimum(setting_1)
    best = find_optimum(Environment(personal, setting_1.means, setting_1.awake.probabilities))
    assert best.with_floors == pytest.approx(plain.with_floors, abs=1e-9)
    assert best.without_floors == pytest.approx(plain.without_floors, abs=1e-9)
    assert best.floor_headroom == pytest.approx(plain.floor_headroom)
    assert best.largest_common_floor == pytest.approx(plain.largest_common_floor)
    assert best.prices == pytest.approx(plain.prices, abs=1e-7)


def test_a_sample_is_within_its_standard_errors_of_a_larger_one():
    small = random_environment(np.random.default_rng(4), 5, 2, 0.8, features=2)
    given = small.problem, small.given_means, small.awake.probabilities
    small, large = (
        Environment(*given, contexts=DrawnContexts(sample=size)) for size in (2_000, 30_000)
    )
    some, many = find_optimum(small), find_optimum(large)
    assert 0.0 < many.standard_error < some.standard_error < 0.02
    assert abs(some.with_floors - many.with_floors) < 4.0 * some.standard_error
    assert some.gap < 1e-5


def test_recorded_contexts_are_exact_and_a_joint_table_is_crossed_with_them():
    rng = np.random.default_rng(2)
    rows = [{"evening": bool(rng.random() < 0.5), "land": "de"} for _ in range(4)]
    problem = Problem(3, plays=1, floors=[0.1, 0.3, 0.0], features=FEATURES)
    means = [LogisticMean(rng.normal(size=5)) for _ in range(3)]
    sets, chances = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), np.array([0.5, 0.3, 0.2])
    contexts = RecordedContexts(rows, order="resample")
    environment = Environment(problem, means, Joint(sets, chances), contexts=contexts)
    both = rows_of(environment)
    assert both.exact
    assert len(both.probabilities) == 12
    expected = by_program(both.probabilities, both.values, both.awake, problem.floors, 1)
    assert find_optimum(environment).with_floors == pytest.approx(expected, abs=1e-8)


def test_many_pairs_of_contexts_and_sets_are_sampled():
    environment = random_environment(np.random.default_rng(1), 4, 1, 0.5, features=1)
    sets = np.eye(4, dtype=int)
    joint = Joint(sets, np.full(4, 0.25))
    problem = Problem(4, 1, floors=0.1, features={"x1": (-1, 1)})
    contexts = DrawnContexts(sample=500)
    rows = rows_of(Environment(problem, environment.given_means, joint, contexts=contexts))
    assert not rows.exact
    assert len(rows.probabilities) == 500
    assert rows.availability == pytest.approx(np.full(4, 0.25), abs=0.08)


def test_contexts_and_awake_sets_of_a_sample_are_independent():
    """Arm a is worth 0.5 + 0.5 x, and awake in half the rounds whatever x is: 0.25 a round."""
    problem = Problem(["a", "b"], plays=1, features={"x": (-1, 1)})
    means = [LinearMean({"intercept": 0.5, "x": 0.5}), 0.0]
    joint = Joint([["b"], ["a", "b"]], [0.5, 0.5])
    best = find_optimum(Environment(problem, means, joint))
    assert best.with_floors == pytest.approx(0.25, abs=4.0 * best.standard_error)
    assert best.standard_error < 0.005


def test_whether_floors_fit_is_not_sampled():
    """The arm is awake in the evenings alone, three in ten, and is promised all of them."""
    evening = ByCategory("evening", {"yes": 1.0, "no": 0.0})
    features = {"age": (0, 100), "evening": bool}
    contexts = DrawnContexts({"evening": 0.3}, sample=3_000)
    for floor, fits in ((0.3, True), (0.301, False)):
        problem = Problem(2, plays=1, floors=[floor, 0.0], features=features)
        environment = Environment(problem, 0.5, [evening, 1.0], contexts=contexts)
        if fits:
            best = find_optimum(environment)
            assert best.floor_headroom == pytest.approx(1.0)
            assert best.with_floors == pytest.approx(0.5, abs=1e-6)
        else:
            with pytest.raises(InfeasibleFloors) as raised:
                find_optimum(environment)
            assert raised.value.certificate.possible == pytest.approx(0.3)


def test_an_arm_that_a_sample_never_wakes_may_have_a_floor():
    problem = Problem(["a", "b"], plays=1, floors=[0.0, 0.0001], features={"x": (-1, 1)})
    means = [LogisticMean({"x": 1.0}), 0.9]
    joint = Joint([["a"], ["a", "b"]], [0.9998, 0.0002])
    best = find_optimum(Environment(problem, means, joint, contexts=DrawnContexts(sample=2_500)))
    assert best.with_floors == pytest.approx(0.5, abs=0.03)


def test_a_trace_beside_drawn_contexts_counts_as_its_sets():
    rng = np.random.default_rng(8)
    problem = Problem(3, plays=1, floors=[0.2, 0.1, 0.0], features={"evening": bool})
    means = [ByCategory("evening", {"yes": 0.9, "no": 0.1}), 0.4, 0.2]
    rounds = rng.random((40, 3)) < 0.7
    environment = Environment(problem, means, Trace(rounds))
    rows = rows_of(environment)
    expected = by_program(rows.probabilities, rows.values, rows.awake, problem.floors, 1)
    assert find_optimum(environment).with_floors == pytest.approx(expected, abs=1e-8)


def test_more_recorded_rounds_than_the_sample_are_sampled():
    rng = np.random.default_rng(9)
    problem = Problem(2, plays=1, features={"age": (0, 1)})
    contexts = RecordedContexts(rng.random((300, 1)), sample=100)
    environment = Environment(problem, 0.5, Trace(np.ones((300, 2))), contexts=contexts)
    rows = rows_of(environment)
    assert (len(rows.values), rows.exact) == (100, False)


def test_recorded_rewards_with_contexts_have_the_optimum_of_hindsight():
    rng = np.random.default_rng(3)
    awake, rewards = rng.random((30, 3)) < 0.8, rng.random((30, 3)).round(1)
    problem = Problem(3, plays=1, floors=[0.2, 0.1, 0.1], features={"age": (0, 100)})
    contexts = RecordedContexts([{"age": 3 * number} for number in range(30)])
    environment = Environment(
        problem, availability=Trace(awake), rewards=Recorded(rewards), contexts=contexts
    )
    seen = np.where(awake, rewards, 0.0)
    expected = by_program(np.full(30, 1 / 30), seen, awake, problem.floors, 1)
    assert find_optimum(environment).with_floors == pytest.approx(expected, abs=1e-8)


def test_a_joint_table_has_all_its_sets_however_few_contexts_are_replayed():
    problem = Problem(["a", "b"], plays=1, floors={"b": 0.4}, features={"evening": bool})
    joint = Joint([["a"], ["a"], ["b"]], [0.25, 0.25, 0.5])
    contexts = RecordedContexts([{"evening": True}] * 2)
    best = find_optimum(Environment(problem, 0.5, joint, contexts=contexts))
    assert best.with_floors == pytest.approx(0.5)
    assert best.floor_headroom == pytest.approx(1.25)


def test_whether_floors_fit_many_recorded_contexts_is_not_sampled():
    evening = ByCategory("evening", {"yes": 1.0, "no": 0.0})
    rows = [{"evening": number % 5 < 2} for number in range(1_000)]
    problem = Problem(2, plays=1, floors=[0.4, 0.0], features={"evening": bool})
    contexts = RecordedContexts(rows, order="resample", sample=100)
    best = find_optimum(Environment(problem, 0.5, [evening, 1.0], contexts=contexts))
    assert best.floor_headroom == pytest.approx(1.0)


def test_equal_sets_of_a_trace_count_once():
    problem = Problem(2, plays=1, features={"evening": bool})
    rounds = np.tile([[1, 0], [1, 1]], (200, 1))
    contexts = DrawnContexts(sample=50)
    assert rows_of(Environment(problem, 0.5, Trace(rounds), contexts=contexts)).exact
