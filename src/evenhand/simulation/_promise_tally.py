"""What is kept of every moment of a run about promises beyond floors.

Amounts are signed, so that more is better for every row: what a row that asks for at most so much
had counts as less than nothing. Plain functions, which both engines call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.promises import PromiseArrays
from evenhand.core.state import NoPromises
from evenhand.promise_rows import Rows
from evenhand.results.anytime import AnytimeSettings
from evenhand.results.promises import PromiseMoments
from evenhand.simulation._tally import BEGIN, END, begin_window, end_window, step_between


class PromiseTally(NamedTuple):
    """Figures under way, one number for each row; see :class:`Tally` for the same of arms.

    ``played`` are the signed amounts so far, ``fewest`` the least of them in a window.
    """

    burn_in: int
    window: int
    step: int
    played: Floats
    debts: Floats
    fewest: Floats
    begun: Floats
    turns: Integers


def new_promise_tally(marks: AnytimeSettings, rows: int) -> PromiseTally | NoPromises:
    """Return a tally before the first round; none if nothing is promised beyond floors."""
    if not rows:
        return NoPromises()
    step = step_between(marks.window, rows)
    begun = np.zeros((-(-marks.window // step), rows))
    turns = np.array([step, 1 % len(begun), marks.window, 0])
    fewest = np.full(rows, np.inf)
    played, debts = np.zeros(rows), np.zeros((2, rows))
    return PromiseTally(marks.burn_in, marks.window, step, played, debts, fewest, begun, turns)


def count_no_promises(
    tally: Any, promises: Any, rewards: Floats, chosen: Integers, count: int, rounds: int
) -> None:
    """Take nothing in."""


def count_promises(
    tally: PromiseTally,
    promises: PromiseArrays,
    rewards: Floats,
    chosen: Integers,
    count: int,
    rounds: int,
) -> None:
    """Take in what every row had in a round, counted from 1: rewards as they are drawn."""
    late = int(rounds - 1 > tally.burn_in)
    for c in range(count):
        i = chosen[c]
        for k in range(promises.first[i], promises.first[i + 1]):
            j = promises.rows[k]
            amount = promises.weights[i] * rewards[i] if promises.reward[j] else 1.0
            tally.played[j] += promises.sign[j] * amount
    for j in range(tally.played.size):
        owed = promises.sign[j] * promises.bound[j] * rounds - tally.played[j]
        tally.debts[late, j] = max(tally.debts[late, j], owed)
    if rounds == tally.turns[END]:
        end_window(tally)
    if rounds == tally.turns[BEGIN]:
        begin_window(tally)


def promise_moments(tally: Any, rows: Rows) -> PromiseMoments:
    """Return what a run that has ended leaves about promises; empty lists if there are none."""
    if not rows.size:
        none = np.empty(0)
        return PromiseMoments(none, none, none, none)
    most = np.maximum(tally.debts[0], tally.debts[1])
    lacking = rows.sign * rows.bound - tally.fewest / tally.window
    amounts = rows.sign * tally.played
    return PromiseMoments(amounts, most, tally.debts[1].copy(), np.maximum(lacking, 0.0))
