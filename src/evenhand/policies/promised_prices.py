r"""Prices of any promises from the latest rounds, see :mod:`evenhand.policies.sampled_prices`.

With floors k_i and rows j of signs s_j, bounds b_j and coefficients c_ji (1 for a play, the
weighted mean for reward), the prices solve

.. math:: \min_{\lambda \ge 0} \frac 1 n \sum_t \max_{A \subseteq Z_t, |A| \le m} \sum_{i \in A}
    \Big( w_i \hat u_i(x_t) + \lambda_i + \sum_j s_j \lambda_j c_{ji} \Big)
    - \sum_i \lambda_i k_i - \sum_j s_j \lambda_j b_j

by the same steps: after each round a price grows by ``step s_j (b_j - d_j)`` with d_j what the row
had of the best arms. A row of reward is measured in typical rewards of its arms.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Masks
from evenhand.core.choosing import threshold_of
from evenhand.core.jit import inlined
from evenhand.core.promises import PromiseArrays
from evenhand.core.schema import Column
from evenhand.core.state import ProblemArrays, State, faded
from evenhand.policies.sampled_prices import (
    ENTRIES,
    FIRST_STEP,
    LARGEST_PRICE,
    PASSES,
    RING,
    largest_weight,
    write_means,
)

SMALLEST_SCALE = 1e-6


class PromisedMemory(NamedTuple):
    """As :class:`SampledMemory`, with the price of each row and its unit.

    A unit is 1 for plays, and what a play of its arms typically earns for reward.
    """

    prices: Annotated[Floats, Column("arm", derived=True)]
    refresh: Annotated[Integers, Column("one", derived=True)]
    seen: Annotated[Integers, Column("one", derived=True)]
    contexts: Annotated[Floats, Column((RING, "feature"), derived=True)]
    present: Annotated[Masks, Column((RING, "arm"), derived=True)]
    row_prices: Annotated[Floats, Column("promise", derived=True)]
    units: Annotated[Floats, Column("promise", derived=True)]


def solve_promised(
    state: State,
    problem: ProblemArrays,
    belief: Any,
    promises: PromiseArrays,
    memory: PromisedMemory,
    floors: Floats,
    half_life: float,
) -> None:
    """Compute the prices of floors and rows on the pairs in the ring, from those of before."""
    arms, count, plays = floors.size, promises.bound.size, problem.plays
    prices, row_prices, units = memory.prices, memory.row_prices, memory.units
    rows = min(memory.seen[0], RING, max(ENTRIES // arms, 1))
    latest, unit = memory.seen[0] - rows, largest_weight(problem.weights)
    values, members = np.empty((rows, arms)), np.empty((rows, arms), dtype=np.int32)
    sizes, typical = np.zeros(rows, dtype=np.int64), np.zeros(arms)
    write_means(values, state, belief, memory.contexts, latest, faded(state, half_life))
    for s in range(rows):
        row, awake = (latest + s) % RING, 0
        for i in range(arms):
            typical[i] += problem.weights[i] * values[s, i] / rows
            members[s, awake] = i
            values[s, awake] = problem.weights[i] * values[s, i]
            awake += memory.present[row, i]
        sizes[s] = awake
    write_units(units, promises, typical, unit)
    sums, row_sums, steps = np.zeros(arms), np.zeros(count), PASSES * rows
    scores, scratch, taken = np.empty(arms), np.empty(arms), np.empty(arms)
    for step in range(steps):
        s = step % rows
        size, length = sizes[s], unit * FIRST_STEP / math.sqrt(step + 1.0)
        score_members(scores, values, members, s, size, prices, row_prices, promises)
        take_willing(taken, size, scores, scratch, plays)
        count_taken(taken, values, members, s, size, promises)
        for a in range(size):
            prices[members[s, a]] -= length * taken[a]
        late = 1.0 if 2 * step >= steps else 0.0
        for i in range(arms):
            prices[i] = min(max(prices[i] + length * floors[i], 0.0), LARGEST_PRICE * unit)
            sums[i] += late * prices[i]
        for j in range(count):
            missing = promises.sign[j] * (promises.bound[j] - promises.had[j]) / units[j]
            price = row_prices[j] + length * missing / units[j]
            row_prices[j] = min(max(price, 0.0), LARGEST_PRICE * unit / units[j])
            row_sums[j] += late * row_prices[j]
    kept = max(steps - (steps + 1) // 2, 1)
    for i in range(arms):
        prices[i] = sums[i] / kept
    for j in range(count):
        row_prices[j] = row_sums[j] / kept


def score_members(
    scores: Floats,
    values: Floats,
    members: Integers,
    s: int,
    size: int,
    prices: Floats,
    row_prices: Floats,
    promises: PromiseArrays,
) -> None:
    """Write what every awake arm of a row scores at some prices."""
    for a in range(size):
        i = members[s, a]
        bonus, share = prices[i], 1.0
        for k in range(promises.first[i], promises.first[i + 1]):
            j = promises.rows[k]
            price = promises.sign[j] * row_prices[j]
            share += price if promises.reward[j] else 0.0
            bonus += 0.0 if promises.reward[j] else price
        scores[a] = values[s, a] * share + bonus


def count_taken(
    taken: Floats, values: Floats, members: Integers, s: int, size: int, promises: PromiseArrays
) -> None:
    """Write what every promise has of the arms that are taken."""
    for j in range(promises.had.size):
        promises.had[j] = 0.0
    for a in range(size):
        i = members[s, a]
        for k in range(promises.first[i], promises.first[i + 1]):
            j = promises.rows[k]
            promises.had[j] += taken[a] * (values[s, a] if promises.reward[j] else 1.0)


def write_units(units: Floats, promises: PromiseArrays, typical: Floats, unit: float) -> None:
    """Write the unit of every row: what its arms earn on average for reward, 1 for plays."""
    sums, counts = np.zeros(units.size), np.zeros(units.size)
    for i in range(typical.size):
        for k in range(promises.first[i], promises.first[i + 1]):
            sums[promises.rows[k]] += typical[i]
            counts[promises.rows[k]] += 1.0
    for j in range(units.size):
        units[j] = 1.0
        if promises.reward[j] and counts[j] > 0.0:
            units[j] = max(sums[j] / counts[j], SMALLEST_SCALE * unit)


def take_willing(taken: Floats, size: int, scores: Floats, scratch: Floats, plays: int) -> None:
    """Write what part of a play each arm has: the best with scores of at least 0, ties shared."""
    lowest, share = 0.0, 1.0
    if size > plays:
        lowest = threshold_of(scores, scratch, size, plays)
        if lowest >= 0.0:
            least, above = 0, 0
            for a in range(size):
                least += scores[a] >= lowest
                above += scores[a] > lowest
            if least > plays:
                share = (plays - above) / (least - above)
        else:
            lowest = 0.0
    for a in range(size):
        taken[a] = 0.0
        if scores[a] > lowest:
            taken[a] = 1.0
        elif scores[a] == lowest:
            taken[a] = share


for step in (score_members, take_willing, count_taken):
    solve_promised = inlined(solve_promised, step.__name__, step)
