"""What samples tell: how a bandit stood over an hour, a day, or all the time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.service._bodies import ArmHistory, HistoryShown, Range
from evenhand.service._reading import Editions, find_head
from evenhand.service._samples import DAY, HOUR, Reading, reading
from evenhand.service.stores.protocol import Sample, View

SECONDS: dict[Range, int] = {"hour": HOUR, "day": DAY, "all": 2**62}
# About so many points fill a screen.
POINTS = 720
DIGITS = 6


def history_of(
    view: View, name: str, span: Range, arms: Sequence[str] | None, now: float
) -> HistoryShown:
    """Return how a bandit stood at some times, and some of its arms: all if none are given.

    A range begins with how it stood then, which is how it stood when something last happened.
    """
    head, since = find_head(view, name), max(int(now) - SECONDS[span], 0)
    editions = Editions(view, head.key)
    wanted = editions[head.edition].table.problem.arms if arms is None else dict.fromkeys(arms)
    samples = spread(view.samples(head.key, since), since)
    found = [reading(sample) for sample in samples]
    return HistoryShown(
        name,
        span,
        all(one.rates.size for one in found),
        [max(one.at, float(since)) for one in found],
        [int(one.decisions) for one in found],
        [int(one.told) for one in found],
        [int(one.expired) for one in found],
        [int(one.pending) for one in found],
        [one.reward for one in found],
        _arms(list(wanted), samples, found, editions),
    )


def spread(samples: list[Sample], since: int) -> list[Sample]:
    """Return about as many samples as fill a screen, evenly over the time, and the last one."""
    if len(samples) <= POINTS:
        return samples
    step = -((max(samples[0].at, since) - samples[-1].at) // POINTS)
    first: dict[int, Sample] = {}
    for sample in samples[:-1]:
        first.setdefault(sample.at // step, sample)
    return [*first.values(), samples[-1]]


def _arms(
    names: list[str], samples: Sequence[Sample], found: Sequence[Reading], editions: Editions
) -> list[ArmHistory]:
    """Return what samples say of some arms; editions may have other arms in other places."""
    histories = [ArmHistory(name, [], []) for name in names]
    pairs = zip(samples, found, strict=True)
    for number, group in groupby(pairs, lambda pair: pair[0].edition) if names else ():
        readings = [one for _, one in group]
        position = editions[number].table.position
        rates = _matrix([one.rates for one in readings])
        debts = _matrix([one.debts for one in readings])
        for history in histories:
            place = position.get(history.name)
            history.rates += _listed(rates, place, len(readings))
            history.debts += _listed(debts, place, len(readings))
    return histories


def _matrix(rows: Sequence[Floats]) -> Floats | None:
    """Return the numbers of all arms, a row a sample; None if some samples have none."""
    if not all(row.size for row in rows):
        return None
    numbers: Floats = np.stack(rows).round(DIGITS)
    return numbers


def _listed(values: Floats | None, place: int | None, count: int) -> list[float | None]:
    """Return the numbers of one arm, None where there are none."""
    if values is None or place is None:
        return [None] * count
    listed: list[float | None] = values[:, place].tolist()
    return listed
