"""The state: what joins starts from nothing, what leaves takes nothing of others with it."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.policies.state import (
    awake_rates,
    new_state,
    only_arms,
    posterior_means,
    with_new_arm,
)


@pytest.fixture
def state():
    """Three arms after ten rounds, every number another one."""
    state = new_state(3)
    state.rounds[:] = [10, 12]
    state.played[:], state.awake_counts[:] = [1, 2, 3], [4, 5, 6]
    state.feedbacks[:], state.reward_sums[:] = [7, 8, 9], [0.5, 1.5, 2.5]
    state.debts[:] = [0.1, 0.2, 0.3]
    state.plan[:] = np.arange(12).reshape(4, 3)
    return state


def test_nothing_has_happened_at_first():
    for name, array in new_state(2)._asdict().items():
        assert not array.any(), name
        assert array.shape[-1] == 2, name


def test_the_rows_of_the_plan_have_names(state):
    assert state.joined.tolist() == [0, 1, 2]
    assert state.since.tolist() == [3, 4, 5]
    assert state.promised.tolist() == [6, 7, 8]
    assert state.prices.tolist() == [9, 10, 11]
    assert state.refresh.tolist() == [12]


def test_a_new_arm_leaves_the_others_as_they_were(state):
    grown = with_new_arm(state)
    assert grown.rounds is state.rounds
    for name in ("played", "awake_counts", "feedbacks", "reward_sums", "debts"):
        old, new = getattr(state, name), getattr(grown, name)
        assert new.tolist() == [*old.tolist(), 0]
        assert new.dtype == old.dtype
    assert grown.plan[:, :3].tolist() == state.plan.tolist()
    assert grown.plan[:, 3].tolist() == [10, 10, 0, 0]


def test_the_arms_that_stay_keep_what_is_theirs(state):
    left = only_arms(state, [0, 2])
    assert left.rounds is state.rounds
    assert left.played.tolist() == [1, 3]
    assert left.plan.tolist() == state.plan[:, [0, 2]].tolist()
    left.played[0] = 100
    assert state.played[0] == 1


def test_estimates_start_in_the_middle_and_follow_the_rewards(state):
    assert posterior_means(new_state(1)).tolist() == [0.5]
    assert posterior_means(state).tolist() == [1.5 / 9, 2.5 / 10, 3.5 / 11]


def test_awake_rates_count_from_when_an_arm_joined(state):
    state.joined[:] = [0, 5, 10]
    assert awake_rates(state).tolist() == [0.4, 1.0, 1.0]
    state.joined[2], state.awake_counts[2] = 9, 0
    assert awake_rates(state).tolist() == [0.4, 1.0, 0.0]
