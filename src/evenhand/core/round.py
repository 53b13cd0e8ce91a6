"""The steps that every policy shares: explore or sample, choose, advance, learn.

They are plain functions on arrays, without any reduction of NumPy's, so that they
run interpreted (agent, readable engine) and compiled (kernel) and give the same bits. A decision
advances the clock and the debts at once; learning waits for the reward, however late it comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.fading import EPOCH, round_weight
from evenhand.core.state import State, faded
from evenhand.core.terms import Terms, plays_due

FEW_PLACES = 16


class Forms(NamedTuple):
    """How a policy wants the shared steps done.

    Attributes
    ----------
    reflected
        Whether debts forget a surplus.
    binarised
        Whether a real reward is learned as a coin flip.
    sampled
        Whether scores are made from one sample an arm of its Beta posterior.
    half_life
        In how many rounds what was learned loses half its weight; infinity: never.
    exploration
        With what chance the plays are drawn uniformly from the awake arms.
    tightening
        By ``tightening / sqrt(t)`` of its floor a reflected debt grows faster in round t.
    """

    reflected: bool
    binarised: bool
    sampled: bool
    half_life: float
    exploration: float
    tightening: float = 0.0


def explore(scores: Floats, awake: Integers, forms: Forms, rng: np.random.Generator) -> bool:
    """Write random scores with the chance of exploration; say whether that was done."""
    if forms.exploration == 0.0 or rng.random() >= forms.exploration:
        return False
    for j in range(awake.size):
        scores[j] = rng.random()
    return True


def draw_samples(
    samples: Floats, awake: Integers, state: State, forms: Forms, rng: np.random.Generator
) -> None:
    """Draw theta_i of every awake arm from its Beta posterior, if the policy wants samples."""
    if forms.sampled:
        for j in range(awake.size):
            i = awake[j]
            successes = state.reward_sums[i]
            samples[j] = rng.beta(1.0 + successes, 1.0 + state.feedbacks[i] - successes)


def draw_faded_samples(
    samples: Floats, awake: Integers, state: State, forms: Forms, rng: np.random.Generator
) -> None:
    """Do as :func:`draw_samples`, with posteriors that fade."""
    if not forms.sampled:
        return
    now = faded(state, forms.half_life)
    for j in range(awake.size):
        i = awake[j]
        successes = now * state.reward_sums[i]
        samples[j] = rng.beta(1.0 + successes, 1.0 + now * state.feedbacks[i] - successes)


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
    count = choose_clear(chosen, awake, scores, scratch, plays)
    if count >= 0:
        return count
    threshold = scratch[0]
    places, ties = plays, 0
    for j in range(awake.size):
        places -= scores[j] > threshold
        ties += scores[j] == threshold
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


def choose_clear(
    chosen: Integers, awake: Integers, scores: Floats, scratch: Floats, plays: int
) -> int:
    """Do as :func:`choose` where no arms tie for the last places; else return -1.

    The score for which they tie is in ``scratch[0]`` then.
    """
    if awake.size <= plays:
        for j in range(awake.size):
            chosen[j] = awake[j]
        return awake.size
    threshold = last_place(scores, scratch, awake.size, plays)
    least = 0
    for j in range(awake.size):
        least += scores[j] >= threshold
    if least > plays:
        scratch[0] = threshold
        return -1
    count, j = 0, 0
    while count < plays:
        chosen[count] = awake[j]
        count += scores[j] >= threshold
        j += 1
    return count


def last_place(scores: Floats, scratch: Floats, size: int, plays: int) -> float:
    """Return the ``plays``-th largest score; one that is not a number becomes the lowest."""
    for j in range(size):
        if scores[j] != scores[j]:
            scores[j] = -np.inf
    if plays <= FEW_PLACES:
        return least_of_best(scores, scratch, size, plays)
    for j in range(size):
        scratch[j] = scores[j]
    return nth_largest(scratch, size, plays)


def least_of_best(scores: Floats, best: Floats, size: int, plays: int) -> float:
    """Return the least of the ``plays`` best scores, which are kept while the scores pass by.

    For few plays: a better one takes the place of the least, and all of them are looked at for who
    is the least now. That happens seldom, and takes the same steps each time.

    >>> least_of_best(np.array([0.1, 0.9, 0.5, 0.9]), np.empty(4), 4, 3)
    np.float64(0.5)
    """
    least, place = np.inf, 0
    for j in range(plays):
        best[j] = scores[j]
        lower = best[j] < least
        least, place = best[j] if lower else least, j if lower else place
    for j in range(plays, size):
        if scores[j] > least:
            best[place] = scores[j]
            least, place = best[0], 0
            for k in range(1, plays):
                lower = best[k] < least
                least, place = best[k] if lower else least, k if lower else place
    return least


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


def advance(state: State, terms: Terms, awake: Integers, chosen: Integers, forms: Forms) -> None:
    """Count the round that was just decided and let the debts follow.

    Cumulative, Eq. (5): ``Q_i = max(t k_i - played_i, 0)``, which remembers a surplus.
    Reflected, Li et al. (2019): ``Q_i <- max(Q_i + k_i - d_i, 0)``, which forgets it.
    """
    count_round(state, terms, awake, chosen, forms, 1.0, 1.0)


def advance_tightened(
    state: State, terms: Terms, awake: Integers, chosen: Integers, forms: Forms
) -> None:
    """Do as :func:`advance`, where reflected debts grow by a little more than the floors."""
    promised = tightened(forms.tightening, state.rounds[0] + 1)
    count_round(state, terms, awake, chosen, forms, 1.0, promised)


def advance_fading(
    state: State, terms: Terms, awake: Integers, chosen: Integers, forms: Forms
) -> None:
    """Do as :func:`advance`, where the round weighs more than all before it."""
    time = state.rounds[0] + state.cancelled[0] + 1
    if time / forms.half_life > state.epoch[0] + EPOCH:
        begin_epoch(state, math.floor(time / forms.half_life))
    weight = round_weight(time, state.epoch[0], forms.half_life)
    promised = tightened(forms.tightening, state.rounds[0] + 1)
    count_round(state, terms, awake, chosen, forms, weight, promised)


def count_round(
    state: State,
    terms: Terms,
    awake: Integers,
    chosen: Integers,
    forms: Forms,
    weight: float,
    promised: float,
) -> None:
    """Count a round of a weight: the clock, who was awake, who was played, and the debts.

    Reflected debts grow by ``promised`` times the floors.
    """
    state.rounds[0] += 1
    rounds = state.rounds[0]
    for j in range(awake.size):
        state.awake_counts[awake[j]] += weight
    for j in range(chosen.size):
        state.played[chosen[j]] += 1
        if forms.reflected:
            state.debts[chosen[j]] -= 1.0
    for i in range(state.debts.size):
        if forms.reflected:
            debt = state.debts[i] + terms.floors[i] * promised
        else:
            debt = plays_due(terms, i, rounds) - state.played[i]
        state.debts[i] = debt if debt > 0.0 else 0.0


def tightened(tightening: float, round_: int) -> float:
    """Return by what factor of the floor a debt grows in a round.

    >>> tightened(0.0, 4), tightened(1.0, 4)
    (1.0, 1.5)
    """
    return 1.0 + tightening / math.sqrt(round_)


def begin_epoch(state: State, epoch: int) -> None:
    """Count weights from another epoch, so that they grow for ever without growing too large."""
    scale = math.ldexp(1.0, int(state.epoch[0] - epoch))
    state.epoch[0] = epoch
    for i in range(state.debts.size):
        state.awake_counts[i] *= scale
        state.feedbacks[i] *= scale
        state.reward_sums[i] *= scale


def learn(
    state: State, arm: int, reward: float, round_: int, forms: Forms, rng: np.random.Generator
) -> None:
    """Take in one reward, Eq. (4); binarised, it first becomes a coin flip with its own chance."""
    if forms.binarised:
        reward = flipped(reward, rng)
    state.feedbacks[arm] += 1.0
    state.reward_sums[arm] += reward


def learn_fading(
    state: State, arm: int, reward: float, round_: int, forms: Forms, rng: np.random.Generator
) -> None:
    """Do as :func:`learn`, where a reward weighs what the round of its decision does."""
    if forms.binarised:
        reward = flipped(reward, rng)
    weight = round_weight(round_, state.epoch[0], forms.half_life)
    state.feedbacks[arm] += weight
    state.reward_sums[arm] += weight * reward


def flipped(reward: float, rng: np.random.Generator) -> float:
    """Return a coin flip with a reward's chance; one that is 0 or 1 already needs none."""
    if 0.0 < reward < 1.0:
        return 1.0 if rng.random() < reward else 0.0
    return reward


class Steps(NamedTuple):
    """The steps that differ with the form: without one, what compiles is as short as can be."""

    draw_samples: Callable[..., None]
    advance: Callable[..., None]
    learn: Callable[..., None]


REMEMBERING = Steps(draw_samples, advance, learn)
TIGHTENED = Steps(draw_samples, advance_tightened, learn)
FADING = Steps(draw_faded_samples, advance_fading, learn_fading)


def steps_of(forms: Forms) -> Steps:
    """Return the steps of a policy that forgets, that tightens its debts, or that does neither.

    >>> steps_of(Forms(False, False, True, math.inf, 0.0)) is REMEMBERING
    True
    """
    if forms.half_life < math.inf:
        return FADING
    return TIGHTENED if forms.tightening > 0.0 else REMEMBERING
