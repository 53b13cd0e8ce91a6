"""The shared steps: choose the best, advance the debts, learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import Problem
from evenhand.core.choosing import choose, nth_largest
from evenhand.core.round import StepOptions, advance, learn
from evenhand.core.schema import new
from evenhand.core.state import State

OPTIONS = StepOptions(sampled=True)
NOWHERE = np.ones(1)

few_values = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=30)
any_values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)


def chosen_of(scores, plays, seed=0):
    awake = np.arange(len(scores), dtype=np.int64) * 2
    chosen = np.empty(2 * len(scores), dtype=np.int64)
    scratch = np.empty(len(scores))
    rng = np.random.default_rng(seed)
    return chosen[: choose(chosen, awake, np.array(scores), scratch, plays, rng)].tolist()


@given(values=any_values | few_values, data=st.data())
def test_nth_largest_is_what_sorting_gives(values, data):
    place = data.draw(st.integers(1, len(values)))
    assert nth_largest(np.array(values), len(values), place) == sorted(values)[-place]


@given(scores=any_values | few_values, plays=st.integers(1, 40), seed=st.integers(0, 99))
def test_the_chosen_are_the_best_that_are_awake(scores, plays, seed):
    chosen = chosen_of(scores, plays, seed)
    assert len(chosen) == min(plays, len(scores))
    assert chosen == sorted(set(chosen))
    got = sorted(scores[arm // 2] for arm in chosen)
    assert got == sorted(scores)[len(scores) - len(chosen) :]


def test_scores_do_not_matter_where_there_is_a_play_for_everybody():
    for plays in (2, 3):
        chosen, scores = np.empty(2, dtype=np.int64), np.full(2, np.nan)
        count = choose(chosen, np.array([1, 3]), scores, np.empty(2), plays, None)
        assert chosen[:count].tolist() == [1, 3]


def test_ties_are_broken_at_random_with_equal_chances():
    counts = np.zeros(6)
    for seed in range(3_000):
        for arm in chosen_of([0.5, 0.5, 0.9, 0.5, 0.1, 0.5], plays=3, seed=seed):
            counts[arm // 2] += 1
    assert counts[2] == 3_000
    assert counts[4] == 0
    # Each of four tied arms takes one of two places: 1,500 of 3,000, five deviations are 137.
    assert counts[[0, 1, 3, 5]] == pytest.approx([1_500] * 4, abs=137)


def test_without_a_tie_nothing_is_drawn():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    awake, scores = np.arange(3), np.array([0.1, 0.3, 0.2])
    choose(np.empty(3, dtype=np.int64), awake, scores, np.empty(3), 2, rng)
    assert rng.bit_generator.state == before


def test_choosing_from_sorted_scores_takes_linear_time():
    class Counting(np.ndarray):
        reads = 0

        def __getitem__(self, key):
            Counting.reads += 1
            return super().__getitem__(key)

    for order in (1, -1):
        Counting.reads = 0
        values = np.arange(4_000.0)[::order].copy().view(Counting)
        nth_largest(values, 4_000, 40)
        assert Counting.reads < 10 * 4_000


@given(
    plays=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), max_size=40),
    floors=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    surplus=st.one_of(st.just(np.inf), st.floats(0, 5)),
)
def test_debts_follow_their_definition_and_are_never_below_the_surplus(plays, floors, surplus):
    state, arrays = new(State, 3), Problem(3, plays=3, floors=floors).arrays
    queue, played = [0.0] * 3, [0] * 3
    for t, row in enumerate(plays, start=1):
        chosen = np.flatnonzero(row)
        advance(state, arrays, np.arange(3), chosen, OPTIONS._replace(surplus=surplus))
        for i in range(3):
            played[i] += row[i]
            queue[i] = max(queue[i] + floors[i] - row[i], -surplus)
            wanted = t * floors[i] - played[i] if surplus == np.inf else queue[i]
            assert state.debts[i] == pytest.approx(wanted, abs=1e-9)
            assert state.debts[i] >= -surplus
    assert state.rounds[0] == len(plays)
    assert state.played.tolist() == played
    assert state.awake_counts.tolist() == [len(plays)] * 3


def test_fractional_rewards_are_added_as_they_are():
    state, rng = new(State, 2), np.random.default_rng(0)
    learn(state, 1, 0.25, 1, OPTIONS, None, NOWHERE, None, rng)
    learn(state, 1, 0.5, 1, OPTIONS, None, NOWHERE, None, rng)
    assert state.feedbacks.tolist() == [0, 2]
    assert state.reward_sums.tolist() == [0.0, 0.75]


def test_binarised_rewards_are_coin_flips_with_their_own_chance():
    state, rng = new(State, 1), np.random.default_rng(0)
    for _ in range(10_000):
        learn(state, 0, 0.3, 1, OPTIONS._replace(binarised=True), None, NOWHERE, None, rng)
    assert state.reward_sums[0] == int(state.reward_sums[0])
    # Five standard deviations of 10,000 flips are 230.
    assert state.reward_sums[0] == pytest.approx(3_000, abs=230)


def test_rewards_of_0_and_1_need_no_coin():
    state, rng = new(State, 1), np.random.default_rng(0)
    before = rng.bit_generator.state
    learn(state, 0, 1.0, 1, OPTIONS._replace(binarised=True), None, NOWHERE, None, rng)
    learn(state, 0, 0.0, 1, OPTIONS._replace(binarised=True), None, NOWHERE, None, rng)
    assert rng.bit_generator.state == before
    assert state.reward_sums[0] == 1.0
