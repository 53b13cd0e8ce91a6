"""Digests of stored rows: a row that was changed, lost, swapped or added is noticed.

Events are chained. The last event of every few hundred, and of every transaction, has the digest of
these events and of the digest before. So each digest stands for the whole log up to there, and
costs almost nothing. A digest protects against damage, not against somebody who computes it anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from evenhand.service.stores.protocol import Compaction, Event

SIZE = 16
# The most events between two digests.
LINKED = 500
# What of an event is digested: everything but its digest.
ROW = len(Event._fields) - 1
MODULUS = 1 << 8 * SIZE
encode = msgspec.msgpack.Encoder().encode


class Link(NamedTuple):
    """Where a chain of digests is: the last digest, and after which event the chain begins.

    Events up to ``after`` were written by a release without digests.
    """

    digest: str = ""
    after: int = 0


def digest_of(*parts: bytes) -> str:
    """Return the digest of some bytes.

    >>> len(digest_of(b"a", b"b")), digest_of(b"a", b"b") == digest_of(b"ab")
    (32, False)
    """
    found = hashlib.blake2b(digest_size=SIZE)
    for part in parts:
        found.update(b"%d:" % len(part))
        found.update(part)
    return found.hexdigest()


def chained(previous: str, events: Iterable[Event]) -> str:
    """Return the digest of events that follow a digest."""
    return digest_of(previous.encode(), encode([event[:ROW] for event in events]))


def link_events(previous: str, events: Sequence[Event]) -> list[Event]:
    """Return new events, with a digest on the last one of every few hundred."""
    found: list[Event] = []
    for start in range(0, len(events), LINKED):
        some = events[start : start + LINKED]
        previous = chained(previous, some)
        found += some[:-1]
        found.append(some[-1]._replace(digest=previous))
    return found


def follow_chain(link: Link, events: Iterable[Event], last: str) -> Iterator[Event]:
    """Yield the events after a digest, and raise ValueError where the chain is broken.

    ``last`` is the digest that the last event must have.
    """
    previous, some = link.digest, []
    for event in events:
        yield event
        if event.seq <= link.after:
            continue
        some.append(event)
        if event.digest:
            if chained(previous, some) != event.digest:
                raise ValueError(f"of events {some[0].seq} to {event.seq} at least one was changed")
            previous, some = event.digest, []
        elif len(some) > LINKED:
            raise ValueError(f"a digest is missing after event {some[0].seq - 1}")
    if some:
        raise ValueError(f"a digest is missing after event {some[0].seq - 1}")
    if previous != last:
        raise ValueError("the last events are missing, or were changed")


def row_number(event: Event) -> int:
    """Return a row as a number; the sum of these does not depend on the order of the rows."""
    return int(digest_of(encode(event[:ROW])), 16)


def kept_digest(compaction: Compaction, total: int) -> str:
    """Return the digest of a compaction: the sum of the kept rows, and one of everything."""
    numbers = f"{compaction.through} {compaction.config_version} {total:032x}".encode()
    return f"{total:032x}{digest_of(numbers, compaction.counters)}"
