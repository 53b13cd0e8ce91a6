"""Prices and rates for independent availability, in O(N m log N), without enumerating sets.

The dual of the paper's program (2) is ``min over y >= r of F(y) - k.(y - r)``, with F the Lovasz
extension of ``f(B) = E[min(m, awake in B)]``. It splits into one minimisation of ``f(B) - k(B)``
per level of reward, over the sets that contain every arm of at least that reward. Each minimiser
adds to those arms a prefix of the others in descending ``k_i / p_i``; minimisers are nested, so
divide and conquer over the levels finds them all. ``docs/theory.md`` has the derivation.
"""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.optimum._counting import add_arm, no_arms

TIE = 1e-13


def promises(floors: Floats, probabilities: Floats) -> Floats:
    """Return ``k_i / p_i``, the share of its waking rounds that an arm is promised.

    Infinite where an arm that never wakes is promised anything.
    """
    shares = np.zeros(floors.size)
    for i in range(floors.size):
        if floors[i] > 0.0:
            shares[i] = floors[i] / probabilities[i] if probabilities[i] > 0.0 else np.inf
    return shares


def descending(values: Floats) -> Integers:
    """Return the positions in descending order of value; equals keep their order.

    >>> descending(np.array([0.1, 0.9, 0.1])).tolist()
    [1, 0, 2]
    """
    return np.argsort(-values, kind="mergesort")


def entry_levels(
    values: Floats, floors: Floats, probabilities: Floats, plays: int
) -> tuple[Integers, Integers]:
    """Return the arms in descending value, and the level at which each arm enters.

    Level j stands for the sets that contain the arms of ranks 0 to j. The floors are feasible.
    """
    arms = values.size
    ranked = descending(values)
    rank = np.empty(arms, dtype=np.int64)
    for j in range(arms):
        rank[ranked[j]] = j
    # From here on arms are numbered by promise, so that all passes run through memory in order.
    shares = promises(floors, probabilities)
    order = descending(shares)
    entry = np.empty(arms, dtype=np.int64)
    entry[order] = nested_levels(
        rank[order], floors[order], probabilities[order], shares[order], plays
    )
    return ranked, entry


def nested_levels(
    rank: Integers, floors: Floats, probabilities: Floats, shares: Floats, plays: int
) -> Integers:
    """Return the level at which each arm enters; the arms come in descending share.

    Divide and conquer: the middle level's minimiser bounds those of the levels above and below.
    """
    arms = rank.size
    ground, outside = np.arange(arms), np.empty(arms, dtype=np.int64)
    entry = np.full(arms, arms - 1, dtype=np.int64)
    # Every right half starts from a state of its own, kept in the slot of its depth.
    depth = 2
    while 2**depth < arms + 1:
        depth += 1
    counts = np.zeros((depth + 2, plays))
    windows = np.zeros((depth + 2, 2), dtype=np.int64)
    slot_free = np.zeros(depth + 2)
    tasks = np.zeros((2 * depth + 4, 6), dtype=np.int64)
    finals = np.zeros(2 * depth + 4)
    finals[0] = no_arms(counts[0], windows[0])
    for i in range(arms):
        finals[0] = add_arm(counts[0], windows[0], finals[0], probabilities[i])
    slot_free[0] = no_arms(counts[0], windows[0])
    waiting = push(tasks, 0, 0, arms, 0, arms - 1, 0, 0)
    while waiting > 0:
        waiting -= 1
        start, end = tasks[waiting, 0], tasks[waiting, 1]
        low, high = tasks[waiting, 2], tasks[waiting, 3]
        slot, fresh = tasks[waiting, 4], tasks[waiting, 5] + 1
        final = finals[waiting]
        if start == end or low > high:
            continue
        if shares[ground[start]] <= final:
            for j in range(start, end):
                if rank[ground[j]] <= high:
                    entry[ground[j]] = rank[ground[j]]
            continue
        if end - start == 1:
            i = ground[start]
            pays = probabilities[i] * slot_free[slot] - floors[i] < -TIE
            entry[i] = entry_alone(rank[i], pays, low, high, entry[i])
            continue
        level = (low + high) // 2
        copy_state(counts, windows, slot, fresh)
        cut = start + solve_level(
            ground[start:end],
            rank,
            level,
            floors,
            probabilities,
            shares,
            counts[fresh],
            windows[fresh],
            slot_free[slot],
            final,
            outside,
        )
        copy_state(counts, windows, slot, fresh)
        slot_free[fresh] = slot_free[slot]
        for j in range(start, cut):
            i = ground[j]
            entry[i] = level
            slot_free[fresh] = add_arm(
                counts[fresh], windows[fresh], slot_free[fresh], probabilities[i]
            )
        finals[waiting] = final
        finals[waiting + 1] = slot_free[fresh]
        waiting = push(tasks, waiting, cut, end, level + 1, high, fresh, fresh)
        waiting = push(tasks, waiting, start, cut, low, level - 1, slot, fresh)
    return entry


def entry_alone(rank: int, pays: bool, low: int, high: int, entry: int) -> int:
    """Return the level at which an arm enters that has no others beside it.

    At once if that pays; otherwise with its own level, if that is one of those from low to high.
    """
    if pays:
        return low
    return max(low, rank) if rank <= high else entry


def push(
    tasks: Integers, waiting: int, start: int, end: int, low: int, high: int, slot: int, depth: int
) -> int:
    """Put a part of the arms with a range of levels on the stack; return how many wait."""
    tasks[waiting, 0] = start
    tasks[waiting, 1] = end
    tasks[waiting, 2] = low
    tasks[waiting, 3] = high
    tasks[waiting, 4] = slot
    tasks[waiting, 5] = depth
    return waiting + 1


def copy_state(counts: Floats, windows: Integers, source: int, target: int) -> None:
    """Copy the distribution of awake counts from one slot to another."""
    for c in range(counts.shape[1]):
        counts[target, c] = counts[source, c]
    windows[target, 0] = windows[source, 0]
    windows[target, 1] = windows[source, 1]


def solve_level(
    ground: Integers,
    rank: Integers,
    level: int,
    floors: Floats,
    probabilities: Floats,
    shares: Floats,
    counts: Floats,
    window: Integers,
    chance: float,
    final: float,
    outside: Integers,
) -> int:
    """Minimise ``f(B) - k(B)`` over the sets that contain every arm of the level or above.

    The arms outside ``ground`` that belong to every such set are in ``counts`` already. An arm that
    is promised no more than the chance that is left when all have been added can never help.
    Moves the smallest minimiser to the front of ``ground``, both parts in their old order, and
    returns its size.
    """
    for j in range(ground.size):
        i = ground[j]
        if rank[i] <= level:
            chance = add_arm(counts, window, chance, probabilities[i])
            if chance == 0.0:
                break
    excess, best, cut = 0.0, 0.0, 0
    for j in range(ground.size):
        i = ground[j]
        if rank[i] > level:
            if shares[i] <= final:
                break
            excess += probabilities[i] * chance - floors[i]
            if chance > 0.0:
                chance = add_arm(counts, window, chance, probabilities[i])
            if excess < best - TIE:
                best = excess
                cut = j + 1
    return move_inside(ground, rank, level, cut, outside)


def move_inside(ground: Integers, rank: Integers, level: int, cut: int, outside: Integers) -> int:
    """Move the arms before the cut, and those of the level or above, to the front; count them."""
    inside, others = 0, 0
    for j in range(ground.size):
        i = ground[j]
        if j < cut or rank[i] <= level:
            ground[inside] = i
            inside += 1
        else:
            outside[others] = i
            others += 1
    for j in range(others):
        ground[inside + j] = outside[j]
    return inside


def optimal_rates(
    values: Floats,
    floors: Floats,
    probabilities: Floats,
    plays: int,
    ranked: Integers,
    entry: Integers,
) -> tuple[Floats, Floats, float]:
    """Return rates, prices and the dual value that belong to the entry levels.

    The arms that enter at one level form a block: all but the level's own arm sit at their floors,
    and that one takes what is left of ``f(block end) - f(block start)``.
    """
    counts, window = np.zeros(plays), np.zeros(2, dtype=np.int64)
    chance = no_arms(counts, window)
    order = by_level(entry)
    rates, prices = floors.copy(), np.zeros(values.size)
    dual, start = 0.0, 0
    while start < order.size:
        level = entry[order[start]]
        own = ranked[level]
        gain, promised, end = 0.0, 0.0, start
        while end < order.size and entry[order[end]] == level:
            i = order[end]
            gain += probabilities[i] * chance
            chance = add_arm(counts, window, chance, probabilities[i])
            prices[i] = values[own] - values[i]
            dual -= floors[i] * prices[i]
            if i != own:
                promised += floors[i]
            end += 1
        dual += values[own] * gain
        if entry[own] == level and gain - promised > floors[own]:
            rates[own] = gain - promised
        start = end
    return rates, prices, dual


def by_level(entry: Integers) -> Integers:
    """Return the arms by ascending entry level; equals keep their order.

    >>> by_level(np.array([2, 0, 2, 1])).tolist()
    [1, 3, 0, 2]
    """
    starts = np.zeros(entry.size + 1, dtype=np.int64)
    for i in range(entry.size):
        starts[entry[i] + 1] += 1
    for level in range(entry.size):
        starts[level + 1] += starts[level]
    order = np.empty(entry.size, dtype=np.int64)
    for i in range(entry.size):
        order[starts[entry[i]]] = i
        starts[entry[i]] += 1
    return order


def solve_independent(
    values: Floats, floors: Floats, probabilities: Floats, plays: int
) -> tuple[Floats, Floats, float, Integers]:
    """Return optimal rates, prices, the dual value and the arms' entry levels."""
    ranked, entry = entry_levels(values, floors, probabilities, plays)
    rates, prices, dual = optimal_rates(values, floors, probabilities, plays, ranked, entry)
    return rates, prices, dual, entry


def unbound_value(values: Floats, probabilities: Floats, plays: int) -> float:
    """Return the optimum without floors: play by descending value."""
    counts, window = np.zeros(plays), np.zeros(2, dtype=np.int64)
    chance = no_arms(counts, window)
    order, total = descending(values), 0.0
    for j in range(order.size):
        i = order[j]
        total += values[i] * probabilities[i] * chance
        chance = add_arm(counts, window, chance, probabilities[i])
    return total
