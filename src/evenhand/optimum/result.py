"""What the optimum says: rewards, rates, prices, and how much more could be promised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from evenhand.conflicts import Achievable
from evenhand.core.arrays import Floats
from evenhand.promise_rows import AT_LEAST, Rows, floor_rows, joined


class Limits(NamedTuple):
    """How much more could be promised, see :class:`Optimum`."""

    floor_headroom: float
    largest_common_floor: float


def limits_of(achievable: Achievable, arms: tuple[str, ...], floors: Floats, rows: Rows) -> Limits:
    """Return how much more could be promised: all lower bounds, or the same floor for all arms."""
    upper = rows.take(rows.sign != AT_LEAST)
    room = achievable.headroom(joined(floor_rows(arms, floors), rows))
    same = joined(floor_rows(arms, np.ones(len(arms))), upper)
    return Limits(room, achievable.headroom(same))


class PromiseOptimum(NamedTuple):
    """A promise in the optimum: its bounds (None: no bound), what it has, and its price.

    ``price`` is the reward per round that is lost for each unit by which its bounds are raised:
    above 0 where the lower bound costs something, below 0 where the upper one does.
    """

    name: str
    of: str
    at_least: float | None
    at_most: float | None
    rate: float
    price: float


def promise_figures(rows: Rows, delivered: Floats, prices: Floats) -> tuple[PromiseOptimum, ...]:
    """Return the promises that rows belong to."""
    found: dict[str, PromiseOptimum] = {}
    for j, name in enumerate(rows.names):
        unit = "reward" if rows.reward[j] else "plays"
        before = found.get(name) or PromiseOptimum(name, unit, None, None, 0.0, 0.0)
        key = "at_least" if rows.sign[j] == AT_LEAST else "at_most"
        side: dict[str, Any] = {key: float(rows.bound[j])}
        price = before.price + float(rows.sign[j] * prices[j])
        found[name] = before._replace(**side, rate=float(delivered[j]), price=price)
    return tuple(found.values())


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best stationary policies that know everything, with and without the floors.

    Attributes
    ----------
    with_floors, without_floors
        Their rewards per round: Opt-F, which keeps all promises, and Opt-NF, which keeps none.
    bound
        The dual value: no policy that keeps the floors can exceed it. Equals ``with_floors`` but
        for rounding, which is ``gap``.
    rates, prices
        Each arm's optimal rate, and the reward per round that a unit of its floor costs.
    limits
        Computes how much more could be promised, when that is first asked for.
    standard_error
        That of ``with_floors``, where it was computed on a sample of contexts; 0 if it is exact.
    promises
        What was promised beyond floors: what each promise has, and its price.
    """

    arms: tuple[str, ...]
    floors: Floats
    with_floors: float
    without_floors: float
    bound: float
    rates: Floats
    prices: Floats
    limits: Callable[[], Limits]
    standard_error: float = 0.0
    promises: tuple[PromiseOptimum, ...] = ()

    @cached_property
    def _limits(self) -> Limits:
        return self.limits()

    @property
    def floor_headroom(self) -> float:
        """The multiplier to which all lower bounds could be scaled together; infinite without."""
        return self._limits.floor_headroom

    @property
    def largest_common_floor(self) -> float:
        """The largest floor that all arms could have at once, with the upper bounds as they are."""
        return self._limits.largest_common_floor

    @property
    def gap(self) -> float:
        """How much more reward per round than ``with_floors`` is not ruled out: rounding."""
        return self.bound - self.with_floors

    @property
    def price_of_fairness(self) -> float:
        """What all floors together cost, in reward per round."""
        return max(self.without_floors - self.with_floors, 0.0)

    def as_json(self) -> dict[str, Any]:
        """Return the optimum as plain data."""
        return {
            "feasible": True,
            "with_floors": self.with_floors,
            "without_floors": self.without_floors,
            "price_of_fairness": self.price_of_fairness,
            "rates": dict(zip(self.arms, self.rates.tolist(), strict=True)),
            "prices": dict(zip(self.arms, self.prices.tolist(), strict=True)),
            "floor_headroom": self.floor_headroom,
            "largest_common_floor": self.largest_common_floor,
            "gap": self.gap,
            "standard_error": self.standard_error,
            **self._promises(),
        }

    def _promises(self) -> dict[str, Any]:
        if not self.promises:
            return {}
        return {"promises": {one.name: one._asdict() for one in self.promises}}
