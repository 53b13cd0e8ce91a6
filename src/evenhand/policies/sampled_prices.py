r"""Prices of floors from the latest rounds: right for any contexts, and for arms that depend.

On a ring of the latest pairs (context x_s, awake set Z_s), with the belief's means in, the prices
solve the dual of the best policy with floors,

.. math:: \min_{\lambda \ge 0} \frac 1 n \sum_s \max_{A \subseteq Z_s, |A| \le m} \sum_{i \in A}
    (w_i \hat u_i(x_s) + \lambda_i) - \sum_i \lambda_i k_i

by incremental subgradient steps (Nedic and Bertsekas, SIAM Journal on Optimization 12(1), 2001):
after each pair a price grows by ``step * k_i``, and falls by ``step`` if the arm is among the best.
The result is the average over the second half of the steps.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Masks
from evenhand.core.choosing import threshold_of
from evenhand.core.schema import Column
from evenhand.core.state import ProblemArrays, State, faded, posterior_mean

RING = 2_048
PASSES = 5
FIRST_STEP = 0.2
# Prices of floors that cannot be kept would grow for ever.
LARGEST_PRICE = 10.0
# How many entries the table of means may have.
ENTRIES = 2_000_000


class SampledMemory(NamedTuple):
    """The prices, when they are computed again, and the latest contexts and awake sets.

    ``seen`` is how many pairs there were in all.
    """

    prices: Annotated[Floats, Column("arm", derived=True)]
    refresh: Annotated[Integers, Column("one", derived=True)]
    seen: Annotated[Integers, Column("one", derived=True)]
    contexts: Annotated[Floats, Column((RING, "feature"), derived=True)]
    present: Annotated[Masks, Column((RING, "arm"), derived=True)]


def remember(awake: Integers, memory: SampledMemory, belief: Any) -> None:
    """Put the present context and the awake arms into the ring."""
    row = memory.seen[0] % RING
    memory.seen[0] += 1
    keep_context(memory.contexts[row], belief)
    for i in range(memory.prices.size):
        memory.present[row, i] = False
    for j in range(awake.size):
        memory.present[row, awake[j]] = True


def keep_context(kept: Floats, belief: Any) -> None:
    """Keep nothing: there is no context; :func:`copy_context` does."""


def copy_context(kept: Floats, belief: Any) -> None:
    """Copy the present context."""
    for a in range(kept.size):
        kept[a] = belief.context[a]


def expected(state: State, belief: Any, arm: int, context: Floats, now: float) -> float:
    """Return the mean of an arm's Beta posterior; that of a regression stands in for it."""
    mean: float = posterior_mean(now * state.reward_sums[arm], now * state.feedbacks[arm])
    return mean


def solve_sampled(
    state: State,
    problem: ProblemArrays,
    belief: Any,
    memory: SampledMemory,
    floors: Floats,
    half_life: float,
) -> None:
    """Compute the prices of floors on the pairs in the ring, from the prices of before."""
    arms, prices = floors.size, memory.prices
    rows = min(memory.seen[0], RING, max(ENTRIES // arms, 1))
    values, now, largest = np.empty((rows, arms)), faded(state, half_life), 0.0
    latest = memory.seen[0] - rows
    for i in range(arms):
        largest = max(largest, problem.weights[i])
        for s in range(rows):
            context = memory.contexts[(latest + s) % RING]
            mean = expected(state, belief, i, context, now)
            values[s, i] = problem.weights[i] * mean
    unit = largest if largest > 0.0 else 1.0
    sums, scores, scratch = np.zeros(arms), np.empty(arms), np.empty(arms)
    here, steps = np.empty(arms, dtype=np.int64), PASSES * rows
    for step in range(steps):
        s = step % rows
        count = 0
        for i in range(arms):
            here[count] = i
            count += memory.present[(latest + s) % RING, i]
        for j in range(count):
            scores[j] = values[s, here[j]] + prices[here[j]]
        length = unit * FIRST_STEP / math.sqrt(step + 1.0)
        take_step(prices, floors, here[:count], scores, scratch, problem.plays, length)
        for i in range(arms):
            prices[i] = min(max(prices[i], 0.0), LARGEST_PRICE * unit)
            if 2 * step >= steps:
                sums[i] += prices[i]
    for i in range(arms):
        prices[i] = sums[i] / (steps - (steps + 1) // 2) if rows > 0 else 0.0


def take_step(
    prices: Floats,
    floors: Floats,
    here: Integers,
    scores: Floats,
    scratch: Floats,
    plays: int,
    length: float,
) -> None:
    """Move the prices by a step: up by the floors, down for the best of the awake arms.

    Arms that tie for the last plays share them.
    """
    for i in range(prices.size):
        if floors[i] > 0.0:
            prices[i] += length * floors[i]
    lowest, share = -np.inf, 1.0
    if here.size > plays:
        lowest = threshold_of(scores, scratch, here.size, plays)
        above, ties = 0, 0
        for j in range(here.size):
            above += scores[j] > lowest
            ties += scores[j] == lowest
        share = (plays - above) / ties
    for j in range(here.size):
        if scores[j] > lowest:
            prices[here[j]] -= length
        elif scores[j] == lowest:
            prices[here[j]] -= length * share
