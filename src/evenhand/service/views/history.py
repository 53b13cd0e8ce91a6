"""How a bandit and its arms stood over time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.service.engine.config_version import ConfigVersions
from evenhand.service.engine.history import DAY, HOUR, HistoryRecord, read_point
from evenhand.service.stores.protocol import HistoryPoint, View
from evenhand.service.views.lookup import find_head
from evenhand.service.views.schemas import ArmHistory, HistoryResponse, Range

SECONDS: dict[Range, int] = {"hour": HOUR, "day": DAY, "all": 2**62}
# About as many points as a chart can show.
POINTS = 720
DIGITS = 6


def history_of(
    view: View, name: str, span: Range, arms: Sequence[str] | None, now: float
) -> HistoryResponse:
    """Return how a bandit stood over a range, with some of its arms, or all for None.

    A range starts with the state at its beginning, which is that of the last event before it.
    """
    head, since = find_head(view, name), max(int(now) - SECONDS[span], 0)
    configs = ConfigVersions(view, head.key)
    wanted = (
        configs[head.config_version].table.problem.arms if arms is None else dict.fromkeys(arms)
    )
    points = spread(view.history(head.key, since), since)
    found = [read_point(point) for point in points]
    return HistoryResponse(
        name,
        span,
        all(one.rates.size for one in found),
        [max(one.at, float(since)) for one in found],
        [int(one.decisions) for one in found],
        [int(one.told) for one in found],
        [int(one.expired) for one in found],
        [int(one.pending) for one in found],
        [one.reward for one in found],
        _arms(list(wanted), points, found, configs),
    )


def spread(points: list[HistoryPoint], since: int) -> list[HistoryPoint]:
    """Return at most about ``POINTS`` points, evenly over the time, and the last one."""
    if len(points) <= POINTS:
        return points
    step = -((max(points[0].at, since) - points[-1].at) // POINTS)
    first: dict[int, HistoryPoint] = {}
    for point in points[:-1]:
        first.setdefault(point.at // step, point)
    return [*first.values(), points[-1]]


def _arms(
    names: list[str],
    points: Sequence[HistoryPoint],
    found: Sequence[HistoryRecord],
    configs: ConfigVersions,
) -> list[ArmHistory]:
    """Return the histories of arms, whose index may differ between configurations."""
    histories = [ArmHistory(name, [], []) for name in names]
    pairs = zip(points, found, strict=True)
    for number, group in groupby(pairs, lambda pair: pair[0].config_version) if names else ():
        records = [one for _, one in group]
        position = configs[number].table.position
        rates = _matrix([one.rates for one in records])
        debts = _matrix([one.debts for one in records])
        for history in histories:
            index = position.get(history.name)
            history.rates += _column(rates, index, len(records))
            history.debts += _column(debts, index, len(records))
    return histories


def _matrix(rows: Sequence[Floats]) -> Floats | None:
    """Return a row per point; None if some points have no arms."""
    if not all(row.size for row in rows):
        return None
    numbers: Floats = np.stack(rows).round(DIGITS)
    return numbers


def _column(values: Floats | None, index: int | None, count: int) -> list[float | None]:
    """Return the numbers of one arm; None where there are none."""
    if values is None or index is None:
        return [None] * count
    column: list[float | None] = values[:, index].tolist()
    return column
