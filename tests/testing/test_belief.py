"""The suite for beliefs: ours pass it, and faulty ones do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenhand.beliefs.linear import LINEAR
from evenhand.beliefs.logistic import LOGISTIC
from evenhand.beliefs.registry import BELIEFS
from evenhand.testing import check_belief


@pytest.mark.parametrize("belief", BELIEFS.values(), ids=BELIEFS)
def test_our_beliefs_do_what_every_belief_must(belief):
    check_belief(belief)


def learns_the_opposite(belief, state, context, arms, rewards, weight, options):
    LINEAR.learn(belief, state, context, arms, 1.0 - rewards, weight, options)


def forgets_its_means(belief, state, context, arms, rewards, weight, options):
    LINEAR.learn(belief, state, context, arms, rewards, weight, options)
    belief.means[1] += 0.5


def draws_no_number(samples, awake, state, belief, options, rng):
    for j in range(awake.size):
        samples[j] = float("nan")


@pytest.mark.parametrize(
    ("faulty", "words"),
    [
        (replace(LINEAR, learn=learns_the_opposite), "expected to return more"),
        (replace(LINEAR, learn=forgets_its_means), "follow from the sums"),
        (replace(LINEAR, draw=draws_no_number), "finite"),
        (replace(LOGISTIC, adds_up=True), "the order of rewards matters"),
        (replace(LINEAR, name=""), "a name"),
    ],
)
def test_a_faulty_belief_is_found_out(faulty, words):
    with pytest.raises(AssertionError, match=words):
        check_belief(faulty, compiled=False)
