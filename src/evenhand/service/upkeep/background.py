"""Background work between batches: expiry, history, and the removal of deleted bandits."""

from __future__ import annotations

import logging
import math
import zlib
from collections.abc import Sequence

from evenhand.service.engine.commands import Command, ExpireOverdue, RecordHistory
from evenhand.service.engine.config_version import ConfigVersion
from evenhand.service.engine.counters import unpacked
from evenhand.service.engine.executor import CommandExecutor, Result
from evenhand.service.engine.history import DAY_STEP, STEP_SECONDS
from evenhand.service.problems import ProblemError, unreadable
from evenhand.service.stores.protocol import (
    BanditHead,
    BanditLocked,
    Store,
    StoreUnavailable,
    View,
)

PURGED_AT_ONCE = 1_000
# Decisions wait while points are recorded, so only of so many bandits at a time.
RECORDED_AT_ONCE = 16
log = logging.getLogger(__name__)


class Background:
    """What the writer does that no client asks for."""

    def __init__(self, executor: CommandExecutor) -> None:
        self._executor = executor
        self._overdue = OverdueFinder(executor.store)
        self._history = HistorySchedule(executor.store)

    def run(self, works: bool) -> bool:
        """Do some of the work; return whether there is more. Probe a store that failed lately."""
        expired = [self._expire(command) for command in self._overdue.commands()]
        self._record_history()
        with self._executor.store.transaction() as transaction:
            more = transaction.purge(PURGED_AT_ONCE)
            if not works:
                transaction.check_writable()
        return any(expired) or more

    def _expire(self, command: ExpireOverdue) -> bool:
        """Expire the overdue decisions of a bandit; say whether there may be more."""
        results = self._execute([command])
        return bool(results) and not isinstance(results[0], ProblemError)

    def _record_history(self) -> None:
        """Record the points that are due, all at once, or one by one if that fails."""
        due = self._history.due()
        if due and not self._execute(due):
            for command in due:
                if not self._execute([command]):
                    self._history.missed(command.bandit)

    def _execute(self, commands: Sequence[Command]) -> list[Result]:
        """Execute commands; log an error and return nothing, so that it does not affect others."""
        try:
            return self._executor.execute(commands)
        except BanditLocked:
            return []
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("%s failed", commands)
            return []


class OverdueFinder:
    """Finds bandits with overdue feedback; none is read again before its next decision is due."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due: dict[tuple[int, int], float] = {}
        # When the next event was seen first, if its stamp is from the future.
        self._seen: dict[int, tuple[int, float]] = {}

    def commands(self) -> list[ExpireOverdue]:
        """Return commands for the bandits whose oldest unchecked decision is overdue."""
        now = self._store.now()
        with self._store.view() as view:
            heads = view.heads()
            known = {(head.key, head.config_version) for head in heads.values()}
            self._due = {key: due for key, due in self._due.items() if key in known}
            self._seen = {key: seen for key, seen in self._seen.items() if key in dict(known)}
            found = (self._command(view, name, head, now) for name, head in heads.items())
            return [command for command in found if command is not None]

    def _command(self, view: View, name: str, head: BanditHead, now: float) -> ExpireOverdue | None:
        """Return a command if the next unchecked event, decision or not, is old enough."""
        known = (head.key, head.config_version)
        if now < self._due.get(known, 0.0):
            return None
        try:
            limit = ConfigVersion.from_bytes(view.config(*known)).feedback.timeout_seconds
            checked = int(unpacked(view.counters(head.key)).totals.checked[0])
        except StoreUnavailable:
            raise
        except Exception as error:  # whatever a damaged row may lead to
            log.error("%s", unreadable(name, error))
            limit = None
        if limit is None:
            self._due[known] = math.inf
            return None
        following = view.events(head.key, checked, 1)
        seq, at = (following[0].seq, following[0].at) if following else (checked, now)
        if at > now:
            seen = self._seen.get(head.key, (0, 0.0))
            at = seen[1] if seen[0] == seq else now
            self._seen[head.key] = seq, at
        self._due[known] = at + limit
        return ExpireOverdue(name, seq, at) if at + limit <= now else None


class HistorySchedule:
    """Says for which bandits a point of the history is due: those with events since the last one.

    Every server records points; of those of the same time the first one is kept. Events from
    before the server's start are recorded together with the next ones.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._slot = 0
        self._recorded: dict[str, tuple[int, int]] | None = None
        self._waiting: list[str] = []

    def due(self) -> list[RecordHistory]:
        """Return some of the points that are due now."""
        now = int(self._store.now())
        if not self._waiting and now // STEP_SECONDS != self._slot:
            self._slot = now // STEP_SECONDS
            self._find_changed()
        found, self._waiting = self._waiting[:RECORDED_AT_ONCE], self._waiting[RECORDED_AT_ONCE:]
        return [RecordHistory(name, self._thins(name, now)) for name in found]

    def missed(self, name: str) -> None:
        """Try again at the next time: a point could not be recorded."""
        if self._recorded is not None:
            self._recorded.pop(name, None)

    def _find_changed(self) -> None:
        """Find the bandits that have changed."""
        with self._store.view() as view:
            heads = {name: head[:2] for name, head in view.heads().items()}
        known = heads if self._recorded is None else self._recorded
        self._waiting = [name for name, head in heads.items() if known.get(name) != head]
        self._recorded = heads

    def _thins(self, name: str, now: int) -> bool:
        """Say whether to thin the history: every few minutes, not for all bandits at once."""
        steps = DAY_STEP // STEP_SECONDS
        return zlib.crc32(name.encode()) % steps == now // STEP_SECONDS % steps
