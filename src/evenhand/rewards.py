"""How rewards come about: coin flips, Beta-distributed numbers, or a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evenhand.availability import Availability, Trace
from evenhand.core.arrays import Floats, frozen
from evenhand.core.checks import Limits, check_number, fail
from evenhand.core.nature import Awake


@dataclass(frozen=True)
class Bernoulli:
    """Rewards of 0 or 1."""


@dataclass(frozen=True)
class Beta:
    """Real rewards, Beta-distributed around the arm's mean.

    The larger the concentration, the closer to it. It is at least 0.1: below, NumPy and numba draw
    different numbers.

    >>> Beta(concentration=20)
    Beta(concentration=20)
    """

    concentration: float = 10.0

    def __post_init__(self) -> None:
        check_number("concentration", self.concentration, Limits(0.1))


@dataclass(frozen=True, eq=False)
class Recorded:
    """Rewards that were observed: a table of rounds x arms beside a trace.

    An entry counts only where the trace says that the arm was awake, and must be in [0, 1] there.
    """

    rewards: object


Rewards: TypeAlias = Bernoulli | Beta | Recorded


def recorded_table(
    given: object, availability: Availability, awake: Awake, arms: Sequence[str]
) -> Floats:
    """Check recorded rewards against their trace; entries of sleeping arms become 0."""
    if not isinstance(availability, Trace):
        fail("availability", "a Trace when rewards are recorded", type(availability).__name__)
    try:
        table = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        fail("recorded rewards", "a table of numbers, rounds x arms", type(given).__name__)
    if table.shape != awake.members.shape:
        fail("recorded rewards", f"of the trace's shape {awake.members.shape}", table.shape)
    wrong = awake.members & ~((table >= 0.0) & (table <= 1.0))
    if wrong.any():
        row, column = (int(index[0]) for index in np.nonzero(wrong))
        fail(
            f"recorded reward of arm {arms[column]!r} in round {row + 1}",
            "a number in [0, 1]",
            float(table[row, column]),
        )
    table[~awake.members] = 0.0
    return frozen(table)


def recorded_means(recorded: Floats, awake: Awake) -> Floats:
    """Mean over the rounds in which the arm was awake; 0 for an arm that never was."""
    means: Floats = recorded.sum(axis=0) / np.maximum(awake.members.sum(axis=0), 1)
    return np.minimum(means, 1.0)
