"""What a store is: bandits, their editions, counters and logs, and the keys that open the service.

A store knows nothing of arms or rewards. Its one verb is to write, in one transaction, what has
happened to some bandits together with the counters that it adds up to. A bandit that is locked is
nobody else's until the transaction ends: so counters are exact, numbers of events have no gaps, and
an event that somebody has read a later one of is never written after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol, TypeAlias

from evenhand.service._events import Event

Waits: TypeAlias = Literal["never", "for the commit", "always"]


class Head(NamedTuple):
    """Where a bandit stands.

    Attributes
    ----------
    key
        Its number, which no other bandit ever has, also not one of the same name later.
    version
        Counts what was written about it.
    edition
        The number of its present edition.
    """

    key: int
    version: int
    edition: int


class Locked(NamedTuple):
    """A bandit that is nobody else's: where it stands, and its counters if they are news."""

    head: Head
    counters: bytes | None


class Fold(NamedTuple):
    """What the events up to one added up to when their details were dropped."""

    through: int
    edition: int
    counters: bytes


class Sample(NamedTuple):
    """How a bandit of an edition stood at a time, in whole seconds since 1970."""

    at: int
    edition: int
    body: bytes


class Key(NamedTuple):
    """A key that opens the service: all but the secret, of which there is a digest."""

    id: str
    label: str
    scopes: tuple[str, ...]
    digest: bytes
    created: float
    revoked: float | None


class Unavailable(Exception):  # noqa: N818  (reads as what it is)
    """The store cannot be reached now; it may be later."""


class Full(Unavailable):
    """The store has no room left."""


class View(Protocol):
    """What can be read, all as of one moment."""

    def names(self) -> list[str]:
        """Return the names of all bandits, sorted."""

    def heads(self) -> dict[str, Head]:
        """Return where all bandits stand."""

    def find(self, name: str) -> Head | None:
        """Return where a bandit stands; None if there is none of this name."""

    def original(self, key: int) -> bytes:
        """Return what a bandit was created from, as JSON."""

    def counters(self, key: int) -> bytes:
        """Return a bandit's counters."""

    def edition(self, key: int, number: int) -> bytes:
        """Return one of a bandit's editions."""

    def decisions(self, key: int, ids: Sequence[str]) -> list[Event]:
        """Return all events of some decisions, in order."""

    def events(self, key: int, after: int, limit: int) -> list[Event]:
        """Return the events after one, in order, at most so many."""

    def last_decisions(self, key: int, limit: int, among: int) -> list[str]:
        """Return the ids of decisions among so many last events, newest first, at most so many."""

    def samples(self, key: int, since: int) -> list[Sample]:
        """Return the samples since a time, in order, and the last one before it."""

    def first_sample(self, key: int) -> int | None:
        """Return the time of the first sample, if there is one."""

    def fold(self, key: int) -> Fold | None:
        """Return what was folded of a bandit's log, if anything was."""

    def all_keys(self) -> list[Key]:
        """Return all keys, revoked ones included, by age."""


class Transaction(View, Protocol):
    """What can be changed, all of it or nothing."""

    def lock(self, known: Mapping[str, int]) -> dict[str, Locked]:
        """Wait until some bandits are nobody else's; return where those stand that there are.

        ``known`` are their names, with the version that the caller knows of each, or 0.
        """

    def create(self, name: str, original: bytes, edition: bytes, counters: bytes) -> int | None:
        """Add a bandit of edition 1 and version 1; return its key, None if the name is taken."""

    def apply(self, key: int, head: Head, events: Sequence[Event], counters: bytes) -> None:
        """Write events of a locked bandit, where it stands then, and what they add up to."""

    def add_edition(self, key: int, number: int, body: bytes) -> None:
        """Write an edition of a locked bandit."""

    def delete(self, key: int) -> None:
        """Remove a locked bandit; its log goes piece by piece, by :meth:`tidy`."""

    def tidy(self, limit: int) -> bool:
        """Remove at most so many events of deleted bandits; say whether there are more."""

    def touch(self) -> None:
        """Write something that changes nothing, to see whether anything can be written."""

    def put_fold(self, key: int, fold: Fold, closed: Sequence[str]) -> None:
        """Drop the details of closed decisions, whose ids stay, and keep what they added up to."""

    def add_sample(self, key: int, sample: Sample) -> None:
        """Write how a bandit stands, unless there is a sample of this time."""

    def thin_samples(self, key: int, since: int, before: int, step: int) -> None:
        """Of the samples between two times, keep the first one of every so many seconds."""

    def put_key(self, key: Key) -> None:
        """Write a key, or what has become of it."""


class Store(Protocol):
    """A place where bandits are kept."""

    waits: Waits
    """When those who write have to wait for something other than the processor."""

    def transaction(self, *, wait: bool = True) -> AbstractContextManager[Transaction]:
        """Begin to write: what was done is kept at the end, or nothing if an error is raised.

        If somebody else is writing, wait for a while, or raise Unavailable.
        """

    def view(self) -> AbstractContextManager[View]:
        """Begin to read; while others write, if need be."""

    def close(self) -> None:
        """Let go of it."""


def all_events(view: View, key: int, after: int, page: int = 1_000) -> Iterator[Event]:
    """Yield the events after one, page by page."""
    while events := view.events(key, after, page):
        yield from events
        after = events[-1].seq
