"""The steps that every policy shares: choose, advance, learn.

They are plain functions on arrays, without any reduction of NumPy's, so that they
run interpreted (agent, readable engine) and compiled (kernel) and give the same bits. A decision
advances the clock and the debts at once; learning waits for the reward, however late it comes.
"""

from __future__ import annotations

import numpy as np

from evenhand._base.arrays import Floats, Integers
from evenhand._base.terms import Terms, plays_due
from evenhand.policies._state import State


def choose(
    chosen: Integers,
    awake: Integers,
    scores: Floats,
    scratch: Floats,
    plays: int,
    rng: np.random.Generator,
) -> int:
    """Write the ``plays`` awake arms with the best scores in ascending order; return how many.

    With no more awake arms than plays, all are chosen and the scores are not looked at, so no
    policy needs to draw them. Costs O(awake) on average. Arms that tie for the last places get
    them with equal chances, and only then is a random number drawn. A score that is not a number
    counts as the lowest.
    """
    if awake.size <= plays:
        for j in range(awake.size):
            chosen[j] = awake[j]
        return awake.size
    for j in range(awake.size):
        if scores[j] != scores[j]:
            scores[j] = -np.inf
        scratch[j] = scores[j]
    threshold = nth_largest(scratch, awake.size, plays)
    above, ties = 0, 0
    for j in range(awake.size):
        above += scores[j] > threshold
        ties += scores[j] == threshold
    places = plays - above
    count = 0
    for j in range(awake.size):
        taken = scores[j] > threshold
        if scores[j] == threshold:
            taken = places == ties or rng.random() * ties < places
            places -= taken
            ties -= 1
        chosen[count] = awake[j]
        count += taken
    return count


def nth_largest(values: Floats, size: int, place: int) -> float:
    """Return the ``place``-th largest of the first ``size`` values, reordering them.

    Hoare's selection: linear time on average, also for sorted and for equal values.

    >>> nth_largest(np.array([0.1, 0.9, 0.5, 0.9]), 4, 3)
    np.float64(0.5)
    """
    left, right, target = 0, size - 1, place - 1
    while left < right:
        pivot = values[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if target <= j:
            right = j
        elif target >= i:
            left = i
        else:
            break
    found: float = values[target]
    return found


def advance(state: State, terms: Terms, awake: Integers, chosen: Integers, reflected: bool) -> None:
    """Count the round that was just decided and let the debts follow.

    Cumulative, Eq. (5): ``Q_i = max(t k_i - played_i, 0)``, which remembers a surplus.
    Reflected, Li et al. (2019): ``Q_i <- max(Q_i + k_i - d_i, 0)``, which forgets it.
    """
    state.rounds[0] += 1
    for j in range(awake.size):
        state.awake_counts[awake[j]] += 1
    for j in range(chosen.size):
        state.played[chosen[j]] += 1
        if reflected:
            state.debts[chosen[j]] -= 1.0
    rounds = state.rounds[0]
    for i in range(state.debts.size):
        if reflected:
            debt = state.debts[i] + terms.floors[i]
        else:
            debt = plays_due(terms, i, rounds) - state.played[i]
        state.debts[i] = debt if debt > 0.0 else 0.0


def learn(state: State, arm: int, reward: float, binarised: bool, rng: np.random.Generator) -> None:
    """Take in one reward, Eq. (4); binarised, it first becomes a coin flip with its own chance."""
    if binarised and 0.0 < reward < 1.0:
        reward = 1.0 if rng.random() < reward else 0.0
    state.feedbacks[arm] += 1
    state.reward_sums[arm] += reward
