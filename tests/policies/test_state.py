"""The state: what joins starts from nothing, what leaves takes nothing of others with it."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import Problem
from evenhand.core.schema import carried, fields_of, new
from evenhand.core.state import State, awake_rates, posterior_means


@pytest.fixture
def state():
    """Three arms after ten rounds, every number another one."""
    state = new(State, 3)
    state.rounds[:] = 10
    state.played[:], state.awake_counts[:] = [1, 2, 3], [4, 5, 6]
    state.feedbacks[:], state.reward_sums[:] = [7, 8, 9], [0.5, 1.5, 2.5]
    state.debts[:] = [0.1, 0.2, 0.3]
    return state


def test_nothing_has_happened_at_first():
    state = new(State, 2)
    for field in fields_of(State):
        array = getattr(state, field.name)
        assert not array.any(), field.name
        assert array.size == (1 if field.column.axis == "one" else 2), field.name


def test_a_new_arm_leaves_the_others_as_they_were(state):
    grown = carried(state, np.array([0, 1, 2, -1]))
    assert grown.rounds.tolist() == [10]
    for name in ("played", "awake_counts", "feedbacks", "reward_sums", "debts"):
        old, after = getattr(state, name), getattr(grown, name)
        assert after.tolist() == [*old.tolist(), 0]
        assert after.dtype == old.dtype


def test_the_arms_that_stay_keep_what_is_theirs(state):
    left = carried(state, np.array([0, 2]))
    assert left.rounds.tolist() == [10]
    assert left.played.tolist() == [1, 3]
    left.played[0] = 100
    assert state.played[0] == 1


def test_estimates_start_in_the_middle_and_follow_the_rewards(state):
    assert posterior_means(new(State, 1), np.inf).tolist() == [0.5]
    assert posterior_means(state, np.inf).tolist() == [1.5 / 9, 2.5 / 10, 3.5 / 11]


def test_awake_rates_count_from_when_an_arm_joined(state):
    arrays = Problem(3, plays=1).arrays
    joined = arrays._replace(joined=np.array([0.0, 5.0, 10.0]))
    assert awake_rates(state, joined, np.inf).tolist() == [0.4, 1.0, 1.0]
    state.awake_counts[2] = 0
    late = arrays._replace(joined=np.array([0.0, 5.0, 9.0]))
    assert awake_rates(state, late, np.inf).tolist() == [0.4, 1.0, 0.0]
