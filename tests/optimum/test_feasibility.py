"""Which floors can be kept, against the enumeration of all sets of arms."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.optimum.feasibility import attainable, headroom, prefix_plays, worst_prefix
from tests.optimum.brute import all_sets


def possible(arms, probabilities, plays):
    """Return the most plays a round that some arms can be given, over all awake sets."""
    members, chances = all_sets(probabilities)
    return chances @ np.minimum(plays, members[:, list(arms)].sum(axis=1))


def subsets(count):
    """Yield all sets of arms but the empty one."""
    return chain.from_iterable(combinations(range(count), size) for size in range(1, count + 1))


floor, chance = (
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]),
    st.sampled_from([0.2, 0.5, 0.8, 1]),
)
arms = st.lists(st.tuples(floor, chance), min_size=1, max_size=6)


def problem_of(values, plays):
    """Return floors and probabilities as arrays, and no more plays than arms."""
    floors, probabilities = (np.array(column) for column in zip(*values, strict=True))
    return floors, probabilities, min(plays, floors.size)


@given(values=arms, plays=st.integers(1, 6))
@settings(max_examples=150, deadline=None)
def test_headroom_is_the_least_over_all_sets(values, plays):
    floors, probabilities, plays = problem_of(values, plays)
    ratios = [
        possible(chosen, probabilities, plays) / floors[list(chosen)].sum()
        for chosen in subsets(floors.size)
        if floors[list(chosen)].sum() > 0
    ]
    assert headroom(floors, probabilities, plays) == pytest.approx(min(ratios, default=np.inf))


@given(values=arms, plays=st.integers(1, 6))
@settings(max_examples=150, deadline=None)
def test_the_worst_prefix_lacks_most_of_all_sets(values, plays):
    floors, probabilities, plays = problem_of(values, plays)
    lacks = [
        floors[list(chosen)].sum() - possible(chosen, probabilities, plays)
        for chosen in subsets(floors.size)
    ]
    members, (promised, most) = worst_prefix(floors, probabilities, plays)
    if max(lacks) > 1e-9:
        assert promised - most == pytest.approx(max(lacks))
    else:
        assert promised - most < 1e-9
    assert promised == pytest.approx(floors[members].sum())
    assert most == pytest.approx(possible(members, probabilities, plays))
    assert members.tolist() == sorted(members)


def test_every_prefix_gets_what_the_enumeration_says():
    probabilities, order = np.array([0.3, 0.9, 0.5, 1.0]), np.array([2, 0, 3, 1])
    for plays in (1, 2, 3, 4):
        wanted = [possible(order[: end + 1], probabilities, plays) for end in range(4)]
        assert prefix_plays(order, probabilities, plays) == pytest.approx(wanted)


def fairest(floors, probabilities, plays):
    """Raise all arms' fractions together; an arm in a set that is full stays where it is.

    Max-min fairness by progressive filling over all sets of arms.
    """
    fractions, free = np.zeros(floors.size), {i for i in range(floors.size) if floors[i] > 0}
    while free:
        rooms = {
            chosen: (
                possible(chosen, probabilities, plays)
                - sum(floors[i] * fractions[i] for i in chosen)
            )
            / sum(floors[i] for i in chosen if i in free)
            for chosen in subsets(floors.size)
            if free & set(chosen)
        }
        step = min(*rooms.values(), 1.0 - max(fractions[i] for i in free))
        for i in free:
            fractions[i] += step
        full = {i for chosen, room in rooms.items() if room <= step + 1e-12 for i in chosen}
        free = {i for i in free if i not in full and fractions[i] < 1.0 - 1e-12}
    return floors * fractions


@given(values=arms, plays=st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_what_is_attainable_is_shared_max_min_fairly(values, plays):
    floors, probabilities, plays = problem_of(values, plays)
    kept = attainable(floors, probabilities, plays)
    assert kept == pytest.approx(fairest(floors, probabilities, plays), abs=1e-9)


@given(
    values=st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 1)), min_size=1, max_size=8),
    plays=st.integers(1, 8),
)
@settings(max_examples=200, deadline=None)
def test_attainable_floors_fit_and_are_the_floors_where_those_fit(values, plays):
    floors, probabilities = (np.array(column) for column in zip(*values, strict=True))
    plays = min(plays, len(floors))
    kept = attainable(floors, probabilities, plays)
    assert (kept <= floors + 1e-12).all()
    assert headroom(kept, probabilities, plays) >= 1 - 1e-9
    if headroom(floors, probabilities, plays) >= 1:
        assert kept == pytest.approx(floors)


def test_what_is_missing_is_shared_in_proportion():
    """One play, floors of 1.2 in all, everybody always awake: each gets 1 / 1.2 of its floor."""
    kept = attainable(np.array([0.6, 0.4, 0.2]), np.ones(3), 1)
    assert kept == pytest.approx(np.array([0.6, 0.4, 0.2]) / 1.2)


def test_an_arm_that_sleeps_too_much_does_not_drag_the_others_down():
    kept = attainable(np.array([0.9, 0.2]), np.array([0.5, 1.0]), 1)
    assert kept == pytest.approx([0.5, 0.2])
