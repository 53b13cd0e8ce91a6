"""Compaction: drop the details of old decisions, and keep the counters after them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import takewhile

from evenhand.service.engine.counters import packed, unpacked
from evenhand.service.engine.events import histories
from evenhand.service.stores.protocol import Compaction, Event, Store, Transaction
from evenhand.service.upkeep.recount import Recount

CHUNK = 2_000


def compact(store: Store, name: str, age: float, chunk: int = CHUNK) -> int:
    """Compact the events of a bandit older than ``age`` seconds; return how many decisions.

    Decisions that await feedback stay as they are. Of the others the ids stay, so that no id is
    ever used twice. Each chunk is a transaction: decisions continue in between, and an interrupted
    compaction keeps the chunks that are done.
    """
    before, count = time.time() - age, 0
    while True:
        start = time.monotonic()
        with store.transaction() as transaction:
            found = transaction.lock({name: 0}).get(name)
            if found is None:
                return count
            key = found.head.key
            events = _oldest(transaction, key, before, chunk)
            if not events:
                return count
            compaction = _after(transaction, key, events)
            closed = _closed(transaction, key, events)
            count += len(closed)
            transaction.put_compaction(key, compaction, closed)
        # Leave half of the time to the servers.
        time.sleep(time.monotonic() - start)


def _oldest(transaction: Transaction, key: int, before: float, chunk: int) -> list[Event]:
    """Return the oldest events that are old enough and not compacted."""
    present = transaction.compaction(key)
    page = transaction.events(key, 0 if present is None else present.through, chunk)
    return list(takewhile(lambda event: event.at <= before, page))


def _after(transaction: Transaction, key: int, events: Sequence[Event]) -> Compaction:
    """Return the counters after some more events."""
    epoch = int(unpacked(transaction.counters(key)).state.epoch[0])
    recount = Recount(transaction, key, epoch)
    recount.add(events)
    return Compaction(recount.seq, recount.config_version, packed(recount.counters(0)))


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
