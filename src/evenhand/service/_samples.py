"""How a bandit stood, written down every few seconds: coarser the older it is, so never much.

Samples of the last hour lie 5 seconds apart, those of the last day 4 minutes, older ones 1, 2,
4 ... hours, so that there are at most 400 of them. There are none of times in which nothing has
happened.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.state import cumulative_debts
from evenhand.service._bandit import Bandit
from evenhand.service._bodies import ArmHistory, HistoryShown, Range
from evenhand.service._commands import TakeSample
from evenhand.service._reading import Editions, find_head
from evenhand.service._work import Answer, Work
from evenhand.service.stores import Store
from evenhand.service.stores.protocol import Sample, View

STEP_SECONDS = 5
HOUR, DAY = 3_600, 86_400
DAY_STEP = 240
MOST_OLD = 400
# Of bandits with more arms only totals are kept.
MOST_SAMPLED = 1_000
# So many bandits are seen to at a time: decisions wait meanwhile.
AT_ONCE = 16
TOTALS = 7


class Reading(NamedTuple):
    """What a sample says of an exact time; of very many arms there are no rates and debts."""

    at: float
    decisions: float
    rounds: float
    told: float
    expired: float
    pending: float
    reward: float
    rates: Floats
    debts: Floats


def reading(sample: Sample) -> Reading:
    """Return what a sample says."""
    totals = np.frombuffer(sample.body, "<f8", TOTALS).tolist()
    arms = np.frombuffer(sample.body, "<f4", offset=8 * TOTALS).astype(np.float64)
    return Reading(*totals, *arms.reshape(2, -1))


def take(work: Work, command: TakeSample) -> Answer:
    """Write down how a bandit stands."""
    bandit, now = work.bandit, int(work.now)
    at = now // STEP_SECONDS * STEP_SECONDS
    sample = Sample(at, bandit.edition.number, body_of(bandit, work.now))
    work.transaction.add_sample(bandit.key, sample)
    if command.thin:
        thin = work.transaction.thin_samples
        thin(bandit.key, now - DAY, now - HOUR, DAY_STEP)
        first = work.transaction.first_sample(bandit.key)
        thin(bandit.key, 0, now - DAY, old_step(now - (at if first is None else first)))
    return Answer(200)


def old_step(age: int) -> int:
    """Return how far old samples lie apart, by the age of the first one, in seconds.

    >>> old_step(400 * 3_600), old_step(401 * 3_600), old_step(10 * 365 * 86_400) // 3_600
    (3600, 7200, 256)
    """
    step = HOUR
    while age > step * MOST_OLD:
        step *= 2
    return step


def body_of(bandit: Bandit, now: float) -> bytes:
    """Return how a bandit stands, in bytes."""
    learner, totals = bandit.learner, bandit.totals
    counts = totals.told[0], totals.expired[0], totals.pending.sum(), totals.reward[0]
    numbers = np.array((now, learner.decisions, learner.rounds, *counts), "<f8").tobytes()
    if totals.pending.size > MOST_SAMPLED:
        return numbers
    debts = np.maximum(cumulative_debts(learner.state, learner.table.arrays), 0.0)
    rates = learner.rates()
    return numbers + np.array((rates, debts), "<f4").tobytes()


class Sampling:
    """Says which bandits a sample is due of: those to which something has happened since the last.

    Every server takes samples; of those of the same time the first one counts. What happened
    before a server was started is sampled with what happens next.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._slot = 0
        self._sampled: dict[str, tuple[int, int]] | None = None
        self._waiting: list[str] = []

    def due(self) -> list[TakeSample]:
        """Return some of the samples that are to be taken now."""
        now = int(time.time())
        if not self._waiting and now // STEP_SECONDS != self._slot:
            self._slot = now // STEP_SECONDS
            self._look()
        found, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
        return [TakeSample(name, self._thins(name, now)) for name in found]

    def missed(self, name: str) -> None:
        """Try again at the next time: a sample could not be taken."""
        if self._sampled is not None:
            self._sampled.pop(name, None)

    def _look(self) -> None:
        """Find the bandits to which something has happened."""
        with self._store.view() as view:
            heads = {name: head[:2] for name, head in view.heads().items()}
        known = heads if self._sampled is None else self._sampled
        self._waiting = [name for name, head in heads.items() if known.get(name) != head]
        self._sampled = heads

    def _thins(self, name: str, now: int) -> bool:
        """Say whether older samples of a bandit are to be thinned out: every few minutes.

        Not those of all bandits at the same time.
        """
        steps = DAY_STEP // STEP_SECONDS
        return zlib.crc32(name.encode()) % steps == now // STEP_SECONDS % steps


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
