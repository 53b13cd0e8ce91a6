"""Promises that exclude each other: which ones, and by how much.

Which rows exclude each other follows from the multipliers of the program that misses them by as
little as possible in all: those above 0 are a proof. Rows without which the rest is still a proof
are left out one by one, so that what is named is minimal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.errors import Certificate, InfeasibleFloors, InfeasiblePromises
from evenhand.promise_rows import AT_LEAST, Rows, floor_rows, joined
from evenhand.rate_program import Missing, RateProgram

TOLERANCE = 1e-9
UNEQUAL = 1e-6


class Achievable(Protocol):
    """What can be achieved at all: the rates of all policies."""

    def missing(self, rows: Rows) -> Missing:
        """Return by how much rows must be missed."""

    def most(self, rows: Rows, weights: Floats) -> float:
        """Return the most of the weighted sum of lower rows that upper rows allow."""

    def headroom(self, rows: Rows) -> float:
        """Return the largest common multiplier of lower bounds with which all rows fit."""


def conflict(rows: Rows, arms: Sequence[str], achievable: Achievable) -> InfeasiblePromises | None:
    """Return the error that names the rows which exclude each other; None if all fit."""
    found = achievable.missing(rows)
    if found.total <= TOLERANCE:
        return None
    kept = np.flatnonzero(found.multipliers > TOLERANCE).tolist()
    for row in list(kept):
        rest = [other for other in kept if other != row]
        if rest and achievable.missing(rows.take(rest)).total > TOLERANCE:
            kept = rest
    named = rows.take(kept)
    return _error(named, arms, achievable, achievable.headroom(rows))


def _error(
    named: Rows, arms: Sequence[str], achievable: Achievable, headroom: float
) -> InfeasiblePromises:
    """Say what is needed, and what is possible at most."""
    lower = named.sign == AT_LEAST
    weights = np.where(lower, achievable.missing(named).weights, 0.0)
    weights /= float(weights.max())
    if weights[lower].min() > 1.0 - UNEQUAL:
        weights = np.where(lower, 1.0, 0.0)
    needed = float(weights @ named.bound)
    possible = achievable.most(named, weights)
    concerned = named.members[lower].any(axis=0)
    different = tuple(dict.fromkeys(named.names))
    certificate = Certificate(
        tuple(arms[i] for i in np.flatnonzero(concerned).tolist()),
        needed,
        possible,
        different,
        tuple(weights[lower].tolist()),
    )
    sentence = "The promises cannot all be kept: " + _sentence(named, weights, needed, possible)
    return InfeasiblePromises(sentence, certificate, headroom)


def _sentence(named: Rows, weights: Floats, needed: float, possible: float) -> str:
    """Return the numbers of a certificate in words."""
    lower, upper = np.flatnonzero(named.sign == AT_LEAST), np.flatnonzero(named.sign != AT_LEAST)
    units = {"reward" if named.reward[i] else "plays" for i in lower}
    unit = " and ".join(sorted(units))
    if lower.size == 1:
        head = f"{named.words[lower[0]]} needs {needed:.6g} {unit} a round, but "
        head += f"its arms may have at most {possible:.6g}" if upper.size else (
            f"at most {possible:.6g} can be given"
        )  # fmt: skip
    else:
        equal = float(weights[lower].min()) == 1.0
        parts = [
            f"{'' if equal else f'{weights[i]:.4g} x '}{named.words[i]} ({named.bound[i]:.6g})"
            for i in lower
        ]
        listed = " and ".join([", ".join(parts[:-1]), parts[-1]])
        head = (
            f"{listed} need {needed:.6g} {unit} a round together, "
            f"but at most {possible:.6g} can be given"
        )
    if upper.size:
        limits = ", ".join(f"{named.words[i]} at most {named.bound[i]:.6g}" for i in upper)
        head += f": {limits}"
    return head + "."


def check_possible(
    arms: Sequence[str], plays: int, weights: Floats, floors: Floats, rows: Rows
) -> None:
    """Raise InfeasiblePromises if promises do not fit even if all arms are always awake.

    A promise of reward is looked at as if every mean were 1; whether ceilings of reward are kept
    depends on the means.

    >>> from evenhand.promise_rows import stacked
    >>> check_possible(("a", "b"), 1, np.ones(2), np.array([0.7, 0.7]), stacked([], 2))
    Traceback (most recent call last):
    ...
    evenhand.errors.InfeasibleFloors: The floors cannot all be kept: arms 'a' and 'b' are ...
    """
    plays, total = min(plays, len(arms)), math.fsum(floors)
    if total > plays * (1.0 + TOLERANCE):
        concerned = tuple(arm for arm, floor in zip(arms, floors, strict=True) if floor > 0.0)
        raise InfeasibleFloors(Certificate(concerned, total, float(plays)), plays / total)
    known = rows.take(~(rows.reward & (rows.sign != AT_LEAST)))
    if not known.size:
        return
    both = joined(floor_rows(arms, floors), known)
    found = conflict(both, arms, RateProgram(weights, np.ones(len(arms)), plays))
    if found is not None:
        raise found
