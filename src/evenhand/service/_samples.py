"""How a bandit stood, written down every few seconds: coarser the older it is, so never much.

Samples of the last hour lie 5 seconds apart, those of the last day 4 minutes, older ones 1, 2,
4 ... hours, so that there are at most 400 of them. There are none of times in which nothing has
happened.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from evenhand._base.arrays import Floats
from evenhand.agent._roster import rounds_present
from evenhand.policies._state import cumulative_debts
from evenhand.service._bandit import Bandit
from evenhand.service._commands import TakeSample
from evenhand.service._stores import Store
from evenhand.service._stores._store import Sample
from evenhand.service._work import Answer, Work

STEP_SECONDS = 5
HOUR, DAY = 3_600, 86_400
DAY_STEP = 240
MOST_OLD = 400
# Of bandits with more arms only totals are kept.
MOST_ARMS = 1_000
# So many bandits are seen to at a time: decisions wait meanwhile.
AT_ONCE = 16
TOTALS = 6


class Standing(NamedTuple):
    """What a sample says; rates and debts are empty for bandits with very many arms."""

    decisions: float
    rounds: float
    told: float
    expired: float
    pending: float
    reward: float
    rates: Floats
    debts: Floats


def standing(sample: Sample) -> Standing:
    """Return what a sample says."""
    totals = np.frombuffer(sample.body, "<f8", TOTALS).tolist()
    arms = np.frombuffer(sample.body, "<f4", offset=8 * TOTALS).astype(np.float64)
    return Standing(*totals, *arms.reshape(2, -1))


def take(work: Work, command: TakeSample) -> Answer:
    """Write down how a bandit stands."""
    bandit, now = work.bandit, int(work.now)
    at = now // STEP_SECONDS * STEP_SECONDS
    sample = Sample(at, bandit.edition.number, _body(bandit))
    work.transaction.add_sample(bandit.key, sample)
    if command.thin:
        first = work.transaction.samples(bandit.key, 0)[0].at
        work.transaction.thin_samples(bandit.key, now - HOUR, DAY_STEP)
        work.transaction.thin_samples(bandit.key, now - DAY, old_step(now - first))
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


def _body(bandit: Bandit) -> bytes:
    counters, roster = bandit.counters, bandit.edition.roster
    state, rounds = counters.state, int(counters.state.rounds[0])
    numbers = (counters.latest, rounds, counters.told, counters.expired)
    totals = np.array((*numbers, counters.pending.sum(), counters.reward), "<f8").tobytes()
    if counters.pending.size > MOST_ARMS:
        return totals
    rates = state.played / np.maximum(rounds_present(roster, rounds), 1.0)
    debts = cumulative_debts(state, roster.terms)
    return totals + np.array((rates, debts), "<f4").tobytes()


class Sampling:
    """Says which bandits a sample is due of: those to which something has happened since the last.

    Every server takes samples; of those of the same time the first one counts.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._slot = 0
        self._sampled: dict[str, tuple[int, int, int]] = {}
        self._waiting: list[str] = []

    def due(self) -> list[TakeSample]:
        """Return some of the samples that are to be taken now."""
        now = int(time.time())
        if not self._waiting and now // STEP_SECONDS != self._slot:
            self._slot = now // STEP_SECONDS
            self._look(now)
        found, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
        return [TakeSample(name, self._thins(name, now)) for name in found]

    def _look(self, now: int) -> None:
        """Find the bandits to which something has happened."""
        with self._store.view() as view:
            heads = view.heads()
        self._sampled = {name: known for name, known in self._sampled.items() if name in heads}
        for name, head in heads.items():
            known = self._sampled.get(name, (0, 0, 0))
            if known[:2] != (head.key, head.version):
                self._sampled[name] = (head.key, head.version, known[2])
                self._waiting.append(name)

    def _thins(self, name: str, now: int) -> bool:
        """Say whether older samples of a bandit are to be thinned out: every few minutes."""
        if name not in self._sampled:
            return False
        key, version, thinned = self._sampled[name]
        self._sampled[name] = (key, version, now // DAY_STEP)
        return thinned != now // DAY_STEP
