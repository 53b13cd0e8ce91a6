r"""Promises as rows: one for each side.

Row j has a sign (1: at least, -1: at most), a bound b_j and members; with c_ji = 1 for a member of
a promise of plays, and its weighted mean w_i u_i for a promise of reward, it asks for

.. math:: \text{sign}_j \sum_i c_{ji} x_i \ge \text{sign}_j b_j

of the rates x. A floor is such a row, too; the arrays of floors stand apart, since most problems
have nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.arrays import Floats, Integers, Masks, frozen
from evenhand.core.promises import PromiseArrays
from evenhand.core.state import NoPromises
from evenhand.promises import Promise

AT_LEAST, AT_MOST = 1.0, -1.0


class Row(NamedTuple):
    """One side of a promise, as it stands among the rows of a problem.

    ``promise`` is its name, and ``words`` what messages call it.
    """

    promise: str
    words: str
    members: Integers
    sign: float
    bound: float
    reward: bool
    surplus: float | None


class Rows(NamedTuple):
    """All rows of a problem beyond its floors, as arrays; ``members`` has a line a row.

    ``surplus`` is not a number where that of the policy counts.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    members: Masks
    sign: Floats
    bound: Floats
    reward: Masks
    surplus: Floats

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.names)

    def entries(self, number: int, values: Floats) -> tuple[NDArray[np.int32], Floats]:
        """Return the arms of a row, and its coefficients where plays earn these values."""
        arms = np.flatnonzero(self.members[number]).astype(np.int32)
        return arms, values[arms] if self.reward[number] else np.ones(arms.size)

    def take(self, where: Any) -> Rows:
        """Return some of the rows."""
        chosen = np.arange(self.size)[where]
        names, words = (tuple(part[i] for i in chosen) for part in (self.names, self.words))
        return Rows(names, words, *(array[chosen] for array in self[2:]))


def rows_of(arms: Sequence[str], ceilings: Floats, promises: Sequence[Promise]) -> Rows:
    """Return the rows of ceilings below 1, then of promises: what is at least first.

    >>> rows = rows_of(("a", "b"), np.array([1.0, 0.4]), [Promise("all", exactly=0.5)])
    >>> rows.words, rows.sign.tolist()
    (("'b'", "'all arms'", "'all arms'"), [-1.0, 1.0, -1.0])
    """
    position = {arm: index for index, arm in enumerate(arms)}
    rows = [
        Row(
            f"ceiling of {arms[i]}", repr(arms[i]), np.array([i]), AT_MOST, float(ceilings[i]),
            False, None,
        )
        for i in np.flatnonzero(ceilings < 1.0).tolist()
    ]  # fmt: skip
    for promise in promises:
        members = np.array([position[arm] for arm in promise.names(arms)], dtype=np.int64)
        for sign, bound in ((AT_LEAST, promise.at_least), (AT_MOST, promise.at_most)):
            if bound is not None:
                reward, name = promise.of == "reward", promise.label
                row = Row(name, repr(name), members, sign, bound, reward, promise.surplus)
                rows.append(row)
    return stacked(rows, len(arms))


def floor_rows(arms: Sequence[str], floors: Floats) -> Rows:
    """Return the rows of floors above 0."""
    rows = [
        Row(f"floor of {arms[i]}", f"the floor of {arms[i]!r}", np.array([i]), AT_LEAST,
            float(floors[i]), False, None)
        for i in np.flatnonzero(floors > 0.0).tolist()
    ]  # fmt: skip
    return stacked(rows, len(arms))


def stacked(rows: Sequence[Row], arms: int) -> Rows:
    """Return rows as arrays."""
    members = np.zeros((len(rows), arms), dtype=np.bool_)
    for number, row in enumerate(rows):
        members[number, row.members] = True
    surplus = [math.nan if row.surplus is None else row.surplus for row in rows]
    return Rows(
        tuple(row.promise for row in rows),
        tuple(row.words for row in rows),
        frozen(members),
        frozen(np.array([row.sign for row in rows])),
        frozen(np.array([row.bound for row in rows])),
        frozen(np.array([row.reward for row in rows], dtype=np.bool_)),
        frozen(np.array(surplus)),
    )


def joined(first: Rows, second: Rows) -> Rows:
    """Return the rows of both."""
    arrays = (np.concatenate(pair) for pair in zip(first[2:], second[2:], strict=True))
    return Rows(first.names + second.names, first.words + second.words, *arrays)


def arrays_of(rows: Rows, weights: Floats, surplus: float) -> PromiseArrays | NoPromises:
    """Return rows as a round knows them, before the first one; ``surplus`` is the policy's.

    That is in plays; for a promise of reward, as many times the largest weight of its arms.
    """
    count = rows.size
    if not count:
        return NoPromises()
    units = np.where(rows.reward, np.max(np.where(rows.members, weights, 0.0), axis=1), 1.0)
    own = np.where(units > 0.0, surplus * np.where(units > 0.0, units, 1.0), surplus)
    arms, where = np.nonzero(rows.members.T)
    first = np.searchsorted(arms, np.arange(weights.size + 1))
    debts, delivered, had, bonuses = np.zeros((4, count))
    nothing = frozen(np.zeros(count))
    return PromiseArrays(
        sign=rows.sign,
        bound=rows.bound,
        reward=rows.reward,
        surplus=frozen(np.where(np.isnan(rows.surplus), own, rows.surplus)),
        since=nothing,
        promised=nothing,
        begun=nothing,
        settled=nothing,
        born=nothing,
        first=frozen(first.astype(np.int64)),
        rows=frozen(where.astype(np.int64)),
        weights=weights,
        debts=debts,
        delivered=delivered,
        had=had,
        bonuses=bonuses,
    )
