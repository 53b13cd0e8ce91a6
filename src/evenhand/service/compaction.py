"""Old events folded into counters: the log gets shorter, and still adds up."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import takewhile

from evenhand.service._counters import packed, unpacked
from evenhand.service._events import Event, histories
from evenhand.service.recount import Recount
from evenhand.service.stores import Store
from evenhand.service.stores.protocol import Fold, Transaction

CHUNK = 2_000


def compact(store: Store, name: str, age: float, chunk: int = CHUNK) -> int:
    """Fold the events of a bandit that are older than ``age`` seconds; return how many decisions.

    Decisions that still await feedback stay as they are. Of the others the ids stay, so that none
    is ever given to another decision. A chunk is a transaction: decisions go on in between, and
    whoever stops half-way has folded half.
    """
    before, folded = time.time() - age, 0
    while True:
        start = time.monotonic()
        with store.transaction() as transaction:
            found = transaction.lock({name: 0}).get(name)
            if found is None:
                return folded
            key = found.head.key
            events = _oldest(transaction, key, before, chunk)
            if not events:
                return folded
            fold = _folded(transaction, key, events)
            closed = _closed(transaction, key, events)
            folded += len(closed)
            transaction.put_fold(key, fold, closed)
        # Half of the time is the servers'.
        time.sleep(time.monotonic() - start)


def _oldest(transaction: Transaction, key: int, before: float, chunk: int) -> list[Event]:
    """Return the oldest events that are not folded, of those that are old enough."""
    present = transaction.fold(key)
    page = transaction.events(key, 0 if present is None else present.through, chunk)
    return list(takewhile(lambda event: event.at <= before, page))


def _folded(transaction: Transaction, key: int, events: Sequence[Event]) -> Fold:
    """Return what the log adds up to after some more events."""
    epoch = int(unpacked(transaction.counters(key)).state.epoch[0])
    recount = Recount(transaction, key, epoch)
    recount.add(events)
    return Fold(recount.seq, recount.edition, packed(recount.counters(0)))


def _closed(transaction: Transaction, key: int, events: Sequence[Event]) -> list[str]:
    """Return the decisions of some events to which nothing has happened later, nor will."""
    ids = list(dict.fromkeys(event.decision for event in events if event.decision))
    known = transaction.decisions(key, ids)
    later = {event.decision for event in known if event.seq > events[-1].seq}
    return [
        id_
        for id_, history in histories(known).items()
        if id_ not in later and history.made is not None and history.state != "awaiting"
    ]
