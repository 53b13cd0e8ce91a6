"""A unit of work: one locked bandit in a transaction, its new events, and one write at the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from evenhand.core.arrays import Floats
from evenhand.learner.arm_table import ArmTable
from evenhand.learner.decision import DecisionRecord
from evenhand.learner.learner import Learner
from evenhand.service.engine.bandit import Bandit, record_of
from evenhand.service.engine.commands import Command
from evenhand.service.engine.config_version import ConfigVersion, check_floors
from evenhand.service.engine.counters import packed, unpacked
from evenhand.service.engine.digests import link_events
from evenhand.service.engine.events import (
    ConfigEvent,
    DecisionEvent,
    DecisionHistory,
    encode,
    histories,
)
from evenhand.service.engine.explanations import DecisionBasis
from evenhand.service.schemas import FeedbackRule
from evenhand.service.stores.protocol import BanditHead, Event, EventKind, Transaction


class CommandResult(NamedTuple):
    """A status and a body; a decision to explain has the basis of its reasons, too."""

    status: int
    body: Any = None
    basis: DecisionBasis | None = None


Handler: TypeAlias = "Callable[[UnitOfWork, Any], CommandResult]"
HANDLERS: dict[type[Command], Handler] = {}


def handles(command: type[Command]) -> Callable[[Handler], Handler]:
    """Register a function as the handler of a command."""

    def register(handler: Handler) -> Handler:
        HANDLERS[command] = handler
        return handler

    return register


class UnitOfWork:
    """A locked bandit, the histories of the decisions that commands name, and new events."""

    def __init__(
        self, transaction: Transaction, bandit: Bandit, ids: Sequence[str], now: float
    ) -> None:
        self.transaction, self.bandit, self.now = transaction, bandit, now
        self._events: list[Event] = []
        self._changed = False
        self._ready: deque[tuple[DecisionEvent, DecisionBasis | None]] = deque()
        self.bases: list[tuple[str, DecisionBasis]] = []
        self._histories: dict[str, DecisionHistory] = {}
        self.load_histories(ids)

    def load_histories(self, ids: Sequence[str]) -> None:
        """Read the histories of decisions."""
        missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._histories]
        if missing:
            found = histories(self.transaction.decisions(self.bandit.key, missing))
            self._histories.update(found)

    def history(self, decision: str) -> DecisionHistory | None:
        """Return the loaded history of a decision; None if there is no such decision."""
        return self._histories.get(decision)

    def decide_ahead(self, count: int) -> None:
        """Make decisions with all arms awake, every one of which a command will take."""
        self._ready = deque(self.bandit.decide_many(count)) if count > 1 else deque()

    def decide(
        self, decision: str, awake: Sequence[str] | None, explain: bool
    ) -> tuple[DecisionEvent, DecisionBasis | None]:
        """Decide, or take a decision that was made ahead."""
        if self._ready and awake is None and not explain:
            made, basis = self._ready.popleft()
        else:
            made, basis = self.bandit.decide(awake, explain)
        if basis is not None:
            self.bases.append((decision, basis))
        return made, basis

    def add_event(self, kind: EventKind, decision: str, body: Struct) -> None:
        """Add an event, to be written at the end."""
        self.bandit.totals.seq[0] += 1
        event = Event(int(self.bandit.totals.seq[0]), self.now, kind, decision, encode(body))
        self._events.append(event)
        self._changed = True
        if isinstance(body, DecisionEvent):
            self._histories[decision] = DecisionHistory(event, body)
        elif decision:
            self._histories[decision].add(kind, body)

    def record(self, made: DecisionEvent) -> DecisionRecord:
        """Return a decision of the log as the learner expects it."""
        return record_of(made, self.table(made.config_version))

    def table(self, config_version: int) -> ArmTable:
        """Return the arms of a configuration."""
        known = self.bandit.table_of(config_version)
        if known is None:
            body = self.transaction.config(self.bandit.key, config_version)
            known = self.bandit.cache_table(ConfigVersion.from_bytes(body))
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
        """Make another configuration; the bandit stays as it was if that breaks a rule."""
        bandit = self.bandit
        before, counters = bandit.config, packed(bandit.counters)
        try:
            config, counts = bandit.reconfigure(
                change, availability=availability, feedback=feedback
            )
            if check:
                check_floors(config.table, config.availability)
        except Exception:
            self.bandit = Bandit(bandit.key, before, bandit.engine)
            self.bandit.load(unpacked(counters), bandit.version)
            raise
        self.transaction.add_config(bandit.key, config.number, config.to_bytes())
        epoch = int(bandit.learner.state.epoch[0])
        event = ConfigEvent(config.number, what, list(arms), counts, epoch, config.digest())
        self.add_event("edition", "", event)

    def set_checked(self, seq: int) -> None:
        """Set up to which event decisions were checked for overdue feedback."""
        checked = self.bandit.totals.checked
        self._changed = self._changed or seq > checked[0]
        checked[0] = seq

    def save(self) -> None:
        """Write events and counters, if there is anything new."""
        bandit = self.bandit
        assert not self._ready, "decisions were made ahead that no command took"
        if self._changed:
            head = BanditHead(bandit.key, bandit.version + 1, bandit.config.number)
            events = link_events(bandit.link.digest, self._events)
            if events:
                bandit.link = bandit.link._replace(digest=events[-1].digest)
            self.transaction.apply(bandit.key, head, events, packed(bandit.counters))
            bandit.version = head.version
