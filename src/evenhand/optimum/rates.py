"""Any promises on arms that wake independently: a program over rates, with limits as needed.

The achievable rates are those with ``x(B) <= f(B)`` for every set B of arms. Given some rates, the
set that breaks its limit most minimises ``f(B) - x(B)``, and so is a prefix of the arms in
descending ``x_i / p_i`` (``docs/theory.md``). So the program over rates is solved with the limits
of few sets, and the prefixes that its solution breaks are added until it breaks none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from evenhand.conflicts import conflict
from evenhand.core.arrays import Floats
from evenhand.core.jit import compiled_if_large
from evenhand.optimum._growing import SMALLEST_ENTRY
from evenhand.optimum.feasibility import prefix_plays
from evenhand.optimum.independent import descending, unbound_value
from evenhand.optimum.result import Optimum, limits_of, promise_figures
from evenhand.promise_rows import Rows, floor_rows, joined
from evenhand.rate_program import TIGHT, Limit, RateProgram

# How many prefixes of the arms by value there are at first, and how many are added at once.
FIRST_LIMITS, MORE_LIMITS = 12, 30
# What missing a row by a unit costs, where rounding alone keeps all rows from fitting.
PENALTY = 1e6


class IndependentRates(RateProgram):
    """Rates of arms that wake independently of each other."""

    def __init__(self, values: Floats, probabilities: Floats, plays: int) -> None:
        self._probabilities, self._plays = probabilities, plays
        self._prefix_plays = compiled_if_large(prefix_plays, values.size)
        order = descending(values)
        possible = self._prefix_plays(order, probabilities, plays)
        super().__init__(values, probabilities, float(possible[-1]))
        # Behind the prefix that has all plays there are no limits that matter.
        whole = int(np.searchsorted(possible, possible[-1] * (1.0 - TIGHT)))
        for end in np.unique(np.linspace(0, whole, FIRST_LIMITS + 1).astype(np.int64))[1:]:
            self._limits.append(Limit(order[:end].astype(np.int32), float(possible[end - 1])))

    def broken(self, rates: Floats) -> Sequence[Limit]:
        """Return limits that rates break: those of prefixes that are broken more than others."""
        played = np.flatnonzero(rates > SMALLEST_ENTRY * TIGHT)
        shares = rates[played] / self._probabilities[played]
        order = played[np.argsort(-shares, kind="stable")]
        possible = self._prefix_plays(order, self._probabilities, self._plays)
        beyond = np.cumsum(rates[order]) - possible
        around = np.concatenate([[-np.inf], beyond, [-np.inf]])
        peaks = (beyond >= around[:-2]) & (beyond > around[2:]) & (beyond > TIGHT)
        worst = np.flatnonzero(peaks)
        worst = worst[np.argsort(-beyond[worst], kind="stable")][:MORE_LIMITS]
        return [
            Limit(np.sort(order[: end + 1]).astype(np.int32), float(possible[end])) for end in worst
        ]


def solve_rates(
    values: Floats,
    floors: Floats,
    plays: int,
    probabilities: Floats,
    arms: tuple[str, ...],
    rows: Rows,
) -> Optimum:
    """Return the optimum with all promises, or raise the certificate."""
    scale = float(values.max()) or 1.0
    program = IndependentRates(values / scale, probabilities, plays)
    every = joined(floor_rows(arms, floors), rows)
    scaled = _scaled(every, scale)
    best = program.best(scaled)
    if best is None:
        error = conflict(every, arms, IndependentRates(values, probabilities, plays))
        if error is not None:
            raise error
        best = program.best(scaled, PENALTY)
        assert best is not None
    value, rates, duals = best
    prices = np.where(every.reward, duals, duals * scale)
    own = np.flatnonzero(floors > 0.0)
    by_arm = np.zeros(values.size)
    by_arm[own] = prices[: own.size]
    entries = (rows.entries(number, values) for number in range(rows.size))
    earned = [float(coefficients @ rates[members]) for members, coefficients in entries]
    return Optimum(
        arms,
        floors,
        with_floors=float(values @ rates),
        without_floors=float(
            compiled_if_large(unbound_value, values.size)(values, probabilities, plays)
        ),
        bound=value * scale,
        rates=rates,
        prices=by_arm,
        limits=partial(limits_of, program, arms, floors, _scaled(rows, scale)),
        promises=promise_figures(rows, np.array(earned), prices[own.size :]),
    )


def _scaled(rows: Rows, scale: float) -> Rows:
    """Return rows where values are divided by a number."""
    return rows._replace(bound=np.where(rows.reward, rows.bound / scale, rows.bound))
