"""Contexts as arrays: how they are drawn, and what every arm returns in them.

Plain functions, which the readable engine and the compiled one both call. The context of a round
is drawn first; then the means and the awake probabilities of that round are written in place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Masks, Random, frozen
from evenhand.core.nature import Awake, Payoffs

NUMBER, YES_NO, CATEGORY = range(3)
NO_TABLE = frozen(np.empty((0, 0)))
NO_INDICES = frozen(np.empty(0, dtype=np.int64))


class ContextArrays(NamedTuple):
    """How contexts are drawn, and what they change; the parts that do not apply are empty.

    Attributes
    ----------
    kinds, first
        The kind of each feature, and the first of its columns in an encoded context; at last the
        number of columns.
    parameters
        Two numbers a column. Of a number mean and standard deviation, encoded (0: uniform in
        [-1, 1]); of yes/no the probability of yes; of a category the probability of it or of one
        before it.
    recorded, resampled
        Encoded contexts to replay in order, or to draw from.
    coefficients, logistic
        An arm's mean in the context x is ``x . c``, or the logistic function of that.
    availability
        An arm is awake with the probability ``x . p``; empty if contexts do not matter.
    """

    kinds: Integers = NO_INDICES
    first: Integers = NO_INDICES
    parameters: Floats = NO_TABLE
    recorded: Floats = NO_TABLE
    resampled: bool = False
    coefficients: Floats = NO_TABLE
    logistic: Masks = frozen(np.empty(0, dtype=np.bool_))
    availability: Floats = NO_TABLE


def no_context(
    context: Floats,
    awake: Awake,
    payoffs: Payoffs,
    contexts: ContextArrays,
    weights: Floats,
    now: int,
    rng: Random,
) -> None:
    """Do nothing: the world has no contexts; :func:`apply_context` stands in where it does."""


def apply_context(
    context: Floats,
    awake: Awake,
    payoffs: Payoffs,
    contexts: ContextArrays,
    weights: Floats,
    now: int,
    rng: Random,
) -> None:
    """Draw the context of a round, and let nature be what it is in that context.

    Means and probabilities are written in place, so they are those of ``own_nature``. With recorded
    rewards the mean of a round is what was recorded in it. No array is passed on inside the loops:
    machine code counts a reference for each.
    """
    draw_context(context, contexts, now, rng)
    for i in range(contexts.availability.shape[0]):
        likely = 0.0
        for a in range(context.size):
            likely += contexts.availability[i, a] * context[a]
        awake.probabilities[i] = likely
    for i in range(weights.size):
        mean = 0.0
        if payoffs.recorded.size > 0:
            mean = payoffs.recorded[now, i]
        else:
            for a in range(context.size):
                mean += contexts.coefficients[i, a] * context[a]
            if contexts.logistic[i]:
                mean = sigmoid(mean)
        # Rounding never leaves [0, 1].
        payoffs.means[i] = min(max(mean, 0.0), 1.0)
        payoffs.values[i] = weights[i] * payoffs.means[i]


def draw_context(context: Floats, contexts: ContextArrays, now: int, rng: Random) -> None:
    """Write the encoded context of a round: one draw a feature, unless a normal number is redrawn.

    A normal number is drawn until it is in its range.
    """
    context[0] = 1.0
    rows = contexts.recorded.shape[0]
    if rows > 0:
        row = int(rng.random() * rows) if contexts.resampled else now
        for a in range(context.size):
            context[a] = contexts.recorded[row, a]
    for f in range(contexts.kinds.size):
        a = contexts.first[f]
        if contexts.kinds[f] == CATEGORY:
            draw, taken = rng.random(), False
            end = contexts.first[f + 1]
            for c in range(a, end):
                here = not taken and (draw < contexts.parameters[c, 0] or c == end - 1)
                context[c] = 1.0 if here else 0.0
                taken = taken or here
        elif contexts.kinds[f] == YES_NO:
            context[a] = 1.0 if rng.random() < contexts.parameters[a, 0] else -1.0
        elif contexts.parameters[a, 1] == 0.0:
            context[a] = 2.0 * rng.random() - 1.0
        else:
            context[a] = 2.0
            while not -1.0 <= context[a] <= 1.0:
                drawn = contexts.parameters[a, 1] * rng.standard_normal()
                context[a] = contexts.parameters[a, 0] + drawn


def sigmoid(logit: float) -> float:
    """Return ``1 / (1 + exp(-logit))``.

    >>> sigmoid(0.0), sigmoid(-1000.0)
    (0.5, 0.0)
    """
    if logit >= 0.0:
        return 1.0 / (1.0 + math.exp(-logit))
    grown = math.exp(logit)
    return grown / (1.0 + grown)
