"""One bandit's part of a transaction: what happens to it is noted, then written as a whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from evenhand.core.arrays import Floats
from evenhand.learner.arm_table import ArmTable
from evenhand.learner.decision import DecisionRecord
from evenhand.learner.learner import Learner
from evenhand.service._bandit import Bandit, record_of
from evenhand.service._bodies import FeedbackRule
from evenhand.service._counters import packed, unpacked
from evenhand.service._edition import Edition, check_floors
from evenhand.service._events import Change, Event, History, Kind, Made, encode, histories
from evenhand.service._why import Source
from evenhand.service.stores.protocol import Head, Transaction


class Answer(NamedTuple):
    """What is answered: a status, a body, and where reasons are to be found if they are wanted."""

    status: int
    body: Any = None
    source: Source | None = None


class Work:
    """A bandit that is locked, the histories of decisions that are wanted, and what is new."""

    def __init__(
        self, transaction: Transaction, bandit: Bandit, ids: Sequence[str], now: float
    ) -> None:
        self.transaction, self.bandit, self.now = transaction, bandit, now
        self._events: list[Event] = []
        self._changed = False
        self._ahead: deque[tuple[Made, Source | None]] = deque()
        self.sources: list[tuple[str, Source]] = []
        self._histories: dict[str, History] = {}
        self.look_up(ids)

    def look_up(self, ids: Sequence[str]) -> None:
        """Read the histories of decisions that will be wanted."""
        missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._histories]
        if missing:
            found = histories(self.transaction.decisions(self.bandit.key, missing))
            self._histories.update(found)

    def history(self, decision: str) -> History | None:
        """Return the history of a decision that was looked up; None if there is no such one."""
        return self._histories.get(decision)

    def expect(self, asked: int) -> None:
        """Get ready for so many decisions with all arms awake, all of which will be asked for."""
        self._ahead = deque(self.bandit.decide_many(asked)) if asked > 1 else deque()

    def decide(
        self, decision: str, awake: Sequence[str] | None, explain: bool
    ) -> tuple[Made, Source | None]:
        """Decide, or take one of the decisions that have been made ahead."""
        if self._ahead and awake is None and not explain:
            made, source = self._ahead.popleft()
        else:
            made, source = self.bandit.decide(awake, explain)
        if source is not None:
            self.sources.append((decision, source))
        return made, source

    def note(self, kind: Kind, decision: str, body: Struct) -> None:
        """Write an event, at the end of the transaction."""
        self.bandit.totals.seq[0] += 1
        event = Event(int(self.bandit.totals.seq[0]), self.now, kind, decision, encode(body))
        self._events.append(event)
        self._changed = True
        if isinstance(body, Made):
            self._histories[decision] = History(event, body)
        elif decision:
            self._histories[decision].add(kind, body)

    def record(self, made: Made) -> DecisionRecord:
        """Return a decision of the log as the learner knows it."""
        return record_of(made, self.table(made.edition))

    def table(self, edition: int) -> ArmTable:
        """Return the arms of one of the editions."""
        known = self.bandit.table_of(edition)
        if known is None:
            body = self.transaction.edition(self.bandit.key, edition)
            known = self.bandit.remember(Edition.from_bytes(body))
        return known

    def change(
        self,
        what: str,
        arms: Sequence[str],
        change: Callable[[Learner], Floats | None],
        *,
        availability: dict[str, float | None] | None = None,
        feedback: FeedbackRule | None = None,
        check: bool = True,
    ) -> None:
        """Begin another edition; if it breaks a rule, the bandit stays what it was."""
        bandit = self.bandit
        before, counters = bandit.edition, packed(bandit.counters)
        try:
            edition, other = bandit.begin(change, availability=availability, feedback=feedback)
            if check:
                check_floors(edition.table, edition.availability)
        except Exception:
            self.bandit = Bandit(bandit.key, before, bandit.compiled)
            self.bandit.load(unpacked(counters), bandit.version)
            raise
        self.transaction.add_edition(bandit.key, edition.number, edition.to_bytes())
        epoch = int(bandit.learner.state.epoch[0])
        self.note("edition", "", Change(edition.number, what, list(arms), other, epoch))

    def adopt_clocks(self) -> None:
        """Begin another edition, for arms whose clocks a cancelled decision has set back."""
        self.change("clocks", (), lambda learner: None, check=False)

    def note_checked(self, seq: int) -> None:
        """Keep in mind up to which event decisions have been looked at for being overdue."""
        checked = self.bandit.totals.checked
        self._changed = self._changed or seq > checked[0]
        checked[0] = seq

    def save(self) -> None:
        """Write what has happened, if anything has."""
        bandit = self.bandit
        assert not self._ahead, "decisions were made that nobody asked for"
        if self._changed:
            head = Head(bandit.key, bandit.version + 1, bandit.edition.number)
            self.transaction.apply(bandit.key, head, self._events, packed(bandit.counters))
            bandit.version = head.version
