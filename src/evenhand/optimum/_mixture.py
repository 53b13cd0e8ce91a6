"""Optimal rates as a stationary policy: a mixture of priority orders.

Arms come in blocks, a block before all later ones; inside a block one of several orders is drawn
in every round. For independent availability the blocks are those of the prices, and a block's
target is taken apart as in Groetschel, Lovasz and Schrijver: draw a line from a vertex through the
target to the far side of the polytope, and go on from there; every step meets a new tight set, so
a block of b arms needs at most b orders.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evenhand._base.arrays import Floats, Integers, frozen
from evenhand._base.machine import compiled_if_large
from evenhand.optimum._counting import add_arm, no_arms, rates_of_order
from evenhand.optimum._independent import descending, promises

CLOSE = 1e-12


class Mixture(NamedTuple):
    """Blocks of arms with their orders, as flat arrays.

    Arm i is number ``slot[i]`` of block ``block[i]``. Block b starts at place ``start[b]`` and has
    the orders ``first[b]`` to ``first[b + 1]``; order v has the cumulative weight ``cumulative[v]``
    within its block and puts slot s at place ``places[offset[v] + s]`` of the block.
    """

    block: Integers
    slot: Integers
    start: Integers
    first: Integers
    cumulative: Floats
    offset: Integers
    places: Integers


class Block(NamedTuple):
    """Some arms, orders of them (as slots), and the orders' weights."""

    arms: Integers
    orders: Integers
    weights: Floats


def as_mixture(blocks: list[Block]) -> Mixture:
    """Lay out blocks, given from the first to the last, as flat arrays."""
    arms = sum(block.arms.size for block in blocks)
    member, slot = np.zeros(arms, dtype=np.int64), np.zeros(arms, dtype=np.int64)
    for number, block in enumerate(blocks):
        member[block.arms] = number
        slot[block.arms] = np.arange(block.arms.size)
    places = [np.argsort(order) for block in blocks for order in block.orders]
    return Mixture(
        frozen(member),
        frozen(slot),
        frozen(_starts([block.arms.size for block in blocks])),
        frozen(_starts([len(block.orders) for block in blocks])),
        frozen(np.concatenate([np.cumsum(block.weights) for block in blocks])),
        frozen(_starts([place.size for place in places])),
        frozen(np.concatenate(places)),
    )


def _starts(sizes: list[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


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
        orders, weights = decompose(rates[arms], awake, counts, window, chance)
        blocks.append(Block(arms, orders, weights))
        for probability in awake:
            chance = add_arm(counts, window, chance, probability)
    return blocks


def decompose(
    target: Floats, probabilities: Floats, counts: Floats, window: Integers, chance: float
) -> tuple[Integers, Floats]:
    """Return priority orders and weights whose mixture gives the target rates.

    The target is on the base of the polymatroid of these arms behind those in ``counts``.

    Examples
    --------
    One play, two arms that are always awake, three quarters and one quarter of the rounds:

    >>> counts, window = np.zeros(1), np.zeros(2, dtype=np.int64)
    >>> chance = no_arms(counts, window)
    >>> decompose(np.array([0.75, 0.25]), np.ones(2), counts, window, chance)
    (array([[0, 1],
           [1, 0]]), array([0.75, 0.25]))
    """
    vertex_of = compiled_if_large(rates_of_order, target.size)
    orders: list[Integers] = []
    weights: list[float] = []
    left = 1.0
    while left > 0.0:
        order = descending(promises(target, probabilities))
        vertex = vertex_of(order, probabilities, counts.copy(), window.copy(), chance)
        reach = 1.0
        if np.max(np.abs(target - vertex)) * left > CLOSE and len(orders) < target.size - 1:
            # Rounding grows as the weight that is left shrinks; its effect on the rates does not.
            noise = CLOSE / left
            room = Room(vertex_of, probabilities, counts, window, chance)
            reach = furthest(room, vertex, target - vertex, noise)
        weight = left * (1.0 - 1.0 / reach) if reach > 1.0 else left
        orders.append(order)
        weights.append(weight)
        left -= weight
        target = vertex + reach * (target - vertex)
    return np.array(orders), np.array(weights)


class Room(NamedTuple):
    """Arms of a block, behind the arms that are counted already."""

    vertex_of: Callable[..., Floats]
    probabilities: Floats
    counts: Floats
    window: Integers
    chance: float


def furthest(room: Room, vertex: Floats, step: Floats, noise: float) -> float:
    """Return the largest s of at least 1 for which ``vertex + s step`` is still achievable.

    Newton's method: for each s the worst set is a prefix in descending rate over probability.
    """
    down, up = step < -noise, step > noise
    most = room.probabilities * room.chance
    limits = np.concatenate([-vertex[down] / step[down], (most - vertex)[up] / step[up]])
    reach = float(np.min(limits, initial=1e15))
    for _ in range(10 * step.size):
        point = vertex + reach * step
        order = descending(promises(point, room.probabilities))
        most = room.vertex_of(
            order, room.probabilities, room.counts.copy(), room.window.copy(), room.chance
        )
        slack = np.cumsum(most[order] - point[order])
        end = int(np.argmin(slack)) + 1
        if slack[end - 1] >= -noise:
            break
        moved = float(step[order[:end]].sum())
        free = float((most - vertex)[order[:end]].sum())
        if moved <= noise or free / moved >= reach:
            break
        reach = free / moved
    return max(reach, 1.0)
