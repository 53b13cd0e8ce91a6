"""Problem: checked at the door, scalars stand for all arms, TOML out and in again."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import InputError, Problem
from evenhand.problem import parse_toml

arm_names = st.lists(
    st.text(min_size=1, max_size=8).filter(lambda s: s.strip() and s.isprintable()),
    min_size=1,
    max_size=6,
    unique=True,
)


def test_scalars_stand_for_all_arms():
    problem = Problem(["a", "b"], plays=1, weights=2, floors=0.25)
    assert problem.weights.tolist() == [2.0, 2.0]
    assert problem.floors.tolist() == [0.25, 0.25]


def test_floors_and_weights_may_be_mappings():
    problem = Problem(["a", "b", "c"], plays=1, floors={"b": 0.3}, weights={"c": 2})
    assert problem.floors.tolist() == [0.0, 0.3, 0.0]
    assert problem.weights.tolist() == [1.0, 1.0, 2.0]
    with pytest.raises(InputError, match="unknown arm with a floor 'bb'; did you mean 'b'"):
        Problem(["a", "b"], plays=1, floors={"bb": 0.3})
    with pytest.raises(InputError, match="floor of arm 'b' must be a number in"):
        Problem(["a", "b"], plays=1, floors={"b": 1.3})


def test_more_plays_than_arms_are_refused_unless_arms_have_left():
    with pytest.raises(InputError, match="plays must be at most the number of arms, 2, got 3"):
        Problem(["a", "b"], plays=3)
    left = Problem.of_arms_left(("a", "b"), 3, 1.0, 0.0)
    assert left.plays == 3
    assert pickle.loads(pickle.dumps(left)) == left


def test_a_number_of_arms_gives_them_numbers_for_names():
    assert Problem(3, plays=1).arms == ("1", "2", "3")


def test_arrays_are_copies_that_cannot_be_written():
    floors = np.array([0.1, 0.2])
    problem = Problem(["a", "b"], plays=1, floors=floors)
    floors[0] = 0.9
    assert problem.floors[0] == 0.1
    with pytest.raises(ValueError, match="read-only"):
        problem.floors[0] = 0.5


@given(
    arms=arm_names,
    plays=st.integers(1, 10),
    data=st.data(),
)
def test_toml_gives_back_the_same_problem(arms, plays, data):
    values = st.lists(st.floats(0, 1), min_size=len(arms), max_size=len(arms))
    plays = min(plays, len(arms))
    given = {"weights": data.draw(values), "floors": data.draw(values)}
    problem = Problem(arms, plays, **given, allow_impossible=True)
    assert Problem.from_toml(problem.to_toml()) == problem


@pytest.mark.parametrize("name", ['quo"te', "back\\slash", "ünï", "a.b = 3", ":cat:", "#"])
def test_toml_survives_odd_names(name):
    problem = Problem([name, "other"], plays=1)
    assert Problem.from_toml(problem.to_toml()) == problem


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"floors": [0.3, 1.3]}, r"floor of arm 'alien' must be a number in \[0, 1\], got 1.3"),
        ({"floors": -0.1}, r"floor of arm 'casablanca' must be .* got -0.1"),
        ({"floors": math.nan}, r"floor of arm 'casablanca' must be .* got nan"),
        ({"floors": [0.1, "x"]}, r"floor of arm 'alien' must be .* got 'x'"),
        ({"floors": [0.1, True]}, r"floor of arm 'alien' must be .* got True"),
        ({"floors": [0.1]}, r"floor must be one number, or one for each of 2 arms"),
        ({"weights": [1, -2]}, r"weight of arm 'alien' must be a number in \[0, 1e100\], got -2"),
        ({"weights": math.inf}, r"weight of arm 'casablanca' must be .* got inf"),
        ({"plays": 0}, r"plays must be a whole number of at least 1, got 0"),
        ({"plays": 1.5}, r"plays must be a whole number of at least 1, got 1.5"),
        ({"plays": True}, r"plays must be a whole number of at least 1, got True"),
        ({"arms": []}, r"arms must be at least one, got 'none'"),
        ({"arms": ["a", "a"]}, r"arms must have different names, got 'a' twice"),
        ({"arms": ["a", " "]}, r"name of arm number 2 must be a non-empty string .*, got ' '"),
        ({"arms": ["a", 3]}, r"name of arm number 2 must be a non-empty string .*, got 3"),
        ({"arms": ["a", "b\n"]}, r"name of arm number 2 must be .* printable characters"),
        ({"floors": 10**400}, r"floor of arm 'casablanca' must be"),
        ({"plays": 10**30}, r"plays must be a whole number of at most"),
        ({"arms": "ab"}, r"arms must be"),
    ],
)
def test_bad_input_names_the_thing_the_rule_and_the_value(arguments, message):
    good = {"arms": ["casablanca", "alien"], "plays": 1}
    with pytest.raises(InputError, match=message):
        Problem(**{**good, **arguments})


def test_names_may_come_as_an_array():
    assert Problem(np.array(["a", "b"]), plays=1).arms == ("a", "b")


@pytest.mark.parametrize("text", ["x = " + "1" * 5_000, "x = " + "[" * 5_000])
def test_monstrous_toml_is_refused(text):
    with pytest.raises(InputError, match="not valid TOML"):
        parse_toml(text)


def test_broken_toml_names_line_and_column():
    with pytest.raises(InputError, match="line 2, column 7"):
        parse_toml("plays = 2\nfloor 0.3\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plays = 1", r"at least one \[\[arms\]\] table"),
        ("[[arms]]\nname = 'a'", "must say plays"),
        ("plays = 1\n[[arms]]\nfloor = 0.1", "arm number 1 must have a name"),
        ("plays = 1\n[[arms]]\nname = 'a'\nflor = 0.1", "did you mean 'floor'"),
    ],
)
def test_incomplete_files_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        Problem.from_toml(text)
