"""What became of promises beyond floors: rates, shortfalls and excesses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.promise_rows import AT_LEAST, Rows


class PromiseMoments(NamedTuple):
    """What was kept of every row of the promises, of a run or of many.

    Attributes
    ----------
    amounts
        The plays or the weighted reward that it had in all.
    most_behind, most_behind_after
        How far it was ever behind, in the unit of its bound, and after the burn-in.
    window_misses
        By how much its bound was missed in the worst window, a round.
    """

    amounts: Floats
    most_behind: Floats
    most_behind_after: Floats
    window_misses: Floats


NOTHING_KEPT = PromiseMoments(*(np.empty((0, 0, 0)) for _ in range(4)))


class RowFacts(NamedTuple):
    """What results say of the rows of promises: names, signs, bounds, units."""

    names: tuple[str, ...] = ()
    signs: tuple[float, ...] = ()
    bounds: tuple[float, ...] = ()
    rewards: tuple[bool, ...] = ()

    @classmethod
    def of(cls, rows: Rows) -> RowFacts:
        """Return what results say of rows."""
        return cls(
            rows.names,
            tuple(rows.sign.tolist()),
            tuple(rows.bound.tolist()),
            tuple(rows.reward.tolist()),
        )

    @classmethod
    def from_plain(cls, plain: Any) -> RowFacts:
        """Return facts from lists by name, as a file has them; None stands for no rows."""
        return cls() if plain is None else cls(*(tuple(plain[name]) for name in cls._fields))

    def misses(self, amounts: Floats, horizon: int) -> Floats:
        """Return by how much bounds are missed a round, by amounts of any number of runs."""
        signs, bounds = np.array(self.signs), np.array(self.bounds)
        lacking: Floats = np.maximum(signs * (bounds - amounts / horizon), 0.0)
        return lacking

    def side(self, sign: float) -> list[int]:
        """Return the rows of one sign."""
        return [index for index, own in enumerate(self.signs) if own == sign]


NO_ROWS = RowFacts()


class PromiseFigures(NamedTuple):
    """What became of a promise; means over replications.

    Attributes
    ----------
    of, at_least, at_most
        Its unit, and its bounds; None where there is none.
    rate
        The plays or the weighted reward that it had a round.
    shortfall, excess
        By how much it lacked its lower bound, and by how much it exceeded its upper one.
    largest_debt
        How far it was ever behind or beyond a bound, in plays or in reward.
    worst_window
        By how much a bound was missed in the worst window, a round.
    """

    of: str
    at_least: float | None
    at_most: float | None
    rate: float
    shortfall: float
    excess: float
    largest_debt: float
    worst_window: float


def promise_figures(
    facts: RowFacts, moments: PromiseMoments, horizon: int
) -> dict[str, PromiseFigures]:
    """Return what became of each promise; moments have replications first."""
    misses, found = facts.misses(moments.amounts, horizon), {}
    for name in dict.fromkeys(facts.names):
        own = [index for index, other in enumerate(facts.names) if other == name]
        sides: dict[str, Any] = dict.fromkeys(("at_least", "at_most"))
        missed = {"shortfall": 0.0, "excess": 0.0}
        for index in own:
            lower = facts.signs[index] == AT_LEAST
            sides["at_least" if lower else "at_most"] = facts.bounds[index]
            missed["shortfall" if lower else "excess"] = float(misses[:, index].mean())
        found[name] = PromiseFigures(
            "reward" if facts.rewards[own[0]] else "plays",
            **sides,
            rate=float(moments.amounts[:, own[0]].mean()) / horizon,
            **missed,
            largest_debt=float(moments.most_behind[:, own].max(axis=1).mean()),
            worst_window=float(moments.window_misses[:, own].max(axis=1).mean()),
        )
    return found
