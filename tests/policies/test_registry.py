"""Checks that every registered policy passes, whoever wrote it."""

from __future__ import annotations

import ast
import inspect
import math
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from evenhand import InputError, Policy, Problem, make_policy
from evenhand.optimum import Awake
from evenhand.policies import PolicySetup
from evenhand.policies.families import WithEta
from evenhand.policies.policy import plain
from evenhand.policies.registry import BUILT_IN

REGISTRY = {policy.name: policy for policy in BUILT_IN}
ALL = list(REGISTRY)
PROBLEM = Problem(3, plays=2, floors=0.2)
SECRETS = PROBLEM.floors, Awake(np.ones(3))


def test_the_promised_policies_are_there():
    promised = [
        "priced",
        "tscsf-b",
        "lfg",
        "thompson",
        "ucb",
        "oracle",
        "cl-sg",
        "floor-first",
        "uniform",
        "fair-learn",
        "pessimistic",
        "ucb-lp",
        "simplex-mixture",
        "strict-rate",
    ]
    assert set(promised) <= set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_it_is_frozen_keyword_only_and_has_defaults(name):
    policy = make_policy(name)
    assert all(field.kw_only for field in fields(policy))
    with pytest.raises(FrozenInstanceError):
        policy.label_of_nothing = 1


@pytest.mark.parametrize("name", ALL)
def test_it_says_in_one_line_what_it_does_and_gives_formula_and_example(name):
    text = inspect.getdoc(REGISTRY[name])
    assert 10 < len(make_policy(name).summary) < 90
    assert ".. math::" in text
    assert ">>>" in text


@pytest.mark.parametrize("name", ALL)
def test_its_scoring_function_is_plain(name):
    """No numba, and no reductions that NumPy and numba add up in different orders."""
    assert "numba" not in inspect.getsource(inspect.getmodule(REGISTRY[name].score))
    source = inspect.getsource(REGISTRY[name].score)
    called = {
        node.func.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert not called & {"sum", "mean", "dot", "prod", "cumsum"}


@pytest.mark.parametrize("name", ALL)
def test_its_label_is_its_name_while_all_parameters_are_at_their_defaults(name):
    assert make_policy(name).label() == name


@pytest.mark.parametrize("name", ALL)
def test_an_unknown_parameter_is_refused(name):
    with pytest.raises(InputError, match=f"unknown parameter of policy '{name}' 'etta'"):
        make_policy(name, etta=1)


WITH_ETA = [name for name, policy in REGISTRY.items() if issubclass(policy, WithEta)]


@pytest.mark.parametrize("name", WITH_ETA)
@pytest.mark.parametrize("eta", [0, -1, float("nan"), "big", True, None])
def test_eta_must_be_positive(name, eta):
    with pytest.raises(InputError, match=f"eta of policy '{name}' must be a number above 0"):
        make_policy(name, eta=eta)


@pytest.mark.parametrize("name", WITH_ETA)
def test_the_papers_eta_depends_on_the_horizon(name):
    policy = make_policy(name, eta="paper")
    situation = PolicySetup(Problem(6, plays=3), 20_000, *SECRETS)
    assert policy.constants(situation).eta == pytest.approx(63.55, abs=0.005)
    with pytest.raises(InputError, match="needs a horizon"):
        policy.constants(PolicySetup(PROBLEM, None, *SECRETS))


WITH_SURPLUS = [name for name in ALL if "surplus" in make_policy(name).parameters()]


@pytest.mark.parametrize("name", WITH_SURPLUS)
def test_a_surplus_is_a_number_of_plays_or_the_name_of_a_form_of_debt(name):
    for given, surplus in ((0, 0.0), (2.5, 2.5), ("inf", math.inf), (math.inf, math.inf)):
        policy = make_policy(name, surplus=given)
        assert policy.surplus == policy.options.surplus == surplus
        assert policy.adds_up is (surplus == math.inf)
    for word, surplus in (("reflected", 0.0), ("cumulative", math.inf)):
        assert make_policy(name, debt=word) == make_policy(name, surplus=word)
        assert make_policy(name, surplus=word).surplus == surplus
    for wrong in (-1, math.nan, "x", None, True):
        with pytest.raises(InputError, match=f"surplus of policy '{name}' must be a number of"):
            make_policy(name, surplus=wrong)
    with pytest.raises(InputError, match="must be one of 'cumulative', 'reflected', got 'x'"):
        make_policy(name, debt="x")
    with pytest.raises(InputError, match="unknown parameter of policy"):
        make_policy(name, debt="reflected", surplus=0)


def test_every_policy_with_debts_has_a_surplus():
    debts = {"priced", "tscsf-b", "lfg", "cl-sg", "oracle", "floor-first", "pessimistic"}
    assert set(WITH_SURPLUS) == {*debts, "fair-learn", "banditq"}


@pytest.mark.parametrize("name", [n for n in ALL if "rewards" in make_policy(n).parameters()])
def test_rewards_are_learned_in_one_of_two_forms(name):
    assert make_policy(name, rewards="binarised").options.binarised
    assert not make_policy(name).options.binarised
    with pytest.raises(InputError, match="must be one of 'fractional', 'binarised', got 'x'"):
        make_policy(name, rewards="x")


def test_infinity_may_be_a_word():
    assert make_policy("lfg", eta="inf") == make_policy("lfg", eta=float("inf"))


def test_an_unknown_policy_is_answered_with_the_nearest_one():
    with pytest.raises(InputError, match="unknown policy 'tscfs-b'; did you mean 'tscsf-b'"):
        make_policy("tscfs-b")


def test_the_defaults_are_those_of_the_publications():
    assert make_policy("tscsf-b").surplus == math.inf
    assert make_policy("lfg").surplus == 0.0
    assert make_policy("pessimistic").surplus == 0.0


def test_gamma_must_be_above_zero():
    with pytest.raises(InputError, match="gamma of policy 'cl-sg' must be a number above 0, got 0"):
        make_policy("cl-sg", gamma=0)


def test_a_label_has_eta_before_the_others():
    policy = make_policy("tscsf-b", eta=1000, surplus=0)
    assert policy.label() == "tscsf-b eta=1000 surplus=0"


def test_a_policy_must_have_a_scoring_function():
    with pytest.raises(TypeError, match="abstract"):
        Policy()


def test_just_those_that_are_told_natures_secrets_know_them():
    knowing = {name for name in ALL if REGISTRY[name].knows_nature}
    assert knowing == {"oracle", "opt-f", "opt-nf"}
    for name in knowing:
        with pytest.raises(InputError, match="knows nature's secrets: it can only be simulated"):
            make_policy(name).constants(PolicySetup(PROBLEM))


def test_parameters_as_plain_data_have_a_word_for_infinity():
    assert plain({"eta": float("inf"), "gamma": 2.0}) == {"eta": "inf", "gamma": 2.0}


def test_defaults_are_those_that_the_documentation_names():
    every = {"exploration": 0.0, "eta": 10.0}
    assert make_policy("cl-sg").parameters() == {**every, "surplus": math.inf, "gamma": 1.0}
    beliefs = {"belief": "auto", "width": "auto", "ridge": 1.0}
    assert make_policy("lfg").parameters() == {**every, "surplus": 0.0, **beliefs}
    assert make_policy("thompson").parameters() == {
        "exploration": 0.0,
        **beliefs,
        "rewards": "fractional",
        "half_life": float("inf"),
    }


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("uniform", "it looks at no rewards"),
        ("oracle", "it knows the means"),
        ("ucb-lp", "its program has one value for each arm"),
        ("cl-sg", "its estimates have one mean for each arm"),
    ],
)
def test_a_policy_without_a_belief_says_why(name, why):
    with pytest.raises(InputError, match=f"belief of policy '{name}' must be left out: {why}"):
        make_policy(name, belief="linear")
