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

from evenhand.beliefs.regression import link
from evenhand.core.arrays import Floats, Integers, Masks
from evenhand.core.choosing import threshold_of
from evenhand.core.jit import inlined
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


def write_means(
    values: Floats, state: State, belief: Any, contexts: Floats, latest: int, now: float
) -> None:
    """Write the mean of every arm in the latest contexts; Beta posteriors look at none of them.

    A regression's own function, :func:`write_responses`, stands in for this one.
    """
    for i in range(values.shape[1]):
        mean = posterior_mean(now * state.reward_sums[i], now * state.feedbacks[i])
        for s in range(values.shape[0]):
            values[s, i] = mean


def write_responses(
    values: Floats, state: State, belief: Any, contexts: Floats, latest: int, now: float
) -> None:
    """Write what a regression expects of every arm in the latest contexts; ``link`` is its own."""
    for s in range(values.shape[0]):
        row = (latest + s) % RING
        for i in range(values.shape[1]):
            total = 0.0
            for a in range(contexts.shape[1]):
                total += contexts[row, a] * belief.means[i, a]
            values[s, i] = link(total)


def solve_sampled(
    state: State,
    problem: ProblemArrays,
    belief: Any,
    promises: Any,
    memory: SampledMemory,
    floors: Floats,
    half_life: float,
) -> None:
    """Compute the prices of floors on the pairs in the ring, from the prices of before.

    Where more is promised, :func:`~evenhand.policies.promised_prices.solve_promised` stands in.

    The table of means becomes one of the awake arms alone: ``members[s, j]`` is the j-th of them.
    """
    arms, prices, plays = floors.size, memory.prices, problem.plays
    rows = min(memory.seen[0], RING, max(ENTRIES // arms, 1))
    latest, unit = memory.seen[0] - rows, largest_weight(problem.weights)
    values, members = np.empty((rows, arms)), np.empty((rows, arms), dtype=np.int32)
    sizes = np.zeros(rows, dtype=np.int64)
    write_means(values, state, belief, memory.contexts, latest, faded(state, half_life))
    for s in range(rows):
        row, count = (latest + s) % RING, 0
        for i in range(arms):
            members[s, count] = i
            values[s, count] = problem.weights[i] * values[s, i]
            count += memory.present[row, i]
        sizes[s] = count
    sums, scores, scratch, steps = np.zeros(arms), np.empty(arms), np.empty(arms), PASSES * rows
    for step in range(steps):
        s = step % rows
        size, length = sizes[s], unit * FIRST_STEP / math.sqrt(step + 1.0)
        for j in range(size):
            scores[j] = values[s, j] + prices[members[s, j]]
        for i in range(arms):
            prices[i] += length * floors[i]
        take_best(prices, members, s, size, scores, scratch, plays, length)
        for i in range(arms):
            prices[i] = min(max(prices[i], 0.0), LARGEST_PRICE * unit)
        if 2 * step >= steps:
            for i in range(arms):
                sums[i] += prices[i]
    for i in range(arms):
        prices[i] = sums[i] / (steps - (steps + 1) // 2) if rows > 0 else 0.0


def largest_weight(weights: Floats) -> float:
    """Return the largest weight, the unit of prices; 1 if all are 0.

    >>> largest_weight(np.array([0.5, 2.0])), largest_weight(np.zeros(2))
    (2.0, 1.0)
    """
    largest = 0.0
    for i in range(weights.size):
        largest = max(largest, weights[i])
    return float(largest) if largest > 0.0 else 1.0


def take_best(
    prices: Floats,
    members: Integers,
    s: int,
    size: int,
    scores: Floats,
    scratch: Floats,
    plays: int,
    length: float,
) -> None:
    """Lower the prices of the best of a row's awake arms; those that tie for the last share it."""
    lowest, share = -np.inf, 1.0
    if size > plays:
        lowest = threshold_of(scores, scratch, size, plays)
        least, above = 0, 0
        for j in range(size):
            least += scores[j] >= lowest
        if least > plays:
            for j in range(size):
                above += scores[j] > lowest
            share = (plays - above) / (least - above)
    for j in range(size):
        if scores[j] > lowest:
            prices[members[s, j]] -= length
        elif scores[j] == lowest:
            prices[members[s, j]] -= length * share


solve_sampled = inlined(solve_sampled, "take_best", take_best)
