"""Weights that fade: what happened in an earlier round counts for less, by half every half-life.

A decision of round tau weighs ``2^(tau / h - epoch)``, by its own round and not by the moment at
which feedback on it arrives; so sums stay sums, whatever the order of arrival, and a common factor,
:func:`fade`, brings them to the present. The epoch moves on in whole half-lives, which scales every
sum by a power of two and loses no bit. Plain functions; without forgetting every weight is 1.
"""

from __future__ import annotations

import math

EPOCH = 64
LOG_2 = math.log(2.0)
LARGEST_POWER = 1000


def power_of_two(exponent: float, shift: int) -> float:
    """Return ``2^(x + n)``, where the whole number n costs no bit; within what a float can hold.

    >>> power_of_two(3.0, 0), power_of_two(2.7, 5) == 32.0 * power_of_two(2.7, 0)
    (8.0, True)
    """
    if exponent + shift < -LARGEST_POWER:
        return 0.0
    if exponent + shift > LARGEST_POWER:
        return math.ldexp(1.0, LARGEST_POWER)
    whole = math.floor(exponent)
    return math.ldexp(math.exp((exponent - whole) * LOG_2), int(whole + shift))


def round_weight(round_: float, epoch: int, half_life: float) -> float:
    """Return what a decision of this round weighs in the sums of this epoch.

    >>> round_weight(300, 0, math.inf), round_weight(300, 1, 100.0)
    (1.0, 4.0)
    """
    if half_life == math.inf:
        return 1.0
    return power_of_two(round_ / half_life, -epoch)


def fade(rounds: float, epoch: int, half_life: float) -> float:
    """Return the factor that brings the sums of this epoch to the present; 1 at most.

    >>> fade(300, 1, 100.0)
    0.25
    """
    if half_life == math.inf or rounds / half_life < epoch:
        return 1.0
    return power_of_two(-rounds / half_life, epoch)


def rounds_lived(rounds: float, half_life: float) -> float:
    """Return what so many latest rounds weigh together: ``1 + 2^(-1/h) + 2^(-2/h) + ...``.

    >>> rounds_lived(3.0, math.inf), round(rounds_lived(2.0, 1.0), 9)
    (3.0, 1.5)
    """
    if half_life == math.inf:
        return rounds
    return math.expm1(-rounds * LOG_2 / half_life) / math.expm1(-LOG_2 / half_life)
