"""The history of a bandit: points every few seconds, coarser the older they are.

Points of the last hour are 5 seconds apart, those of the last day 4 minutes, older ones 1, 2, 4 ...
hours, so that there are at most 400 of those. There are none of times in which nothing happened.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.state import cumulative_debts
from evenhand.service.engine.bandit import Bandit
from evenhand.service.engine.commands import RecordHistory
from evenhand.service.engine.unit_of_work import CommandResult, UnitOfWork, handles
from evenhand.service.stores.protocol import HistoryPoint

STEP_SECONDS = 5
HOUR, DAY = 3_600, 86_400
DAY_STEP = 240
MOST_OLD = 400
# With more arms, points have totals only.
MOST_RECORDED = 1_000
TOTALS = 7


class HistoryRecord(NamedTuple):
    """The content of a point; with very many arms ``rates`` and ``debts`` are empty."""

    at: float
    decisions: float
    rounds: float
    told: float
    expired: float
    pending: float
    reward: float
    rates: Floats
    debts: Floats


def read_point(point: HistoryPoint) -> HistoryRecord:
    """Return the content of a point."""
    totals = np.frombuffer(point.body, "<f8", TOTALS).tolist()
    arms = np.frombuffer(point.body, "<f4", offset=8 * TOTALS).astype(np.float64)
    return HistoryRecord(*totals, *arms.reshape(2, -1))


@handles(RecordHistory)
def record(unit: UnitOfWork, command: RecordHistory) -> CommandResult:
    """Add a point to the history of a bandit."""
    bandit, now = unit.bandit, int(unit.now)
    at = now // STEP_SECONDS * STEP_SECONDS
    point = HistoryPoint(at, bandit.config.number, point_body(bandit, unit.now))
    unit.transaction.add_history(bandit.key, point)
    if command.thin:
        thin = unit.transaction.thin_history
        thin(bandit.key, now - DAY, now - HOUR, DAY_STEP)
        first = unit.transaction.history_start(bandit.key)
        thin(bandit.key, 0, now - DAY, old_step(now - (at if first is None else first)))
    return CommandResult(200)


def old_step(age: int) -> int:
    """Return the distance between old points, by the age of the first one, in seconds.

    >>> old_step(400 * 3_600), old_step(401 * 3_600), old_step(10 * 365 * 86_400) // 3_600
    (3600, 7200, 256)
    """
    step = HOUR
    while age > step * MOST_OLD:
        step *= 2
    return step


def point_body(bandit: Bandit, now: float) -> bytes:
    """Return the present state of a bandit as the body of a point."""
    learner, totals = bandit.learner, bandit.totals
    counts = totals.told[0], totals.expired[0], totals.pending.sum(), totals.reward[0]
    numbers = np.array((now, learner.decisions, learner.rounds, *counts), "<f8").tobytes()
    if totals.pending.size > MOST_RECORDED:
        return numbers
    debts = np.maximum(cumulative_debts(learner.state, learner.table.arrays), 0.0)
    rates = learner.rates()
    return numbers + np.array((rates, debts), "<f4").tobytes()
