"""How many rounds feedback takes: a fixed number, or a geometrically distributed one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from evenhand.core.arrays import Random
from evenhand.core.checks import POSITIVE, brief, check_number, check_whole
from evenhand.errors import InputError


@dataclass(frozen=True)
class Geometric:
    """Feedback takes 0, 1, 2, ... rounds, geometrically distributed with this mean.

    >>> Geometric(mean=5)
    Geometric(mean=5.0)
    """

    mean: float

    def __post_init__(self) -> None:
        mean = check_number("mean of a geometric delay", self.mean, POSITIVE)
        object.__setattr__(self, "mean", mean)


Delay: TypeAlias = int | Geometric
FOR_EVER = 1e18


class Wait(NamedTuple):
    """A delay as numbers: ``log_stay`` is ln P(one round more), and 0 for a fixed delay."""

    fixed: int
    log_stay: float


def as_wait(delay: object) -> Wait:
    """Check a delay and return its numbers.

    >>> as_wait(3)
    Wait(fixed=3, log_stay=0.0)
    """
    if isinstance(delay, Geometric):
        return Wait(0, -math.log1p(1.0 / delay.mean))
    try:
        return Wait(check_whole("delay", delay, least=0), 0.0)
    except InputError:
        raise InputError(
            f"delay must be a whole number of rounds or Geometric(mean), got {brief(delay)}"
        ) from None


def check_delay(delay: object) -> Delay:
    """Return a valid delay of feedback, or raise InputError.

    >>> check_delay(3)
    3
    """
    return delay if isinstance(delay, Geometric) else as_wait(delay).fixed


def draw_wait(wait: Wait, rng: Random) -> int:
    """Return how many rounds this round's feedback takes: one draw a round, for all its arms."""
    if wait.log_stay == 0.0:
        return wait.fixed
    return math.floor(min(math.log1p(-rng.random()) / wait.log_stay, FOR_EVER))
