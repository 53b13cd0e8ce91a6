"""The interface of a store: bandits, their configurations, counters and logs, and API keys.

A store knows nothing of arms or rewards. It writes the new events of some bandits together with
their counters in one transaction. A locked bandit belongs to one transaction until that ends. So
counters are exact, event numbers have no gaps, and no event is committed after a later one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol, TypeAlias

Waits: TypeAlias = Literal["never", "for the commit", "always"]
EventKind: TypeAlias = Literal["decision", "feedback", "expired", "cancelled", "reasons", "edition"]


class Event(NamedTuple):
    """One row of a bandit's log.

    Attributes
    ----------
    seq, at
        Its number from 1 on, and when it happened, in seconds since 1970.
    kind, decision
        What happened, and the id of the decision; empty for a new configuration (``"edition"``).
    body
        The details as JSON; empty for a decision whose details were compacted.
    digest
        The digest of the log up to here; empty for most events.
    """

    seq: int
    at: float
    kind: EventKind
    decision: str
    body: bytes
    digest: str = ""


class BanditHead(NamedTuple):
    """The latest row of a bandit.

    Attributes
    ----------
    key
        Its number. No other bandit ever gets it, not even a later one of the same name.
    version
        How often the bandit was written.
    config_version
        The number of its present configuration.
    """

    key: int
    version: int
    config_version: int


class LockedBandit(NamedTuple):
    """A bandit that the transaction has locked; the counters only if the caller lacks them."""

    head: BanditHead
    counters: bytes | None


class Compaction(NamedTuple):
    """The counters after event ``through``, when older details were dropped.

    ``kept`` is a digest of what was kept of the older rows.
    """

    through: int
    config_version: int
    counters: bytes
    kept: str = ""


class HistoryPoint(NamedTuple):
    """The state of a bandit at a time, in whole seconds since 1970."""

    at: int
    config_version: int
    body: bytes


class Key(NamedTuple):
    """An API key, with a digest in place of the secret."""

    id: str
    label: str
    scopes: tuple[str, ...]
    digest: bytes
    created: float
    revoked: float | None


class StoreUnavailable(Exception):  # noqa: N818  (the usual name)
    """The store cannot be reached now; a retry may succeed."""


class StoreFull(StoreUnavailable):
    """The store has no disk space left."""


class BanditLocked(StoreUnavailable):
    """Other servers have locked the bandits; a retry may succeed."""


class View(Protocol):
    """A read transaction: everything as of one moment."""

    def names(self) -> list[str]:
        """Return the names of all bandits, sorted."""

    def heads(self) -> dict[str, BanditHead]:
        """Return the heads of all bandits by name."""

    def find(self, name: str) -> BanditHead | None:
        """Return the head of a bandit; None if there is no such bandit."""

    def original(self, key: int) -> bytes:
        """Return the JSON body that a bandit was created from."""

    def counters(self, key: int) -> bytes:
        """Return the counters of a bandit."""

    def config(self, key: int, number: int) -> bytes:
        """Return one configuration of a bandit."""

    def decisions(self, key: int, ids: Sequence[str], *, reasons: bool = True) -> list[Event]:
        """Return all events of some decisions, in order; without ``reasons``, but for those."""

    def events(self, key: int, after: int, limit: int, most_bytes: int = 0) -> list[Event]:
        """Return at most ``limit`` events after number ``after``, in order.

        With ``most_bytes``, the last one is the one with which the bodies exceed that.
        """

    def repeated_decisions(self, key: int) -> list[str]:
        """Return some of the ids under which more than one decision was made: there are none."""

    def orphans(self) -> list[int]:
        """Return the keys of rows that belong to no bandit, and of bandits marked as deleted."""

    def last_decisions(self, key: int, limit: int, among: int) -> list[str]:
        """Return the ids of at most ``limit`` decisions among the last events, newest first."""

    def history(self, key: int, since: int) -> list[HistoryPoint]:
        """Return the history since a time, in order, and the last point before it."""

    def history_start(self, key: int) -> int | None:
        """Return the time of the first point of the history; None if there is none."""

    def compaction(self, key: int) -> Compaction | None:
        """Return the latest compaction of a bandit's log; None if there was none."""

    def all_keys(self) -> list[Key]:
        """Return all API keys, revoked ones included, oldest first."""


class Transaction(View, Protocol):
    """A write transaction: all of it is committed, or nothing."""

    def lock(self, known: Mapping[str, int], *, wait: bool = True) -> dict[str, LockedBandit]:
        """Lock bandits; return those that exist.

        ``known`` maps their names to the version that the caller has, or 0. If another transaction
        has locked one, wait for a moment and then raise BanditLocked; without ``wait``, leave it
        out.
        """

    def create(self, name: str, original: bytes, config: bytes, counters: bytes) -> int | None:
        """Add a bandit with configuration 1; return its key, or None if the name is taken."""

    def apply(self, key: int, head: BanditHead, events: Sequence[Event], counters: bytes) -> None:
        """Write events of a locked bandit, its new head, and the counters after them."""

    def add_config(self, key: int, number: int, body: bytes) -> None:
        """Write another configuration of a locked bandit."""

    def delete(self, key: int) -> None:
        """Delete a locked bandit; :meth:`purge` removes its log piece by piece."""

    def purge(self, limit: int) -> bool:
        """Remove at most ``limit`` events of deleted bandits; say whether there may be more."""

    def check_writable(self) -> None:
        """Write something without effect, to find out whether the store accepts writes."""

    def put_compaction(self, key: int, compaction: Compaction, closed: Sequence[str]) -> None:
        """Drop the details of closed decisions but their ids, and store the counters after them."""

    def add_history(self, key: int, point: HistoryPoint) -> None:
        """Write a point of the history, unless there is one of this time."""

    def thin_history(self, key: int, since: int, before: int, step: int) -> None:
        """Between two times, keep only the first point of every ``step`` seconds."""

    def put_key(self, key: Key) -> None:
        """Add an API key, or replace the one of this id."""


class Store(Protocol):
    """A database of bandits."""

    waits: Waits
    """When a writer waits for anything but the processor; decides what runs in a thread."""

    def transaction(self, *, wait: bool = True) -> AbstractContextManager[Transaction]:
        """Begin a write transaction; it is committed at the end, or rolled back on an error.

        If another transaction holds the store, wait a few seconds for it. Raise StoreUnavailable
        after that, or at once without ``wait``.
        """

    def view(self) -> AbstractContextManager[View]:
        """Begin a read transaction; writers do not block it."""

    def interrupt(self) -> None:
        """Break off the write transaction that is under way in another thread."""

    def now(self) -> float:
        """Return the time by the clock of the database, in seconds since 1970."""

    def close(self) -> None:
        """Close all connections."""


def all_events(view: View, key: int, after: int, page: int = 1_000) -> Iterator[Event]:
    """Yield the events after a number, read page by page."""
    while events := view.events(key, after, page):
        yield from events
        after = events[-1].seq
