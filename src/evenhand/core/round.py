"""One round: explore or sample, score, choose, advance; and what is learned from it later.

Plain functions on arrays, without any reduction of NumPy's, so that they run interpreted and
compiled and give the same bits. A decision advances the clock and the debts at once; learning waits
for the reward, however late it comes.

:func:`play_round` is the round. What differs from policy to policy, and from caller to caller, are
the functions that it calls: :func:`round_of` puts them in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from evenhand.core.arrays import Floats, Integers, Random
from evenhand.core.choosing import (
    choose,
    choose_clear,
    choose_willing,
    choose_willing_clear,
)
from evenhand.core.fading import EPOCH, round_weight
from evenhand.core.jit import inlined, interpreted
from evenhand.core.promises import advance_nothing, credit_nothing, credit_reward
from evenhand.core.promises import advance_promises as count_plays
from evenhand.core.schema import fading_scaler
from evenhand.core.state import DecisionView, ProblemArrays, State, faded, plays_due

scale_fading = fading_scaler(State)
# Whether arms are scored even if all of them could be played: a promise may forbid some.
ALWAYS_SCORED = False
# Stand for those of promises beyond floors.
advance_promises, credit = advance_nothing, credit_nothing


class StepOptions(NamedTuple):
    """How a policy wants the steps of a round done.

    Attributes
    ----------
    surplus
        How many plays ahead a debt remembers; infinity: all of them.
    binarised
        Whether a real reward is learned as a coin flip.
    sampled
        Whether scores are made from one sample an arm of its Beta posterior.
    half_life
        In how many rounds what was learned loses half its weight; infinity: never.
    exploration
        The probability with which the plays are drawn uniformly from the awake arms.
    tightening
        By ``tightening / sqrt(t)`` of its floor a debt grows faster in round t.
    width
        Scales the spread of samples of a regression; at 1 they are as wide as Beta samples.
    ridge
        The precision that a regression begins with.
    optimistic
        Whether the samples of a regression are upper bounds, ``width`` standard deviations up.
    """

    surplus: float = math.inf
    binarised: bool = False
    sampled: bool = False
    half_life: float = math.inf
    exploration: float = 0.0
    tightening: float = 0.0
    width: float = 1.0
    ridge: float = 1.0
    optimistic: bool = False


def play_round(
    chosen: Integers,
    awake: Integers,
    samples: Floats,
    state: State,
    problem: ProblemArrays,
    scores: Floats,
    scratch: Floats,
    options: StepOptions,
    constants: Any,
    memory: Any,
    belief: Any,
    promises: Any,
    rng: Random,
) -> int:
    """Play a round: write the arms to play into ``chosen``, advance, return how many they are.

    With no more awake arms than plays nothing is drawn or scored: all of them are chosen, unless a
    promise may forbid them. If ``choose`` returns -1 the choice is left open, and nothing advances.
    """
    notice(awake, memory, belief)
    if (ALWAYS_SCORED or awake.size > problem.plays) and not explore(scores, awake, options, rng):
        draw_samples(samples, awake, state, belief, options, rng)
        score(
            scores,
            DecisionView(awake, samples, state, problem, belief, promises),
            constants,
            memory,
            rng,
        )
    count = choose(chosen, awake, scores, scratch, problem.plays, rng)
    keep_debts(scratch, state, chosen, count)
    if count >= 0:
        advance(state, problem, awake, chosen[:count], options)
        advance_promises(promises, state, chosen, count)
    return count


def score(scores: Floats, view: DecisionView, constants: Any, memory: Any, rng: Random) -> None:
    """Leave the scores as they are; a policy's own function stands in for this one."""


def notice(awake: Integers, memory: Any, belief: Any) -> None:
    """Take no notice of who is awake; a policy's own function may stand in for this one."""


def keep_debts(scratch: Floats, state: State, chosen: Integers, count: int) -> None:
    """Keep nothing of what was owed before the round; :func:`write_debts` does."""


def write_debts(scratch: Floats, state: State, chosen: Integers, count: int) -> None:
    """Write what was owed to the chosen arms before the round."""
    for j in range(count):
        scratch[j] = state.debts[chosen[j]]


def never(scores: Floats, awake: Integers, options: StepOptions, rng: Random) -> bool:
    """Explore never; or it has been decided elsewhere."""
    return False


def given_samples(
    samples: Floats, awake: Integers, state: State, belief: Any, options: StepOptions, rng: Random
) -> None:
    """Leave the samples as they are."""


def explore(scores: Floats, awake: Integers, options: StepOptions, rng: Random) -> bool:
    """Write random scores with the chance of exploration; say whether that was done."""
    if options.exploration == 0.0 or rng.random() >= options.exploration:
        return False
    for j in range(awake.size):
        scores[j] = rng.random()
    return True


def draw_samples(
    samples: Floats, awake: Integers, state: State, belief: Any, options: StepOptions, rng: Random
) -> None:
    """Draw theta_i of every awake arm from its Beta posterior, if the policy wants samples."""
    if not options.sampled:
        return
    now = faded(state, options.half_life)
    for j in range(awake.size):
        i = awake[j]
        successes = now * state.reward_sums[i]
        samples[j] = rng.beta(1.0 + successes, 1.0 + now * state.feedbacks[i] - successes)


def advance(
    state: State, problem: ProblemArrays, awake: Integers, chosen: Integers, options: StepOptions
) -> None:
    r"""Count the round that was just decided, and update the debts.

    .. math:: Q_i \leftarrow \max(Q_i + k_i - d_i, -\text{surplus})

    with d_i = 1 if the arm was played: Eq. (5) with an infinite surplus, Li et al. (2019) with 0.
    Where a policy forgets, the round weighs more than all before it; debts that are tightened grow
    by a little more than the floors.
    """
    weight, growth = 1.0, 1.0
    if options.half_life < math.inf:
        time = state.rounds[0] + state.cancelled[0] + 1
        if time / options.half_life > state.epoch[0] + EPOCH:
            begin_epoch(state, math.floor(time / options.half_life))
        weight = round_weight(time, state.epoch[0], options.half_life)
    if options.tightening > 0.0:
        growth = tightened(options.tightening, state.rounds[0] + 1)
    count_round(state, problem, awake, chosen, options, weight, growth)


def count_round(
    state: State,
    problem: ProblemArrays,
    awake: Integers,
    chosen: Integers,
    options: StepOptions,
    weight: float,
    growth: float,
) -> None:
    """Count a round of a weight: the clock, who was awake, who was played, and the debts.

    Debts with a finite surplus grow by ``growth`` times the floors. Those that remember every play
    are recomputed, so that no rounding accumulates.
    """
    state.rounds[0] += 1
    rounds, endless = state.rounds[0], options.surplus == math.inf
    lowest = 0.0 - options.surplus
    for j in range(awake.size):
        state.awake_counts[awake[j]] += weight
    for j in range(chosen.size):
        state.played[chosen[j]] += 1
        if not endless:
            state.debts[chosen[j]] -= 1.0
    for i in range(state.debts.size):
        if endless:
            state.debts[i] = plays_due(problem, i, rounds) - state.played[i]
        else:
            debt = state.debts[i] + problem.floors[i] * growth
            state.debts[i] = debt if debt > lowest else lowest


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
    scale_fading(state, scale)


def learn(
    state: State,
    arm: int,
    reward: float,
    round_: int,
    options: StepOptions,
    belief: Any,
    context: Floats,
    promises: Any,
    rng: Random,
) -> None:
    """Take in one reward, Eq. (4), which weighs what the round of its decision does.

    Binarised, it first becomes a coin flip; promises of reward count it as it is.
    """
    credit(promises, state, arm, reward)
    told = reward
    if options.binarised:
        told = flipped(reward, rng)
    weight = round_weight(round_, state.epoch[0], options.half_life)
    add_reward(state.feedbacks, state.reward_sums, arm, told, weight)
    regress(belief, state, context, arm, told, weight, options)


def regress(
    belief: Any,
    state: State,
    context: Floats,
    arm: int,
    reward: float,
    weight: float,
    options: StepOptions,
) -> None:
    """Learn nothing beyond the sums; a regression's own function stands in for this one."""


def add_reward(
    feedbacks: Floats, reward_sums: Floats, arm: int, reward: float, weight: float
) -> None:
    """Add a reward of a weight to an arm's sums."""
    feedbacks[arm] += weight
    reward_sums[arm] += weight * reward


def flipped(reward: float, rng: Random) -> float:
    """Return 1 with the probability of a reward, else 0; a reward of 0 or 1 needs no draw."""
    if 0.0 < reward < 1.0:
        return 1.0 if rng.random() < reward else 0.0
    return reward


@cache
def round_of(
    score: Callable[..., None],
    notice: Callable[..., None] = notice,
    *,
    promised: bool = False,
    forbids: bool = False,
    **given: Any,
) -> Callable[..., int]:
    """Return :func:`play_round` with a policy's scores in it; ``given`` replaces other steps.

    ``promised`` says that there are promises beyond floors, ``forbids`` that the policy forbids
    arms by scores below 0 then.
    """
    noticing = inlined(play_round, "notice", notice)
    advance_rows = count_plays if promised else advance_nothing
    whole = inlined(inlined(noticing, "score", score), "advance_promises", advance_rows)
    if promised and forbids:
        clear = given.get("choose") is choose_clear
        chooser = choose_willing_clear if clear else choose_willing
        given = {**given, "choose": chooser, "ALWAYS_SCORED": True}
    return interpreted(whole, **given)


@cache
def learning_of(regress: Callable[..., None], *, promised: bool = False) -> Callable[..., None]:
    """Return :func:`learn` with what a belief learns in it, and promises of reward."""
    counted = inlined(learn, "credit", credit_reward if promised else credit_nothing)
    return inlined(counted, "regress", regress)
