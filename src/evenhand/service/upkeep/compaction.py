"""Compaction: drop the details of old decisions, and keep the counters after them."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from itertools import takewhile

from evenhand.service.engine.counters import Counters, packed, unpacked
from evenhand.service.engine.digests import MODULUS, kept_digest, row_number
from evenhand.service.engine.events import histories, times_of
from evenhand.service.stores.protocol import (
    BanditLocked,
    Compaction,
    Event,
    Store,
    Transaction,
    all_events,
)
from evenhand.service.upkeep.recount import Recount

CHUNK = 2_000
log = logging.getLogger(__name__)


def compact(store: Store, name: str, age: float, chunk: int = CHUNK) -> int:
    """Compact the events of a bandit older than ``age`` seconds; return how many decisions.

    Decisions that await feedback stay as they are. Of the others the ids stay, so that no id is
    ever used twice. Each chunk is a transaction: decisions continue in between, and an interrupted
    compaction keeps the chunks that are done.
    """
    count, more = 0, True
    while more:
        start = time.monotonic()
        try:
            with store.transaction() as transaction:
                compacted = _compact_chunk(transaction, name, store.now(), age, chunk)
        except BanditLocked:
            log.debug("a server is writing to bandit %r", name)
            compacted = 0
        more = compacted is not None
        count += compacted or 0
        # Leave half of the time to the servers.
        time.sleep(time.monotonic() - start)
    return count


def _compact_chunk(
    transaction: Transaction, name: str, now: float, age: float, chunk: int
) -> int | None:
    """Compact the oldest events; return how many decisions, None if no events are old enough."""
    found = transaction.lock({name: 0}).get(name)
    if found is None:
        return None
    key, before = found.head.key, transaction.compaction(found.head.key)
    stored = unpacked(transaction.counters(key))
    page = transaction.events(key, 0 if before is None else before.through, chunk)
    events = _oldest(page, now, age, stored.link.after)
    if not events:
        return None
    closed = _closed(transaction, key, events)
    total = _kept_total(transaction, key, before, events, closed)
    compaction = _after(transaction, key, events, stored)
    compaction = compaction._replace(kept=kept_digest(compaction, total))
    transaction.put_compaction(key, compaction, closed)
    return len(closed)


def _oldest(page: Sequence[Event], now: float, age: float, after: int) -> list[Event]:
    """Return the events that are old enough, up to the last one with a digest."""
    times = zip(page, times_of(page, now), strict=True)
    events = [event for event, _ in takewhile(lambda pair: pair[1] <= now - age, times)]
    while events and not events[-1].digest and events[-1].seq > after:
        events.pop()
    return events


def _after(
    transaction: Transaction, key: int, events: Sequence[Event], stored: Counters
) -> Compaction:
    """Return the counters after some more events."""
    recount = Recount(transaction, key, int(stored.state.epoch[0]))
    recount.add(events)
    link = stored.link._replace(digest=events[-1].digest)
    counters = packed(recount.counters(0)._replace(link=link))
    return Compaction(recount.seq, recount.config_version, counters)


def _kept_total(
    transaction: Transaction,
    key: int,
    before: Compaction | None,
    events: Sequence[Event],
    closed: Sequence[str],
) -> int:
    """Return the sum of the rows that are kept, from the sum before."""
    gone, through = set(closed), 0 if before is None else before.through
    total = sum(row_number(event) for event in events if event.decision not in gone)
    if before is not None and before.kept:
        total += int(before.kept[:32], 16)
    elif before is not None:
        older = takewhile(lambda event: event.seq <= through, all_events(transaction, key, 0))
        total += sum(map(row_number, older))
    for event in transaction.decisions(key, closed):
        if event.seq <= through:
            total -= row_number(event)
        if event.kind == "decision":
            total += row_number(event._replace(body=b""))
    return total % MODULUS


def _closed(transaction: Transaction, key: int, events: Sequence[Event]) -> list[str]:
    """Return the decisions of some events that have no later events and await none."""
    ids = list(dict.fromkeys(event.decision for event in events if event.decision))
    known = transaction.decisions(key, ids)
    later = {event.decision for event in known if event.seq > events[-1].seq}
    return [
        id_
        for id_, history in histories(known).items()
        if id_ not in later and history.made is not None and history.state != "awaiting"
    ]
