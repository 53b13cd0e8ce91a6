"""A context is checked feature by feature, and becomes numbers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from evenhand import Environment, InputError, Problem, simulate
from evenhand.features import Features
from evenhand.files.describe import describe_environment
from evenhand.service.engine.config_version import serving_policy

DECLARED = {"age": (0, 100), "evening": bool, "country": ["de", "fr", "it"]}
GOOD = {"age": 75, "evening": False, "country": "it"}


def test_numbers_are_scaled_and_categories_have_a_column_each():
    features = Features(DECLARED)
    assert features.columns == (
        "intercept", "age", "evening", "country=de", "country=fr", "country=it",
    )  # fmt: skip
    assert features.encode(GOOD).tolist() == [1.0, 0.5, -1.0, 0.0, 0.0, 1.0]
    assert features.owners == ("intercept", "age", "evening", "country", "country", "country")


@pytest.mark.parametrize("given", [[75, 0, 2], (75.0, False, 2), np.array([75.0, 0.0, 2.0])])
def test_an_array_is_in_the_declared_order(given):
    assert Features(DECLARED).encode(given).tolist() == [1.0, 0.5, -1.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"age": 101}, "feature 'age' of the context must be in [0, 100], got 101"),
        ({"age": float("nan")}, "feature 'age' of the context must be a finite number, got nan"),
        ({"age": "old"}, "feature 'age' of the context must be a finite number, got 'old'"),
        ({"age": None}, "feature 'age' of the context must be a finite number, got None"),
        ({"evening": 2}, "feature 'evening' of the context must be True or False, got 2"),
        ({"country": "uk"}, "feature 'country' of the context must be one of 'de', 'fr', 'it'"),
        ({"land": "de"}, "unknown feature of the context 'land'"),
    ],
)
def test_a_bad_value_is_named_with_its_feature_and_rule(change, words):
    with pytest.raises(InputError) as refused:
        Features(DECLARED).encode({**GOOD, **change})
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (None, "context must be given"),
        ({"age": 3, "evening": True}, "feature 'country' of the context must be given"),
        ([1, 2], "one number for each of 3 features, got '2 numbers'"),
        ([[1, 0, 2]], "one number for each of 3 features"),
        ([75, 0, 7], "the index of a category, 0 to 2"),
        ([75, 0, 0.5], "the index of a category"),
        ("75", "a mapping from features to values, or an array"),
        (7, "a mapping from features to values, or an array"),
    ],
)
def test_a_context_of_another_shape_is_refused(context, words):
    with pytest.raises(InputError) as refused:
        Features(DECLARED).encode(context)
    assert words in str(refused.value)


def test_a_number_beyond_its_range_counts_as_the_nearest_if_that_is_asked_for():
    features = Features({"age": (0, 100, "clip")})
    assert features.encode({"age": 250}).tolist() == [1.0, 1.0]
    assert features.encode({"age": -3}).tolist() == [1.0, -1.0]


def test_without_features_there_is_no_context():
    assert Features().encode(None).tolist() == [1.0]
    with pytest.raises(InputError, match="left out: the problem has no features"):
        Features().encode({"age": 3})


@pytest.mark.parametrize(
    "declared",
    [
        {"age": (100, 0)},
        {"age": (0, 0)},
        {"age": (0, float("inf"))},
        {"age": (-1e308, 1e308)},
        {"age": (0,)},
        {"age": (0, 1, "cut")},
        {"age": []},
        {"age": 7},
        {"age": int},
        {"country": ["de"]},
        {"country": ["de", "de"]},
        {"country": ["de", 7]},
        {"intercept": bool},
        {"": bool},
        {7: bool},
        ["age"],
        {"a": ["b", "c"], "a=b": bool},
    ],
)
def test_a_wrong_declaration_is_refused(declared):
    with pytest.raises(InputError):
        Features(declared)


def test_a_problem_keeps_features_and_priors_in_files_and_pickles():
    features = {**DECLARED, "hour": (0, 24, "clip")}
    problem = Problem(["a", 'b "'], plays=1, features=features, priors={'b "': (0.3, 20)})
    assert Problem.from_toml(problem.to_toml()) == problem
    assert pickle.loads(pickle.dumps(problem)) == problem
    text = 'plays = 1\n[features]\nage = [0, 100]\nevening = "yes/no"\ncountry = ["de", "fr"]\n'
    text += '[[arms]]\nname = "a"\nprior = [0.25, 8]\n'
    read = Problem.from_toml(text)
    assert read.features == Features({"age": (0, 100), "evening": bool, "country": ["de", "fr"]})
    assert read.priors == {"a": (0.25, 8.0)}
    assert Problem(["a"], plays=1, features=DECLARED) != Problem(["a"], plays=1)


def test_a_simulation_begins_with_the_priors():
    problem = Problem(["a", "b"], plays=1, priors={"b": (0.9, 50)})
    environment = Environment(problem, [0.5, 0.1])
    known, unknown = (
        simulate(nature, ["thompson"], horizon=10, replications=50, seed=1, progress=False)
        for nature in (environment, Environment(Problem(["a", "b"], plays=1), [0.5, 0.1]))
    )
    assert known.rates("thompson")["b"] > unknown.rates("thompson")["b"] + 0.2
    assert describe_environment(environment)["arms"][1]["prior"] == [0.9, 50.0]


def test_the_service_has_no_contexts_yet():
    for spec in ({"belief": "linear"}, {"prices": "sample"}):
        with pytest.raises(InputError, match="the service"):
            serving_policy({"name": "priced", **spec})


@pytest.mark.parametrize(
    "priors",
    [{"c": (0.5, 1)}, {"a": 0.5}, {"a": (2, 1)}, {"a": (0.5, -1)}, {"a": (0.5, 1, 2)}, [1]],
)
def test_a_wrong_prior_is_refused(priors):
    with pytest.raises(InputError):
        Problem(["a", "b"], plays=1, priors=priors)
