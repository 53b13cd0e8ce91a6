"""Contexts as they are drawn and recorded, and what arms return in them."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evenhand import (
    ByCategory,
    DrawnContexts,
    Environment,
    InputError,
    LinearMean,
    LogisticMean,
    Problem,
    RecordedContexts,
    Trace,
)
from evenhand.core.contexts import draw_context
from evenhand.environment import Change
from evenhand.features import Features

FEATURES = Features({"age": (0, 100), "evening": bool, "land": ["de", "fr", "it"]})
PROBLEM = Problem(["a", "b"], plays=1, features=FEATURES)


def drawn(contexts, count=20_000):
    rng, rows = np.random.default_rng(1), np.empty((count, len(FEATURES.columns)))
    arrays = contexts.arrays(FEATURES)
    for number in range(count):
        draw_context(rows[number], arrays, number, rng)
    return rows


def test_left_out_features_are_uniform():
    rows = drawn(DrawnContexts())
    assert np.all(rows[:, 0] == 1.0)
    assert rows[:, 1].mean() == pytest.approx(0.0, abs=0.02)
    assert rows[:, 1].var() == pytest.approx(1 / 3, abs=0.01)
    assert np.all(np.abs(rows[:, 2]) == 1.0)
    assert rows[:, 2].mean() == pytest.approx(0.0, abs=0.03)
    assert rows[:, 3:].mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.02)


def test_numbers_are_normal_within_their_range_and_categories_have_their_probabilities():
    given = {"age": {"mean": 30, "sd": 20}, "evening": 0.2, "land": {"de": 0.7, "it": 0.3}}
    rows = drawn(DrawnContexts(given))
    ages = 50.0 * (rows[:, 1] + 1.0)
    assert ages.min() >= 0.0
    assert ages.max() <= 100.0
    # A normal number cut off at 1.5 standard deviations below: mean and deviation by hand.
    assert ages.mean() == pytest.approx(32.77, abs=0.5)
    assert ages.std() == pytest.approx(17.7, abs=0.5)
    assert (rows[:, 2] == 1.0).mean() == pytest.approx(0.2, abs=0.01)
    assert rows[:, 3:].mean(axis=0) == pytest.approx([0.7, 0.0, 0.3], abs=0.02)
    assert np.all(rows[:, 3:].sum(axis=1) == 1.0)


def test_recorded_contexts_are_replayed_or_drawn_from():
    frame = pl.DataFrame(
        {"age": [0.0, 50.0], "evening": [True, False], "land": ["fr", "it"], "other": [1, 2]}
    )
    rows = [[1.0, -1.0, 1.0, 0.0, 1.0, 0.0], [1.0, 0.0, -1.0, 0.0, 0.0, 1.0]]
    assert drawn(RecordedContexts(frame), 2).tolist() == rows
    assert drawn(RecordedContexts(pd.DataFrame(frame.to_dicts())), 2).tolist() == rows
    assert drawn(RecordedContexts(np.array([[0, 1, 1], [50, 0, 2]])), 2).tolist() == rows
    again = drawn(RecordedContexts(frame.to_dicts(), order="resample"), 2_000)
    assert (again == rows[0]).all(axis=1).mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"aeg": "uniform"}, "unknown feature that is drawn 'aeg'; did you mean 'age'"),
        ({"age": "normal"}, "contexts of feature 'age' must be 'uniform', or a mapping"),
        ({"age": {"mean": 40}}, "must be 'uniform', or a mapping with mean and sd"),
        ({"age": {"mean": 140, "sd": 1}}, r"mean of .* must be a number in \[0, 100\], got 140"),
        ({"age": {"mean": 40, "sd": 0}}, "sd of .* must be a number above 0, got 0"),
        ({"age": {"mean": 40, "sd": 101}}, "at most the width of its range, 100"),
        ({"evening": 1.5}, r"'evening' must be a number in \[0, 1\], got 1.5"),
        ({"land": [0.5, 0.5]}, "one for each of 3 categories, got '2 numbers'"),
        ({"land": {"de": 0.5, "fr": 0.4}}, "the sum of the contexts of feature 'land' must be 1"),
        ({"land": {"es": 1.0}}, "unknown category with a .* 'es'"),
        ({"land": 0.5}, "a mapping from categories to probabilities"),
    ],
)
def test_wrong_distributions_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        Environment(PROBLEM, 0.5, contexts=DrawnContexts(given))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "recorded contexts must be at least one row, got 'none'"),
        ([{"age": 3}], "row 1 of the recorded contexts: feature 'evening' of the context"),
        ([{"age": 300, "evening": True, "land": "de"}], r"must be in \[0, 100\], got 300"),
        ([{"age": 3, "evening": True, "land": "es"}], "must be one of 'de', 'fr', 'it', got 'es'"),
        ("visitors", "recorded contexts must be a polars or pandas frame"),
    ],
)
def test_wrong_records_are_refused(rows, message):
    with pytest.raises(InputError, match=message):
        Environment(PROBLEM, 0.5, contexts=RecordedContexts(rows))


@pytest.mark.parametrize(
    ("means", "message"),
    [
        ([0.5, LinearMean({"intercept": 0.9, "age": 0.2})], "linear mean of arm 'b' must be in"),
        ([0.5, LinearMean({"land=de": 1.2})], r"got '0 to 1.2'"),
        ([0.5, LinearMean({"height": 0.2})], "unknown column with a coefficient 'height'"),
        ([0.5, LogisticMean([1, 2])], "one for each of intercept, age"),
        (
            [0.5, LogisticMean({"age": float("nan")})],
            "mean of arm 'b': coefficient of 'age' must be a finite",
        ),
        ([0.5, ByCategory("age", {"de": 0.2})], "those of a category or of yes/no"),
        (
            [0.5, ByCategory("land", {"de": 0.2})],
            "mean of arm 'b': values by 'land' .* \"none for 'fr'\"",
        ),
        (
            [0.5, ByCategory("land", {"de": 0.2, "fr": 0.2, "it": 2})],
            r"mean of arm 'b': value for 'it' must be a number in \[0, 1\], got 2",
        ),
        (ByCategory("land", {"de": [0.2], "fr": 0.2, "it": 0}), "one for each of 2 arms, got"),
        ([0.5, 1.5], r"mean of arm 'b' must be a number in \[0, 1\], got 1.5"),
        ([0.5], "one for each of 2 arms"),
        ({"a": 0.5}, "mean of arm 'b' must be given"),
    ],
)
def test_wrong_means_are_refused(means, message):
    with pytest.raises(InputError, match=message):
        Environment(PROBLEM, means)


def test_an_availability_depends_on_a_category_alone():
    with pytest.raises(InputError, match="availability of arm 'b' must be a number, or ByCategory"):
        Environment(PROBLEM, 0.5, [1.0, LogisticMean({"age": 1.0})])


def test_what_depends_on_a_context_needs_features():
    plain, by_land = Problem(["a", "b"], plays=1), ByCategory("land", {"de": 0.2})
    for given in ({"means": [0.5, by_land]}, {"means": 0.5, "availability": [1.0, by_land]}):
        with pytest.raises(InputError, match="numbers: the problem has no features"):
            Environment(plain, **given)
    with pytest.raises(InputError, match="left out: the problem has no features"):
        Environment(plain, 0.5, contexts=DrawnContexts())
    with pytest.raises(InputError, match="without changes"):
        Environment(PROBLEM, 0.5, changes=[Change(10, [0.5, 0.4])])


def test_means_are_those_over_all_contexts():
    evening = ByCategory("evening", {True: 0.9, False: 0.1})
    problem = Problem(["a", "b"], plays=1, features={"evening": bool})
    environment = Environment(problem, [evening, 0.3], contexts=DrawnContexts({"evening": 0.25}))
    assert environment.means == pytest.approx([0.3, 0.3])


def test_a_table_by_category_may_have_a_number_for_each_arm():
    problem = Problem(["a", "b"], plays=1, features={"evening": bool})
    means = ByCategory("evening", {"yes": [0.9, 0.5], "no": {"a": 0.1, "b": 0.1}})
    contexts = DrawnContexts({"evening": 0.5})
    assert Environment(problem, means, contexts=contexts).means == pytest.approx([0.5, 0.3])


def test_an_environment_with_contexts_is_pickled_and_cut():
    rows = [{"age": 10 * number, "evening": True, "land": "de"} for number in range(5)]
    given = [LogisticMean({"age": 2.0}), 0.5]
    environment = Environment(
        PROBLEM, given, Trace(np.ones((4, 2))), contexts=RecordedContexts(rows)
    )
    assert environment.longest_horizon == 4
    again = pickle.loads(pickle.dumps(environment))
    for mine, theirs in zip(again.contextual, environment.contextual, strict=True):
        assert np.array_equal(mine, theirs)
    shorter = environment.of_rounds(3)
    assert shorter.longest_horizon == 3
    assert shorter.means[0] < environment.means[0]


def test_what_is_changed_after_the_check_changes_nothing():
    means, table = np.array([0.2, 0.5]), {"yes": 0.9, "no": 0.1}
    plain = Environment(Problem(["a", "b"], plays=1), means)
    problem = Problem(["a", "b"], plays=1, features={"evening": bool})
    drawn = {"evening": 0.5}
    contextual = Environment(
        problem, [0.3, ByCategory("evening", table)], contexts=DrawnContexts(drawn)
    )
    before = plain.means.tolist(), contextual.means.tolist()
    means[0], table["yes"], drawn["evening"] = 0.9, 0.0, 1.0
    for environment, wanted in zip((plain, contextual), before, strict=True):
        again = pickle.loads(pickle.dumps(environment))
        assert again.means.tolist() == pytest.approx(wanted)


def test_a_table_by_category_of_many_arms_is_quick():
    arms, categories = 2_000, [f"c{number}" for number in range(20)]
    problem = Problem(arms, plays=1, features={"kind": categories})
    means = ByCategory("kind", dict.fromkeys(categories, [0.5] * arms))
    start = time.perf_counter()
    Environment(problem, means)
    assert time.perf_counter() - start < 3.0


def test_only_what_is_played_of_replayed_contexts_counts():
    """Four yes and ninety-six no, of which a trace of four rounds plays the first."""
    rows = [{"evening": number < 4} for number in range(100)]
    problem = Problem(["a", "b"], plays=1, features={"evening": bool})
    means = [ByCategory("evening", {"yes": 1.0, "no": 0.0}), 0.5]
    trace = Trace(np.ones((4, 2)))
    for order, wanted in (("replay", 1.0), ("resample", 0.04)):
        contexts = RecordedContexts(rows, order=order)
        assert Environment(problem, means, trace, contexts=contexts).means[0] == pytest.approx(
            wanted
        )
