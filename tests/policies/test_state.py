"""The state: what joins starts from nothing, what leaves takes nothing of others with it."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import Problem
from evenhand.core.state import (
    awake_rates,
    new_state,
    only_arms,
    posterior_means,
    with_new_arms,
)


@pytest.fixture
def state():
    """Three arms after ten rounds, every number another one."""
    state = new_state(3)
    state.rounds[:] = 10
    state.played[:], state.awake_counts[:] = [1, 2, 3], [4, 5, 6]
    state.feedbacks[:], state.reward_sums[:] = [7, 8, 9], [0.5, 1.5, 2.5]
    state.debts[:] = [0.1, 0.2, 0.3]
    return state


def test_nothing_has_happened_at_first():
    for name, array in new_state(2)._asdict().items():
        assert not array.any(), name
        assert array.size == (1 if name in ("rounds", "cancelled", "epoch") else 2), name


def test_a_new_arm_leaves_the_others_as_they_were(state):
    grown = with_new_arms(state, 1)
    assert grown.rounds.tolist() == [10]
    for name in ("played", "awake_counts", "feedbacks", "reward_sums", "debts"):
        old, new = getattr(state, name), getattr(grown, name)
        assert new.tolist() == [*old.tolist(), 0]
        assert new.dtype == old.dtype


def test_the_arms_that_stay_keep_what_is_theirs(state):
    left = only_arms(state, [0, 2])
    assert left.rounds.tolist() == [10]
    assert left.played.tolist() == [1, 3]
    left.played[0] = 100
    assert state.played[0] == 1


def test_estimates_start_in_the_middle_and_follow_the_rewards(state):
    assert posterior_means(new_state(1), np.inf).tolist() == [0.5]
    assert posterior_means(state, np.inf).tolist() == [1.5 / 9, 2.5 / 10, 3.5 / 11]


def test_awake_rates_count_from_when_an_arm_joined(state):
    terms = Problem(3, plays=1).terms
    joined = terms._replace(joined=np.array([0.0, 5.0, 10.0]))
    assert awake_rates(state, joined, np.inf).tolist() == [0.4, 1.0, 1.0]
    state.awake_counts[2] = 0
    late = terms._replace(joined=np.array([0.0, 5.0, 9.0]))
    assert awake_rates(state, late, np.inf).tolist() == [0.4, 1.0, 0.0]
