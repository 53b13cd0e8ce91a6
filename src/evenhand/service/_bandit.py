"""A bandit at work: the agent's arms and desk, with the store's log in place of a ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evenhand.core.arrays import Integers
from evenhand.core.checks import fail
from evenhand.core.round import flipped
from evenhand.core.state import cumulative_debts
from evenhand.learner.arm_table import Roster, mask_of_names, took_part
from evenhand.learner.arms import Arms
from evenhand.learner.cancelling import as_if_never_made
from evenhand.learner.decision_log import Entry
from evenhand.learner.engine import Compiled
from evenhand.learner.reasons import prices_of
from evenhand.service._bodies import FeedbackRule
from evenhand.service._counters import Counters
from evenhand.service._edition import Edition, serving_policy
from evenhand.service._events import Made, Told
from evenhand.service._why import KEPT, Drawn, DrawnMany, Source

# The reasons of more arms would take seconds to work out.
MOST_EXPLAINED = 2_000
ROSTERS = 8


class Bandit(Arms):
    """The arms of one edition, and the counters that its log adds up to.

    Everything that it does is told to the store by the caller; ``version`` says which of the
    store's versions the counters are.
    """

    def __init__(self, key: int, edition: Edition, compiled: Compiled) -> None:
        policy = serving_policy(edition.policy)
        super().__init__(edition.roster.problem, policy, memory=1, compiled=compiled)
        self.key, self.version, self.edition = key, 0, edition
        self._rosters: dict[int, Roster] = {}
        self.remember(edition)
        self.seq = self.checked = self.told = self.expired = 0
        self.reward = 0.0
        self._binarised = policy.forms.binarised
        self.pending: Integers = np.zeros(len(self.problem.arms), dtype=np.int64)
        self._adopt(edition.roster, self._state, self._base)

    @property
    def latest(self) -> int:
        """How many decisions were made, cancelled ones included."""
        return self._ledger.latest

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms."""
        return self._roster.problem.arms

    @property
    def counters(self) -> Counters:
        """What the log adds up to; the arrays are those at work."""
        sums = self.seq, self.latest, self.checked, self.told, self.expired, self.reward
        return Counters(*sums, self._state, self.pending)

    def awake_counts(self) -> dict[str, float]:
        """Return in how many rounds each arm was awake, or what they weigh."""
        return self.problem.by_arm(self._state.awake_counts)

    def load(self, counters: Counters, version: int) -> None:
        """Go on from what the store's log adds up to, of the same edition."""
        for mine, theirs in zip(self._state[:7], counters.state[:7], strict=True):
            mine[:] = theirs
        self._state.debts[:] = cumulative_debts(self._state, self._roster.terms)
        self.pending = counters.pending
        self.seq, self.checked = counters.seq, counters.checked
        self.told, self.expired, self.reward = counters[3:6]
        self._ledger.latest = counters.latest
        self._desk.read()
        self.version = version

    def decide(self, awake: Sequence[str] | None, explain: bool) -> tuple[Made, Source | None]:
        """Choose arms; clock, debts and plays under way advance at once."""
        roster, state = self._roster, self._state
        if awake is None:
            here, bits = roster.everyone, None
        else:
            mask = mask_of_names(roster, awake)
            bits = np.packbits(mask).tobytes()
            here = np.flatnonzero(mask & ~roster.terms.paused)
        if explain and here.size > MOST_EXPLAINED:
            fail("awake arms of an explained decision", f"at most {MOST_EXPLAINED}", here.size)
        moment = self._moment(here) if here.size <= MOST_EXPLAINED else None
        chosen, samples, scores = self._desk.decide(here, self._rng)
        self._ledger.latest += 1
        self.pending[chosen] += 1
        made = self._made(chosen, self.latest, state.rounds.item(), bits)
        if moment is None:
            return made, None
        kept, prices = scores[: here.size].copy(), prices_of(self._desk.memory)
        drawn = Drawn(self._policy, self.arms, moment, chosen, samples, kept, prices)
        return made, Source(drawn)

    def decide_many(self, count: int) -> list[tuple[Made, Source | None]]:
        """Choose arms for many decisions in a row, with all arms awake: cheaper than one by one."""
        before, last, here = self.latest, int(self._state.rounds[0]), self._roster.everyone
        moment = self._moment(here) if here.size <= MOST_EXPLAINED else None
        many = self._desk.decide_many(count, here, self._rng)
        if many is None:
            return [self.decide(None, False) for _ in range(count)]
        self._ledger.latest += count
        np.add.at(self.pending, np.concatenate(many.chosen), 1)
        made = [
            self._made(chosen, before + i, last + i, None)
            for i, chosen in enumerate(many.chosen, start=1)
        ]
        if moment is None:
            return [(one, None) for one in made]
        # Copies: a row would keep the samples of all.
        last_ones = [row.copy() for row in many.samples[-KEPT:]]
        drawn = DrawnMany(self._policy, self.arms, moment, many.chosen, last_ones)
        known = count - len(last_ones)
        return [
            (one, Source(drawn, place) if place >= known else None)
            for place, one in enumerate(made)
        ]

    def _made(self, chosen: Integers, number: int, round_: int, awake: bytes | None) -> Made:
        """Return a decision as the log has it."""
        time = round_ + int(self._state.cancelled[0])
        return Made(number, round_, time, self.edition.number, chosen.tolist(), awake)

    def learn(self, made: Made, news: dict[str, float]) -> Told:
        """Learn rewards of a decision, of the arms that are still there."""
        roster = self._roster
        if made.edition == self.edition.number:
            there = list(news)
        else:
            there = [arm for arm in news if took_part(roster, arm, made.number)]
        places = np.array([roster.position[arm] for arm in there], dtype=np.int64)
        rewards = [news[arm] for arm in there]
        self.told += len(there)
        for arm, place in zip(there, places.tolist(), strict=True):
            self.reward += news[arm] * roster.terms.weights.item(place)
        if self._binarised:
            rewards = [float(flipped(reward, self._rng)) for reward in rewards]
        self._desk.learn(places, rewards, made.time, self._rng)
        self.pending[places] -= 1
        counted = dict(zip(there, rewards, strict=True))
        return Told(news, counted, [arm for arm in news if arm not in counted])

    def await_no_more(self, made: Made, arms: Sequence[str]) -> None:
        """Let plays count as told of which nothing was heard."""
        there = [arm for arm in arms if took_part(self._roster, arm, made.number)]
        self.pending[[self._roster.position[arm] for arm in there]] -= 1

    def take_back(self, made: Made, then: Roster) -> bool:
        """Let it be as if a decision had not been made; say whether the arms' clocks changed."""
        places = np.array(made.chosen, dtype=np.int64)
        chosen = made.names(then.problem.arms)
        awake = None if made.awake is None else awake_bits(made.awake, then)
        entry = Entry(made.round, tuple(chosen), places, then, awake)
        entry.time = made.time
        self.await_no_more(made, chosen)
        before = self._roster
        given = before, self._state, self._policy.forms
        self._roster = as_if_never_made(made.number, entry, (), *given)
        self._desk.bind(self._roster.terms, self._desk.memory)
        return self._roster is not before

    def begin(
        self,
        change: Callable[[Bandit], None],
        *,
        availability: dict[str, float | None] | None = None,
        feedback: FeedbackRule | None = None,
    ) -> Edition:
        """Change the arms or the rules, which begins another edition."""
        stated = dict(zip(self.arms, self.edition.availability, strict=True))
        waiting = dict(zip(self.arms, self.pending.tolist(), strict=True))
        change(self)
        stated = {**stated, **(availability or {})}
        self.pending = np.array([waiting.get(arm, 0) for arm in self.arms], dtype=np.int64)
        self.edition = Edition(
            number=self.edition.number + 1,
            policy=self.edition.policy,
            feedback=feedback or self.edition.feedback,
            availability=tuple(stated.get(arm) for arm in self.arms),
            roster=self._roster,
        )
        self.remember(self.edition)
        return self.edition

    def remember(self, edition: Edition) -> Roster:
        """Keep the arms of an edition at hand, for feedback that comes late; a few of them."""
        if len(self._rosters) >= ROSTERS:
            self._rosters.pop(next(iter(self._rosters)))
        self._rosters[edition.number] = edition.roster
        return edition.roster

    def roster_of(self, edition: int) -> Roster | None:
        """Return the arms of an edition that is at hand."""
        return self._rosters.get(edition)


def awake_bits(named: bytes, roster: Roster) -> bytes:
    """Return who of the arms that were named could be played, eight arms a byte."""
    mask = np.unpackbits(np.frombuffer(named, np.uint8), count=len(roster.problem.arms))
    return np.packbits(mask.astype(np.bool_) & ~roster.terms.paused).tobytes()


def awake_names(made: Made, roster: Roster) -> list[str]:
    """Return the names of the arms that could be played in a decision of this roster."""
    arms = roster.problem.arms
    if made.awake is None:
        return [arms[place] for place in roster.everyone.tolist()]
    bits = np.frombuffer(awake_bits(made.awake, roster), np.uint8)
    return [arms[place] for place in np.flatnonzero(np.unpackbits(bits)).tolist()]
