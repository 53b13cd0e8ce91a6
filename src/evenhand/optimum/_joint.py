"""The optimum for any distribution over awake sets: column generation with HiGHS.

The rates that can be achieved are the mixtures of the rates of priority orders (for each awake
set, the m awake arms that come first). So the linear program over all (set, arm) pairs is solved
with one column per priority order that matters: the duals of a small program give the next order,
and the duality gap says when no further one can help. The mixture is the optimal policy itself.

Rows are scaled by how often their arm is awake, so that an arm which seldom is counts like the
others, down to what is lost in the duality gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evenhand.core.arrays import Floats, Integers, Masks, frozen
from evenhand.errors import EvenhandError
from evenhand.optimum._growing import SMALLEST_ENTRY, GrowingProgram, ProgramSolution

# A gap at which to stop, one that is still accepted as rounding, and the most orders to try.
GAP, ROUNDING_GAP, MOST_STEPS = 1e-11, 1e-8, 20_000
SMOOTHING = 0.7
# What missing a floor costs: prices need never exceed the largest value (along a chain of arms that
# take each other's places values cancel), so a little more than that keeps every floor.
PENALTY = 1.25
NO_ENTRIES = frozen(np.empty(0))


class Table(NamedTuple):
    """Different awake sets, one column each (a row an arm), and their probabilities."""

    awake: Masks
    probabilities: Floats
    plays: int

    @property
    def availability(self) -> Floats:
        """How often each arm is awake."""
        rates: Floats = self.awake @ self.probabilities
        return rates


class Solution(NamedTuple):
    """A mixture of choices, its rates, and the multipliers that prove it optimal."""

    value: float
    bound: float
    rates: Floats
    multipliers: Floats
    choices: NDArray[Any]
    weights: Floats
    entries: Floats
    used: tuple[Choice, ...]


def distinct(members: Masks, probabilities: Floats, plays: int) -> Table:
    """Merge equal sets (one row each) and drop those that never occur."""
    packed = np.packbits(members, axis=1)
    keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    total = np.bincount(inverse.ravel(), weights=probabilities).astype(np.float64)
    used = total > 0.0
    return Table(np.ascontiguousarray(members[first[used]].T), total[used], plays)


def rates_of(table: Table, order: Integers) -> Floats:
    """Return each arm's rate when play follows one priority order.

    >>> table = Table(np.array([[True, False], [True, True]]), np.array([0.5, 0.5]), 1)
    >>> rates_of(table, np.array([0, 1]))
    array([0.5, 0.5])
    """
    rates = np.zeros(order.size)
    left = table.probabilities.copy()
    taken = np.zeros(left.size, dtype=np.int32)
    for i in order:
        awake = table.awake[i]
        rates[i] = awake @ left
        taken += awake
        left *= taken < table.plays
    return rates


class Choice(NamedTuple):
    """What some multipliers choose: the value per round and the rates, and how it is done.

    ``how`` is a priority order, or the prices that are added to values. ``entries`` are what the
    rows of a program have of it, if these are not the rates, and ``earned`` each arm's reward.
    """

    how: NDArray[Any]
    value: float
    rates: Floats
    entries: Floats = NO_ENTRIES
    earned: Floats = NO_ENTRIES


Chooser: TypeAlias = Callable[[Floats], Choice]


class Growth(NamedTuple):
    """A program over mixtures of choices that grows by one choice after the other.

    ``solve``, from the last basis or afresh, returns its optimum, the mixture's weights and its
    multipliers. ``limit`` is what no mixture can exceed, by what the multipliers choose.
    """

    choose: Chooser
    add: Callable[[Choice], None]
    solve: Callable[[bool], ProgramSolution]
    limit: Callable[[Floats, Choice], float]


def best_mixture(table: Table, values: Floats, floors: Floats, start: Integers) -> Solution:
    """Maximise ``values . x`` over the rates x with ``x >= floors``, which are feasible.

    ``start`` holds orders to begin with. The multipliers are the floors' prices.
    """
    scale = float(values.max()) or 1.0
    scaled = values / scale

    def choose(prices: Floats) -> Choice:
        return follow(table, np.argsort(-(scaled + prices), kind="stable"), scaled)

    begin = [follow(table, order, scaled) for order in start]
    found = maximise(choose, begin, table.availability, floors, PENALTY)
    return found._replace(
        value=float(values @ found.rates),
        bound=found.bound * scale,
        multipliers=found.multipliers * scale,
    )


def follow(table: Table, order: Integers, values: Floats) -> Choice:
    """Return what a priority order chooses."""
    rates = rates_of(table, order)
    return Choice(order, float(values @ rates), rates)


def maximise(
    choose: Chooser,
    begin: Sequence[Choice],
    own: Floats,
    floors: Floats,
    penalty: float,
    gap: float = GAP,
) -> Solution:
    """Maximise the value of mixtures whose rates are at least the floors, which are feasible.

    Values are 1 at most, ``own`` is how often each arm is awake, and ``penalty`` what a play that
    is missing costs: more than any price.
    """
    bound = np.flatnonzero(floors > 0.0)
    program = GrowingProgram(floors[bound] / own[bound])
    for row, often in zip(np.eye(bound.size), own[bound], strict=True):
        program.add(-penalty * float(often), row, 0.0)

    def add(choice: Choice) -> None:
        program.add(choice.value, choice.rates[bound] / own[bound], 1.0)

    def solve(afresh: bool) -> ProgramSolution:
        value, weights, duals = program.solve(afresh=afresh)
        prices = np.zeros(floors.size)
        prices[bound] = duals / own[bound]
        return ProgramSolution(value, weights[bound.size :], prices)

    def limit(prices: Floats, choice: Choice) -> float:
        return choice.value + float(prices @ (choice.rates - floors))

    return grow(begin, Growth(choose, add, solve, limit), gap)


def widest_mixture(table: Table, floors: Floats) -> Solution:
    """Maximise the common multiplier of the floors of a table, see :func:`widen`."""
    nothing = np.zeros(floors.size)

    def choose(burden: Floats) -> Choice:
        return follow(table, np.argsort(-burden, kind="stable"), nothing)

    return widen(choose, table.availability, floors)


def widen(choose: Chooser, own: Floats, floors: Floats) -> Solution:
    """Maximise the common multiplier of the floors, not all zero; its value is the headroom.

    The multipliers are weights on the arms for which no rates could do better; ``choose`` gives the
    arms of larger weights priority. Arms with a floor are awake at times.
    """
    shares = np.divide(floors, own, out=np.zeros(floors.size), where=floors > 0.0)
    scale = float(shares.max())
    bound = np.flatnonzero(shares > SMALLEST_ENTRY * scale)
    program = GrowingProgram(np.zeros(bound.size))
    program.add(1.0, -shares[bound] / scale, 0.0)

    def add(choice: Choice) -> None:
        program.add(0.0, choice.rates[bound] / own[bound], 1.0)

    def solve(afresh: bool) -> ProgramSolution:
        value, weights, duals = program.solve(afresh=afresh)
        burden = np.zeros(floors.size)
        burden[bound] = duals / own[bound]
        return ProgramSolution(value / scale, weights[1:], burden / (burden @ floors))

    def limit(burden: Floats, choice: Choice) -> float:
        return float(burden @ choice.rates)

    return grow([choose(shares)], Growth(choose, add, solve, limit), GAP)


class Choices:
    """The choices of a growing program, each of them once."""

    def __init__(self, growth: Growth) -> None:
        self._growth = growth
        self._found: dict[bytes, Choice] = {}

    def add(self, choice: Choice) -> bool:
        """Add a choice, unless it is there; say whether it was new."""
        key = choice.how.tobytes()
        new = key not in self._found
        if new:
            self._found[key] = choice
            self._growth.add(choice)
        return new

    def mixed(self, weights: Floats) -> tuple[tuple[Choice, ...], Floats]:
        """Return the choices that a mixture has, and their shares."""
        used, found = np.flatnonzero(weights > 0.0), list(self._found.values())
        shares: Floats = weights[used] / weights[used].sum()
        return tuple(found[i] for i in used), shares


def grow(begin: Sequence[Choice], growth: Growth, gap: float) -> Solution:
    """Add choices until the duality gap closes.

    The next one is looked for between the program's multipliers and the best ones so far: those
    of the program swing, and alone they take almost twice as many steps (Wentges 1997).
    """
    choices = Choices(growth)
    for choice in begin:
        choices.add(choice)
    value, bound, best = 0.0, math.inf, np.empty(0)
    stuck, steps = 0, 0
    while stuck < 2 and bound - value > gap * (1.0 + abs(value)) and steps < MOST_STEPS:
        steps += 1
        # A warm start may miss a column that helps; a cold start finds it.
        value, weights, multipliers = growth.solve(stuck > 0)
        stuck += 1
        between = [SMOOTHING * best + (1.0 - SMOOTHING) * multipliers] if best.size else []
        for point in (*between, multipliers):
            choice = growth.choose(point)
            limit = growth.limit(point, choice)
            if limit < bound:
                bound, best = limit, point
            if choices.add(choice):
                stuck = 0
                break
    if bound - value > max(gap, ROUNDING_GAP) * (1.0 + abs(value)):
        raise EvenhandError(
            f"the optimum of the table of awake sets could not be found: {value:.12g} can be had, "
            f"but the most is proved to be {bound:.12g} only, after {steps:,} steps"
        )
    used, shares = choices.mixed(weights)
    rates, entries = (
        shares @ np.array(part) for part in zip(*((c.rates, c.entries) for c in used), strict=True)
    )
    kept = np.array([choice.how for choice in used])
    return Solution(value, bound, rates, best, kept, shares, entries, used)
