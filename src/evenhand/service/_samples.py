"""How a bandit stood, written down every few seconds: coarser the older it is, so never much.

Samples of the last hour lie 5 seconds apart, those of the last day 4 minutes, older ones 1, 2,
4 ... hours, so that there are at most 400 of them. There are none of times in which nothing has
happened.
"""

from __future__ import annotations

import time
import zlib
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.state import cumulative_debts
from evenhand.service._bandit import Bandit
from evenhand.service._commands import TakeSample
from evenhand.service._work import Answer, Work
from evenhand.service.stores import Store
from evenhand.service.stores.protocol import Sample

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
