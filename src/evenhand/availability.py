"""How awake sets come about: arms on their own, a table of sets, or a recorded trace.

The three classes reduce to the same arrays, from which the engines draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evenhand.core.arrays import Masks, frozen
from evenhand.core.checks import check_known, check_names, check_per_arm, fail, real
from evenhand.core.nature import Awake

__all__ = ["Availability", "Independent", "Joint", "Trace"]

_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Independent:
    """Each arm is awake with its own probability, independently of the others.

    >>> Independent([0.9, 0.8, 0.7]).arrays(("a", "b", "c")).probabilities
    array([0.9, 0.8, 0.7])
    """

    probabilities: object

    def arrays(self, arms: Sequence[str]) -> Awake:
        """Return the checked arrays for these arms."""
        return Awake(probabilities=check_per_arm("availability", arms, self.probabilities))


@dataclass(frozen=True, eq=False)
class Joint:
    """Any distribution over awake sets: the sets and their probabilities.

    Parameters
    ----------
    sets
        Lists of arm names, or a 0/1 table with one row a set and one column an arm.
    probabilities
        One per set; they sum to one.

    Examples
    --------
    >>> table = Joint([["a", "b"], ["b"], []], [0.5, 0.25, 0.25])
    >>> table.arrays(("a", "b")).members
    array([[ True,  True],
           [False,  True],
           [False, False]])
    """

    sets: object
    probabilities: object

    def arrays(self, arms: Sequence[str]) -> Awake:
        """Return the checked arrays for these arms."""
        members = _member_table("set", self.sets, arms)
        labels = [str(1 + row) for row in range(len(members))]
        checked = check_per_arm("probability", labels, self.probabilities, owner="set")
        cumulative = np.cumsum(checked)
        if abs(cumulative[-1] - 1.0) > _SUM_TOLERANCE:
            fail("the sum of the sets' probabilities", "1", float(cumulative[-1]))
        return Awake(
            members=members,
            set_probabilities=frozen(checked / cumulative[-1]),
            cumulative=frozen(cumulative / cumulative[-1]),
        )


@dataclass(frozen=True, eq=False)
class Trace:
    """Recorded awake sets, replayed in order: a 0/1 table of rounds x arms, or lists of names.

    >>> Trace([[1, 0], [1, 1]]).arrays(("a", "b")).members.shape
    (2, 2)
    """

    rounds: object

    def arrays(self, arms: Sequence[str]) -> Awake:
        """Return the checked arrays for these arms."""
        members = _member_table("round", self.rounds, arms)
        equal = frozen(np.full(len(members), 1.0 / len(members)))
        return Awake(members=members, set_probabilities=equal)


Availability: TypeAlias = Independent | Joint | Trace


def _member_table(row: str, given: object, arms: Sequence[str]) -> Masks:
    """Return awake sets as a boolean table with one column an arm.

    ``row`` says what a row is, for messages; rows are lists of names, or 0 and 1 for each arm.
    """
    if not isinstance(given, np.ndarray):
        if not isinstance(given, list | tuple):
            fail(f"the table of {row}s", "a list or an array", given)
        position = {arm: i for i, arm in enumerate(arms)}
        given = [_entries(f"{row} {i}", entry, position) for i, entry in enumerate(given, 1)]
    if len(given) == 0:
        fail(f"the table of {row}s", f"at least one {row}", "none")
    table = np.asarray(given)
    if table.ndim != 2 or table.shape[1] != len(arms):
        fail(f"the table of {row}s", f"{len(arms)} wide, one column an arm", table.shape)
    if table.dtype.kind not in "biuf":
        fail(f"the table of {row}s", "made of 0 and 1, or of names", table.dtype.name)
    wrong = np.argwhere((table != 0) & (table != 1))
    if len(wrong):
        i, j = wrong[0]
        fail(f"entry of arm {arms[j]!r} in {row} {i + 1}", "0 or 1", table[i, j].item())
    return frozen(np.array(table, dtype=np.bool_, order="C"))


def _entries(row: str, entry: object, position: Mapping[str, int]) -> list[object]:
    """Return 0 or 1 for each arm, from such a list or from a list of names."""
    if not isinstance(entry, list | tuple | np.ndarray):
        fail(row, "a list", entry)
    values = list(entry)
    if all(isinstance(value, str) for value in values):
        present = set(check_names(f"arms of {row}", values))
        check_known(f"arm in {row}", present, position)
        return [arm in present for arm in position]
    if len(values) != len(position):
        fail(row, f"{len(position)} wide, one column an arm", len(values))
    for value in values:
        if real(value) is None and not isinstance(value, bool | np.bool_):
            fail(row, "made of 0 and 1, or of names", value)
    return values
