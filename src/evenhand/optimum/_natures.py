"""What scores choose, in each kind of nature: rates, and reward, of every arm.

Arm i scores ``r_i (worth + slope_i) + offset_i``; the best awake arms are played, and none whose
score is not above 0. With contexts r_i is that of each row.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from evenhand.core.arrays import Floats
from evenhand.core.jit import LARGE, maker
from evenhand.core.nature import Awake
from evenhand.optimum._context_rows import Rows, row_rates
from evenhand.optimum._counting import no_arms, rates_of_order
from evenhand.optimum._joint import Table, distinct


class Scores(NamedTuple):
    """What is added to a play of each arm, and to each unit of its reward."""

    offsets: Floats
    slopes: Floats
    worth: float = 1.0


class Followed(NamedTuple):
    """What scores lead to: how to do the same again, and each arm's plays and reward a round."""

    how: NDArray[Any]
    rates: Floats
    earned: Floats


class Nature(Protocol):
    """Possible rounds: ``own`` is how often each arm is awake, ``typical`` what a play earns.

    ``scale`` is the largest value.
    """

    own: Floats
    typical: Floats
    scale: float

    def follow(self, scores: Scores) -> Followed:
        """Return what scores lead to."""

    def scaled(self, scale: float) -> Nature:
        """Return the same nature with values divided by a number."""


class IndependentArms:
    """Arms that wake independently of each other."""

    def __init__(self, values: Floats, probabilities: Floats, plays: int) -> None:
        self.own, self.typical, self._plays = probabilities, values, plays
        self.scale = float(values.max()) or 1.0
        self._rates = maker(values.size > LARGE)(rates_of_order)

    def scaled(self, scale: float) -> IndependentArms:
        """Return the same nature with values divided by a number."""
        return IndependentArms(self.typical / scale, self.own, self._plays)

    def follow(self, scores: Scores) -> Followed:
        """Return what scores lead to: a priority order."""
        order = priority(self.typical, scores)
        counts, window = np.zeros(self._plays), np.zeros(2, dtype=np.int64)
        chance = no_arms(counts, window)
        rates = self._rates(order[order >= 0], self.own, counts, window, chance)
        return Followed(order, rates, self.typical * rates)


class AwakeSets:
    """Arms that wake in sets of a table."""

    def __init__(self, values: Floats, table: Table) -> None:
        self.own, self.typical, self._table = table.availability, values, table
        self.scale = float(values.max()) or 1.0

    def scaled(self, scale: float) -> AwakeSets:
        """Return the same nature with values divided by a number."""
        return AwakeSets(self.typical / scale, self._table)

    def follow(self, scores: Scores) -> Followed:
        """Return what scores lead to: a priority order."""
        order, table = priority(self.typical, scores), self._table
        rates, left = np.zeros(order.size), table.probabilities.copy()
        taken = np.zeros(left.size, dtype=np.int32)
        for i in order[order >= 0]:
            awake = table.awake[i]
            rates[i] = awake @ left
            taken += awake
            left *= taken < table.plays
        return Followed(order, rates, self.typical * rates)


class ContextRows:
    """Contexts, in each of which arms wake independently of each other."""

    def __init__(self, rows: Rows) -> None:
        self.own, self._rows = rows.availability, rows
        often = np.maximum(self.own, 1e-300)
        self.typical = rows.probabilities @ (rows.awake * rows.values) / often
        self.scale = float(rows.values.max(initial=0.0)) or 1.0

    def scaled(self, scale: float) -> ContextRows:
        """Return the same nature with values divided by a number."""
        return ContextRows(self._rows._replace(values=self._rows.values / scale))

    def scores(self, scores: Scores) -> Floats:
        """Return what every arm scores in every row."""
        found: Floats = self._rows.values * (scores.worth + scores.slopes) + scores.offsets
        return found

    def by_row(self, scores: Scores) -> Floats:
        """Return each arm's rate in every row."""
        found = self.scores(scores)
        wanted = self._rows._replace(awake=np.where(found > 0.0, self._rows.awake, 0.0))
        return row_rates(wanted, found)

    def follow(self, scores: Scores) -> Followed:
        """Return what scores lead to: they are how."""
        chosen, chances = self.by_row(scores), self._rows.probabilities
        how = np.concatenate([scores.offsets, scores.slopes, [scores.worth]])
        return Followed(how, chances @ chosen, chances @ (self._rows.values * chosen))


def priority(values: Floats, scores: Scores) -> NDArray[Any]:
    """Return the arms in descending score; those that are not to be played are -1, at the end.

    >>> priority(np.array([0.5, 0.9]), Scores(np.array([0.0, -1.0]), np.zeros(2)))
    array([ 0, -1])
    """
    found = values * (scores.worth + scores.slopes) + scores.offsets
    order = np.argsort(-found, kind="stable")
    return np.where(found[order] > 0.0, order, -1)


def nature_of(values: Floats, awake: Awake, plays: int) -> Nature:
    """Return arms without contexts as a nature."""
    if awake.probabilities.size:
        return IndependentArms(values, awake.probabilities, plays)
    return AwakeSets(values, distinct(awake.members, awake.set_probabilities, plays))
