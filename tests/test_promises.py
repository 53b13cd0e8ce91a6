"""Promises: checked at the door, refused with a certificate where they can never be kept."""

from __future__ import annotations

import math
import pickle

import pytest

from evenhand import (
    Environment,
    InfeasibleFloors,
    InfeasiblePromises,
    InputError,
    Problem,
    Promise,
    find_optimum,
)

ARMS = ["farm", "dairy", "mall", "web"]
LOCAL = Promise(["farm", "dairy"], at_least=0.4, name="local")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"arms": [], "at_least": 0.1}, "arms of a promise must be at least one, got 'none'"),
        ({"arms": "farm", "at_least": 0.1}, "must be a list of names, or 'all', got 'farm'"),
        ({"arms": ["a", "a"], "at_least": 0.1}, "different names, got 'a' twice"),
        ({"arms": ["a"]}, "one with at_least, at_most or exactly"),
        ({"arms": ["a"], "at_least": 0.3, "at_most": 0.2}, "at most its at_most, 0.2, got 0.3"),
        ({"arms": ["a"], "exactly": 0.3, "at_most": 0.3}, "given by exactly, or by at_least"),
        ({"arms": ["a"], "at_least": -0.1}, "at_least of promise 'a' must be a number"),
        ({"arms": ["a"], "at_most": math.nan}, "at_most of promise 'a' must be a number"),
        ({"arms": ["a"], "at_least": 0.1, "of": "money"}, "one of 'plays', 'reward', got 'money'"),
        ({"arms": ["a"], "at_least": 0.1, "name": " "}, "name of a promise must be a non-empty"),
        ({"arms": ["a"], "at_least": 0.1, "surplus": -1}, "surplus of promise 'a' must be"),
    ],
)
def test_a_wrong_promise_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        Promise(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"promises": [Promise(["barn"], at_most=0.1)]}, "unknown arm of promise 'barn' 'barn'"),
        ({"promises": [LOCAL, LOCAL]}, "promises must have different names, got 'local' twice"),
        ({"promises": 3}, "promises must be a list of promises"),
        ({"promises": ["local"]}, "promise must be a Promise, or a table of one"),
        ({"promises": [{"at_least": 0.1}]}, "must have arms"),
        ({"promises": [{"arms": ["web"], "atleast": 1}]}, "unknown key of a promise 'atleast'"),
        (
            {"promises": [LOCAL, Promise(["dairy", "farm"], at_most=0.3, name="cap")]},
            "at_least of promise 'local' must be at most the at_most of promise 'cap' of the same",
        ),
        ({"floors": {"web": 0.3}, "ceilings": {"web": 0.2}}, "at least its floor, 0.3, got 0.2"),
        ({"ceilings": {"web": 1.2}}, "ceiling of arm 'web' must be a number in"),
        ({"allow_impossible": 1}, "allow_impossible must be true or false"),
    ],
)
def test_wrong_promises_of_a_problem_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        Problem(ARMS, plays=1, **given)


def test_floors_that_can_never_fit_are_refused_with_their_certificate():
    with pytest.raises(
        InfeasibleFloors, match=r"promised 1\.4 plays a round, but at most 1"
    ) as found:
        Problem(["a", "b"], plays=1, floors=0.7)
    assert found.value.certificate.promised == pytest.approx(1.4)
    assert found.value.floor_headroom == pytest.approx(1 / 1.4)
    assert Problem(["a", "b"], plays=1, floors=0.7, allow_impossible=True).floors[0] == 0.7


def test_the_certificate_names_who_excludes_whom_and_nobody_else():
    others = [Promise(["web"], at_least=0.1, name="web"), Promise("all", at_most=0.9, name="cap")]
    with pytest.raises(InfeasiblePromises) as found:
        Problem(ARMS, 1, ceilings={"farm": 0.2, "dairy": 0.15}, promises=[LOCAL, *others])
    assert str(found.value) == (
        "The promises cannot all be kept: 'local' needs 0.4 plays a round, but its arms may have "
        "at most 0.35: 'farm' at most 0.2, 'dairy' at most 0.15."
    )
    certificate = found.value.certificate
    assert set(certificate.promises) == {"local", "ceiling of farm", "ceiling of dairy"}
    assert (certificate.promised, certificate.possible) == pytest.approx((0.4, 0.35))
    assert found.value.as_json()["certificate"]["promises"] == list(certificate.promises)
    assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)


def test_overlapping_groups_that_share_too_little_are_refused():
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    promises = [Promise(pair, at_least=0.8, name="+".join(pair)) for pair in pairs]
    with pytest.raises(
        InfeasiblePromises, match=r"need 2\.4 plays a round together, but at most 2"
    ):
        Problem(["a", "b", "c"], plays=1, promises=promises)


def test_a_group_may_be_promised_more_than_one_play_up_to_all_of_them():
    Problem(ARMS, plays=3, promises=[Promise(["farm", "dairy", "web"], at_least=2.5)])
    with pytest.raises(InfeasiblePromises, match=r"needs 2\.5 plays a round, but at most 2 can be"):
        Problem(ARMS, plays=2, promises=[Promise(["farm", "dairy", "web"], at_least=2.5)])


def test_a_reward_beyond_the_largest_mean_is_refused():
    with pytest.raises(InfeasiblePromises, match=r"needs 2\.5 reward a round"):
        Problem(["a", "b"], 1, weights=2.0, promises=[Promise(["a"], at_least=2.5, of="reward")])
    Problem(["a", "b"], 1, weights=2.0, promises=[Promise(["a"], at_least=1.9, of="reward")])


def test_names_are_made_from_the_arms_and_differ():
    promises = [Promise(["web"], at_most=0.5), Promise(["web"], at_least=0.1), Promise("all", 0.2)]
    problem = Problem(ARMS, plays=1, promises=promises)
    assert [promise.name for promise in problem.promises] == ["web", "web (2)", "all arms"]


def test_a_problem_with_promises_comes_back_from_toml_and_from_a_pickle():
    promises = [
        LOCAL,
        Promise(["web"], exactly=0.1, surplus=5),
        Promise("all", at_most=0.9, surplus="inf", name='odd "name"'),
        Promise(["mall"], at_least=0.05, at_most=0.6, of="reward"),
    ]
    problem = Problem(ARMS, 1, floors={"web": 0.05}, ceilings={"farm": 0.3}, promises=promises)
    assert Problem.from_toml(problem.to_toml()) == problem
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert problem != Problem(ARMS, 1, floors={"web": 0.05}, ceilings={"farm": 0.3})
    impossible = Problem(["a", "b"], 1, floors=0.7, allow_impossible=True)
    assert Problem.from_toml(impossible.to_toml()) == impossible


def test_the_optimum_by_hand():
    """One play, all awake: c is worth most, but has at most 0.5, and the group at least 0.3."""
    group = Promise(["a", "b"], at_least=0.3, name="group")
    problem = Problem(["a", "b", "c", "d"], 1, ceilings={"c": 0.5}, promises=[group])
    best = find_optimum(Environment(problem, [0.2, 0.4, 0.9, 0.6]))
    assert best.with_floors == pytest.approx(0.5 * 0.9 + 0.3 * 0.4 + 0.2 * 0.6)
    assert best.without_floors == pytest.approx(0.9)
    assert best.rates == pytest.approx([0.0, 0.3, 0.5, 0.2])
    ceiling, floor = best.promises
    # A unit more for c takes it from d, and a unit more for the group does, too.
    assert (ceiling.name, ceiling.price) == ("ceiling of c", pytest.approx(-0.3))
    assert (floor.rate, floor.price) == (pytest.approx(0.3), pytest.approx(0.2))
    assert best.floor_headroom == pytest.approx(1 / 0.3)


def test_a_promise_may_not_have_the_name_of_a_ceiling():
    with pytest.raises(InputError, match="not that of an arm's floor or ceiling"):
        Problem(ARMS, 1, promises=[Promise(["web"], at_most=0.7, name="ceiling of farm")])


def test_contradictions_pass_where_a_shortage_is_to_be_shared():
    both = [Promise(["web"], at_least=0.5, name="x"), Promise(["web"], at_most=0.2, name="y")]
    Problem(ARMS, 1, floors={"farm": 0.3}, ceilings={"farm": 0.2}, promises=both,
            allow_impossible=True)  # fmt: skip


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6, 1e12])
def test_sizes_of_rewards_do_not_matter(scale):
    paid = Promise(["a"], at_least=0.3 * scale, of="reward", name="paid")
    problem = Problem(["a", "b"], 1, weights=[scale, 1.0], promises=[paid])
    best = find_optimum(Environment(problem, 0.5, 0.9))
    assert best.promises[0].rate > 0.3 * scale * (1 - 1e-6)
    too_much = Promise(["a"], at_least=0.7 * scale, of="reward", name="paid")
    other = Promise(["b"], at_least=0.6, name="other")
    with pytest.raises(InfeasiblePromises, match=r"'paid'.*'other'"):
        Problem(["a", "b"], 1, weights=[scale, 1.0], promises=[too_much, other])


@pytest.mark.parametrize("least", [1.1, 1e9, 1e20, 1e90])
def test_no_bound_is_too_large_to_be_refused(least):
    with pytest.raises(InfeasiblePromises, match="at most 1 can be given"):
        Problem(["a", "b"], 1, promises=[Promise(["a"], at_least=least, name="x")])
