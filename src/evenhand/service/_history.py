"""What samples tell: how a bandit stood over an hour, a day, or all the time."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.agent._roster import Roster
from evenhand.service._reading import Editions, find_head
from evenhand.service._samples import DAY, HOUR, Standing, standing
from evenhand.service._stores._store import Sample, View
from evenhand.service._views import ArmHistory, HistoryShown, Range

SECONDS: dict[Range, int] = {"hour": HOUR, "day": DAY, "all": 2**62}
# About so many points fill a screen.
POINTS = 720
DIGITS = 6


def history_of(
    view: View, name: str, span: Range, arms: Sequence[str] | None, now: float
) -> HistoryShown:
    """Return how a bandit stood at some times, and some of its arms: all if none are given."""
    head = find_head(view, name)
    editions = Editions(view, head.key)
    wanted = editions[head.edition].roster.problem.arms if arms is None else tuple(arms)
    samples = spread(view.samples(head.key, max(int(now) - SECONDS[span], 0)))
    found = [standing(sample) for sample in samples]
    rosters = [editions[sample.edition].roster for sample in samples]
    return HistoryShown(
        name,
        span,
        all(one.rates.size for one in found),
        [sample.at for sample in samples],
        [int(one.decisions) for one in found],
        [int(one.told) for one in found],
        [int(one.expired) for one in found],
        [int(one.pending) for one in found],
        [one.reward for one in found],
        [_arm(arm, found, rosters) for arm in wanted],
    )


def spread(samples: list[Sample]) -> list[Sample]:
    """Return about as many samples as fill a screen, evenly over the time, and the last one."""
    if len(samples) <= POINTS:
        return samples
    step = -((samples[0].at - samples[-1].at) // POINTS)
    first: dict[int, Sample] = {}
    for sample in samples[:-1]:
        first.setdefault(sample.at // step, sample)
    return [*first.values(), samples[-1]]


def _arm(name: str, found: Sequence[Standing], rosters: Sequence[Roster]) -> ArmHistory:
    places = [roster.position.get(name) for roster in rosters]
    rates, debts = (
        [
            None if place is None or not numbers.size else round(float(numbers[place]), DIGITS)
            for place, numbers in zip(places, column, strict=True)
        ]
        for column in ([one.rates for one in found], [one.debts for one in found])
    )
    return ArmHistory(name, rates, debts)
