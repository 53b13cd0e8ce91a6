"""What is kept of every moment of a run, in memory that does not grow with the horizon.

A plain function, which the readable engine and the compiled one both call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.results.anytime import AnytimeSettings, Moments

# Windows under way at the same time, and numbers to keep of them, unless there are more arms.
MOST_WINDOWS = 1_000
ROOM = 1 << 20
# By less than this a debt is beyond the tolerance by rounding alone.
ROUNDING = 1e-9
# Places in Tally.turns.
BEGIN, BEGINNING_ROW, END, ENDING_ROW = range(4)


class Tally(NamedTuple):
    """Figures under way, one number for each arm unless it says otherwise.

    Attributes
    ----------
    burn_in, tolerance, window
        What they are measured against.
    step
        How many rounds lie between the beginnings of windows.
    last, gaps
        The round of the last play, and the longest gap so far.
    played
        The plays, as numbers that need not be converted a million times a second.
    debts
        The largest debts up to the burn-in, and those after it, in two rows.
    fewest
        The fewest plays in a window.
    begun
        The plays at the beginnings of the windows under way, a row for each.
    turns
        In which round the next window begins and which row is its own, and the same for the end.
    behind
        One number: in how many rounds some arm was behind.
    """

    burn_in: int
    tolerance: float
    window: int
    step: int
    last: Integers
    gaps: Integers
    played: Floats
    debts: Floats
    fewest: Floats
    begun: Floats
    turns: Integers
    behind: Integers


def new_tally(marks: AnytimeSettings, arms: int) -> Tally:
    """Return a tally before the first round, in which the first window begins."""
    step = step_between(marks.window, arms)
    begun = np.zeros((-(-marks.window // step), arms))
    last, gaps = np.zeros((2, arms), dtype=np.int64)
    played, debts = np.zeros(arms), np.zeros((2, arms))
    fewest = np.full(arms, float(marks.window))
    turns = np.array([step, 1 % len(begun), marks.window, 0])
    behind = np.zeros(1, dtype=np.int64)
    measured = marks._replace(tolerance=marks.tolerance + ROUNDING)
    return Tally(*measured, step, last, gaps, played, debts, fewest, begun, turns, behind)


def step_between(window: int, arms: int) -> int:
    """Return how many rounds lie between the beginnings of windows: 1 unless they are long.

    >>> step_between(1_000, arms=10), step_between(20_000, arms=10), step_between(500, arms=10_000)
    (1, 20, 5)
    """
    return -(-window // min(MOST_WINDOWS, max(ROOM // arms, 1)))


def count_moment(tally: Tally, floors: Floats, chosen: Integers, count: int, rounds: int) -> None:
    """Take in how things stand after a round, counted from 1.

    A debt grows until its arm is played: only then can it have been the largest. Of ``chosen`` the
    first ``count`` are meant: cutting them out would take longer than all else.
    """
    now, late = float(rounds), int(rounds - 1 > tally.burn_in)
    for j in range(count):
        i = chosen[j]
        gap = rounds - tally.last[i]
        tally.gaps[i] = max(tally.gaps[i], gap)
        owed = floors[i] * (now - 1.0) - tally.played[i]
        tally.debts[late, i] = max(tally.debts[late, i], owed)
        tally.last[i] = rounds
        tally.played[i] += 1.0
    behind = 0
    for i in range(floors.size):
        behind |= floors[i] * now - tally.played[i] > tally.tolerance
    tally.behind[0] += behind
    if rounds == tally.turns[END]:
        end_window(tally)
    if rounds == tally.turns[BEGIN]:
        begin_window(tally)


def end_window(tally: Any) -> None:
    """Count the plays in the window that has lasted long enough; of promises, too."""
    row = tally.turns[ENDING_ROW]
    for i in range(tally.fewest.size):
        plays = tally.played[i] - tally.begun[row, i]
        tally.fewest[i] = plays if plays < tally.fewest[i] else tally.fewest[i]
    tally.turns[END] += tally.step
    tally.turns[ENDING_ROW] = row + 1 if row + 1 < tally.begun.shape[0] else 0


def begin_window(tally: Any) -> None:
    """Remember the plays before a window, in a row where another one has ended."""
    row = tally.turns[BEGINNING_ROW]
    for i in range(tally.fewest.size):
        tally.begun[row, i] = tally.played[i]
    tally.turns[BEGIN] += tally.step
    tally.turns[BEGINNING_ROW] = row + 1 if row + 1 < tally.begun.shape[0] else 0


def moments_of(tally: Tally, floors: Floats, horizon: int, behind: Integers) -> Moments:
    """Return what a run that has ended leaves behind."""
    after = np.maximum(tally.debts[1], floors * horizon - tally.played)
    return Moments(
        behind,
        np.maximum(tally.debts[0], after),
        after,
        np.maximum(tally.gaps, horizon - tally.last),
        np.maximum(floors - tally.fewest / tally.window, 0.0),
    )
