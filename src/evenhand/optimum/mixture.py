"""Optimal rates as a stationary policy: a mixture of priority orders.

Arms come in blocks, a block before all later ones; inside a block one of several orders is drawn
in every round. For independent availability the blocks are those of the prices, and a block's
target is taken apart as in Groetschel, Lovasz and Schrijver: draw a line from a vertex through the
target to the far side of the polytope, and go on from there; every step meets a new tight set, so
a block of b arms needs at most b orders.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.jit import compiled_if_large
from evenhand.optimum._counting import add_arm, no_arms, rates_of_order
from evenhand.optimum.independent import by_level, descending, promises

CLOSE = 1e-12
FEW_ORDERS = 8


class Mixture(NamedTuple):
    """Blocks of arms with their orders, as flat arrays.

    Arm i is number ``slot[i]`` of block ``block[i]``. Block b starts at rank ``start[b]`` and has
    the orders ``first[b]`` to ``first[b + 1]``; order v has the cumulative weight ``cumulative[v]``
    within its block and puts slot s at rank ``ranks[offset[v] + s]`` of the block.
    """

    block: Integers
    slot: Integers
    start: Integers
    first: Integers
    cumulative: Floats
    offset: Integers
    ranks: Integers


class Block(NamedTuple):
    """Some arms, orders of them (as slots), and the orders' weights."""

    arms: Integers
    orders: Integers
    weights: Floats


def empty_mixture(arms: int, blocks: int, orders: int, ranks: int) -> Mixture:
    """Return a mixture with room for so many blocks, orders and ranks."""
    block, slot = np.zeros((2, arms), dtype=np.int64)
    start, first = np.zeros((2, blocks + 1), dtype=np.int64)
    offset = np.zeros(orders + 1, dtype=np.int64)
    listed = np.zeros(ranks, dtype=np.int64)
    return Mixture(block, slot, start, first, np.zeros(orders), offset, listed)


def as_mixture(blocks: list[Block]) -> Mixture:
    """Lay out blocks, given from the first to the last, as flat arrays."""
    arms = sum(block.arms.size for block in blocks)
    orders = sum(len(block.orders) for block in blocks)
    mixture = empty_mixture(arms, len(blocks), orders, sum(block.orders.size for block in blocks))
    for number, block in enumerate(blocks):
        add_block(mixture, number, *block)
    for array in mixture:
        array.flags.writeable = False
    return mixture


def add_block(mixture: Any, number: int, arms: Integers, orders: Integers, weights: Floats) -> None:
    """Lay out a block behind those before it, in anything with the arrays of a mixture."""
    begin, order = mixture.start[number], mixture.first[number]
    total = 0.0
    for v in range(orders.shape[0]):
        total += weights[v]
        mixture.cumulative[order] = total
        for rank in range(arms.size):
            mixture.ranks[mixture.offset[order] + orders[v, rank]] = rank
        mixture.offset[order + 1] = mixture.offset[order] + arms.size
        order += 1
    for s in range(arms.size):
        mixture.block[arms[s]] = number
        mixture.slot[arms[s]] = s
    mixture.start[number + 1] = begin + arms.size
    mixture.first[number + 1] = order


def independent_blocks(
    rates: Floats, entry: Integers, probabilities: Floats, plays: int
) -> list[Block]:
    """Return blocks whose mixture gives the optimal rates that belong to the entry levels."""
    counts, window = np.zeros(plays), np.zeros(2, dtype=np.int64)
    chance = no_arms(counts, window)
    blocks = []
    for level in np.unique(entry):
        arms = np.flatnonzero(entry == level)
        awake = probabilities[arms]
        take_apart = compiled_if_large(decompose, arms.size)
        blocks.append(
            Block(arms, *take_apart(rates[arms], awake, counts, window, chance, arms.size))
        )
        for probability in awake:
            chance = add_arm(counts, window, chance, probability)
    return blocks


def mix(
    mixture: Any, rates: Floats, entry: Integers, probabilities: Floats, plays: int, most: int
) -> None:
    """Write the mixture that gives optimal rates, with so many orders a block at most.

    A plain function, for those who need one now and then in the middle of a run. With fewer orders
    than a block has arms, the last one stands for those left out.
    """
    counts, window = np.zeros(plays), np.zeros(2, dtype=np.int64)
    chance = no_arms(counts, window)
    order = by_level(entry)
    number, begin = 0, 0
    while begin < order.size:
        end = begin
        while end < order.size and entry[order[end]] == entry[order[begin]]:
            end += 1
        arms = order[begin:end]
        awake = probabilities[arms]
        orders, weights = decompose(
            rates[arms], awake, counts, window, chance, min(most, arms.size)
        )
        add_block(mixture, number, arms, orders, weights)
        for j in range(awake.size):
            chance = add_arm(counts, window, chance, awake[j])
        begin, number = end, number + 1
    for b in range(number, mixture.first.size - 1):
        mixture.first[b + 1] = mixture.first[number]


def mixture_chances(mixture: Any, awake: Integers, plays: int) -> Floats:
    """Return with what chance each awake arm is among the first of the order that is drawn.

    Blocks come one after the other, so that chance decides in one of them only.

    >>> halves = Block(np.arange(2), np.array([[0, 1], [1, 0]]), np.array([0.75, 0.25]))
    >>> mixture_chances(as_mixture([halves]), np.arange(2), plays=1)
    array([0.75, 0.25])
    """
    probabilities, left = np.zeros(awake.size), plays
    for number in np.unique(mixture.block[awake]):
        inside = np.flatnonzero(mixture.block[awake] == number)
        slots, before = mixture.slot[awake[inside]], 0.0
        for v in range(mixture.first[number], mixture.first[number + 1]):
            weight = mixture.cumulative[v] - before
            before = mixture.cumulative[v]
            ranks = np.argsort(np.argsort(mixture.ranks[mixture.offset[v] + slots]))
            probabilities[inside] += weight * (ranks < left)
        left = max(left - inside.size, 0)
    return probabilities


def decompose(
    target: Floats,
    probabilities: Floats,
    counts: Floats,
    window: Integers,
    chance: float,
    most: int,
) -> tuple[Integers, Floats]:
    """Return priority orders, so many at most, and weights whose mixture gives the target rates.

    The target is on the base of the polymatroid of these arms behind those in ``counts``.

    Examples
    --------
    One play, two arms that are always awake, three quarters and one quarter of the rounds:

    >>> counts, window = np.zeros(1), np.zeros(2, dtype=np.int64)
    >>> chance = no_arms(counts, window)
    >>> decompose(np.array([0.75, 0.25]), np.ones(2), counts, window, chance, most=2)
    (array([[0, 1],
           [1, 0]]), array([0.75, 0.25]))
    """
    orders = np.empty((min(most, FEW_ORDERS), target.size), dtype=np.int64)
    weights = np.empty(orders.shape[0])
    count, left = 0, 1.0
    while left > 0.0:
        order = descending(promises(target, probabilities))
        vertex = rates_of_order(order, probabilities, counts.copy(), window.copy(), chance)
        step = target - vertex
        reach = 1.0
        if largest(step) * left > CLOSE and count < most - 1:
            # Rounding grows as the weight that is left shrinks; its effect on the rates does not.
            noise = CLOSE / left
            reach = furthest(vertex, step, probabilities, counts, window, chance, noise)
        weight = left * (1.0 - 1.0 / reach) if reach > 1.0 else left
        if count == weights.size:
            orders, weights = with_more_room(orders, weights, most)
        orders[count] = order
        weights[count] = weight
        count += 1
        left -= weight
        target = vertex + reach * step
    return orders[:count], weights[:count]


def with_more_room(orders: Integers, weights: Floats, most: int) -> tuple[Integers, Floats]:
    """Return orders and weights with room for twice as many, or as many as there will be."""
    room = min(2 * weights.size, most)
    more, heavier = np.empty((room, orders.shape[1]), dtype=np.int64), np.empty(room)
    more[: weights.size] = orders
    heavier[: weights.size] = weights
    return more, heavier


def largest(values: Floats) -> float:
    """Return the largest size of any of the values.

    >>> largest(np.array([0.5, -2.0]))
    2.0
    """
    most = 0.0
    for i in range(values.size):
        size = abs(values[i])
        most = max(most, size)
    return float(most)


def furthest(
    vertex: Floats,
    step: Floats,
    probabilities: Floats,
    counts: Floats,
    window: Integers,
    chance: float,
    noise: float,
) -> float:
    """Return the largest s of at least 1 for which ``vertex + s step`` is still achievable.

    Newton's method: for each s the worst set is a prefix in descending rate over probability.
    """
    reach = 1e15
    for i in range(step.size):
        if step[i] < -noise:
            reach = min(reach, -vertex[i] / step[i])
        elif step[i] > noise:
            reach = min(reach, (probabilities[i] * chance - vertex[i]) / step[i])
    for _ in range(10 * step.size):
        point = vertex + reach * step
        order = descending(promises(point, probabilities))
        most = rates_of_order(order, probabilities, counts.copy(), window.copy(), chance)
        slack, moved, free = 0.0, 0.0, 0.0
        least, moved_there, free_there = np.inf, 0.0, 0.0
        for j in range(order.size):
            i = order[j]
            slack += most[i] - point[i]
            moved += step[i]
            free += most[i] - vertex[i]
            if slack < least:
                least, moved_there, free_there = slack, moved, free
        if least >= -noise or moved_there <= noise or free_there / moved_there >= reach:
            break
        reach = free_there / moved_there
    return max(reach, 1.0)
