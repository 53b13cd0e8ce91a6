"""Awake sets: drawn with the stated chances, replayed in order, checked at the door."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import Independent, InputError, Joint, Trace
from evenhand.core.nature import draw_awake

ARMS = ("a", "b", "c")


def awake_sets(availability, rounds, seed=1):
    sets = availability.arrays(ARMS)
    rng, awake = np.random.default_rng(seed), np.empty(len(ARMS), dtype=np.int64)
    return [awake[: draw_awake(awake, sets, now, rng)].tolist() for now in range(rounds)]


def test_independent_arms_are_awake_exactly_when_their_uniform_number_is_below():
    probabilities = np.array([0.9, 0.5, 0.2])
    uniform = np.random.default_rng(1).random((50, 3))
    expected = [np.flatnonzero(row < probabilities).tolist() for row in uniform]
    assert awake_sets(Independent(probabilities), 50) == expected


def test_certain_and_impossible_arms():
    assert awake_sets(Independent([1.0, 0.0, 1.0]), 200) == [[0, 2]] * 200


def test_joint_sets_appear_with_their_probabilities():
    table = Joint([["a", "b"], [], ["c"], ["a"]], [0.5, 0.2, 0.0, 0.3])
    drawn = awake_sets(table, 20_000)
    shares = [drawn.count(s) / len(drawn) for s in ([0, 1], [], [2], [0])]
    # Five standard deviations of a share of 20,000 draws are below 0.018.
    assert shares == pytest.approx([0.5, 0.2, 0.0, 0.3], abs=0.018)
    assert shares[2] == 0.0


def test_a_trace_is_replayed_in_order():
    assert awake_sets(Trace([[1, 0, 1], [0, 0, 0], [1, 1, 1]]), 3) == [[0, 2], [], [0, 1, 2]]


def test_a_trace_may_name_its_arms():
    assert awake_sets(Trace([["c"], [], ["a", "b"]]), 3) == [[2], [], [0, 1]]


def test_the_given_table_is_neither_changed_nor_frozen():
    table = np.ones((2, 3), dtype=bool)
    Trace(table).arrays(ARMS)
    table[0, 0] = False


@pytest.mark.parametrize(
    ("availability", "message"),
    [
        (Independent([0.5, 0.5, 1.5]), r"availability of arm 'c' must be .* got 1.5"),
        (Independent([0.5, float("nan"), 0.5]), r"availability of arm 'b' must be .* got nan"),
        (Independent([0.5, 0.5]), r"one for each of 3 arms"),
        (Joint([["a"], ["b"]], [0.5, 0.6]), r"sum of the sets' probabilities must be 1, got 1.1"),
        (Joint([["a"], ["b"]], [0.5]), r"one for each of 2 sets"),
        (Joint([["a"], ["b"]], [1.5, -0.5]), r"probability of set '1' must be .* got 1.5"),
        (Joint([["a"], ["x"]], [0.5, 0.5]), r"unknown arm in set 2 'x'"),
        (Joint([["a", "a"]], [1.0]), r"arms of set 1 must have different names"),
        (Joint(["ab"], [1.0]), r"set 1 must be a list, got 'ab'"),
        (Joint([1], [1.0]), r"set 1 must be a list, got 1"),
        (Joint([[1, [1], 0]], [1.0]), r"set 1 must be made of 0 and 1"),
        (Joint([["a"], ["b"]], [0.5, 0.5001]), r"probabilities must be 1, got 1.0001"),
        (Joint([], []), r"at least one set"),
        (Joint("ab", [1.0]), r"the table of sets must be a list"),
        (Trace([[1, 0], [1, 1]]), r"round 1 must be 3 wide, one column an arm, got 2"),
        (Trace(np.ones((4, 2))), r"3 wide, one column an arm"),
        (Trace([[1, 0, 1], [1, 0, 2]]), r"entry of arm 'c' in round 2 must be 0 or 1, got 2"),
        (Trace([[1, 0, float("nan")]]), r"entry of arm 'c' in round 1 must be 0 or 1, got nan"),
        (Trace(np.empty((0, 3))), r"at least one round"),
    ],
)
def test_bad_tables_are_refused(availability, message):
    with pytest.raises(InputError, match=message):
        availability.arrays(ARMS)
