"""What readers are shown: bandits, decisions and the log, as of one moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from evenhand.service._bandit import awake_names
from evenhand.service._bodies import DecisionList, DecisionListed, DecisionShown
from evenhand.service._counters import Counters, unpacked
from evenhand.service._edition import Edition
from evenhand.service._events import (
    Change,
    Event,
    Expired,
    Explained,
    History,
    Made,
    Told,
    decode,
    histories,
)
from evenhand.service._refusals import folded, not_found
from evenhand.service.stores.protocol import Head, View

# After so many bytes a page of a log ends, whatever its limit: the cursor leads on.
MOST_BYTES = 4_000_000
# So many events are looked through for the newest decisions: much feedback may follow them.
AMONG = 100_000


class Found(NamedTuple):
    """A bandit as the store has it."""

    key: int
    edition: Edition
    counters: Counters


class Editions:
    """The editions of a bandit, each read once."""

    def __init__(self, view: View, key: int) -> None:
        self._view, self._key = view, key
        self._known: dict[int, Edition] = {}

    def __getitem__(self, number: int) -> Edition:
        if number not in self._known:
            self._known[number] = Edition.from_bytes(self._view.edition(self._key, number))
        return self._known[number]


def find_head(view: View, name: str) -> Head:
    """Return where a bandit stands, or complain."""
    head = view.find(name)
    if head is None:
        raise not_found("bandit", name)
    return head


def find_bandit(view: View, name: str) -> Found:
    """Return a bandit, or complain."""
    head = find_head(view, name)
    edition = Edition.from_bytes(view.edition(head.key, head.edition))
    return Found(head.key, edition, unpacked(view.counters(head.key)))


def find_decision(view: View, name: str, decision: str) -> tuple[int, DecisionShown]:
    """Return a bandit's key, a decision of its and what became of that, or complain."""
    head = find_head(view, name)
    history = histories(view.decisions(head.key, [decision])).get(decision)
    if history is None:
        raise not_found("decision", decision)
    if (made := history.made) is None:
        raise folded(decision)
    table = Editions(view, head.key)[made.edition].table
    shown = DecisionShown(
        decision,
        made.round,
        history.at,
        made.names(table.problem.arms),
        awake_names(made, table),
        history.told,
        history.state,
        history.reasons,
    )
    return head.key, shown


def newest_decisions(view: View, name: str, limit: int) -> DecisionList:
    """Return the newest decisions, the newest first, as far as they are among the last events.

    Those whose details have been folded into the counters are left out.
    """
    head = find_head(view, name)
    editions = Editions(view, head.key)
    ids = view.last_decisions(head.key, limit, AMONG)
    known = histories(view.decisions(head.key, ids))
    found = ((known[id_], known[id_].made) for id_ in ids)
    return DecisionList([_listed(h, made, editions) for h, made in found if made is not None])


def _listed(history: History, made: Made, editions: Editions) -> DecisionListed:
    table = editions[made.edition].table
    return DecisionListed(
        history.id,
        made.round,
        history.at,
        made.names(table.problem.arms),
        len(awake_names(made, table)),
        history.told,
        history.state,
    )


def log_lines(view: View, name: str, after: int, limit: int) -> Iterator[bytes]:
    """Yield the events after one as JSON, a line each; the last one's cursor leads on."""
    head = find_head(view, name)
    editions, size = Editions(view, head.key), 0
    for event in view.events(head.key, after, limit):
        known = {"cursor": event.seq, "at": event.at, "event": event.kind}
        line = msgspec.json.encode({**known, **_details(event, editions, name)}) + b"\n"
        size += len(line)
        yield line
        if size > MOST_BYTES:
            return


def _details(event: Event, editions: Editions, name: str) -> dict[str, Any]:
    """Return what a line of the log says, by names in place of numbers."""
    if event.kind == "edition":
        change: Change = decode(Change, event.body)
        shown = editions[change.edition].shown(name)
        counts = {"awake_counts": change.awake_counts, "epoch": change.epoch}
        return {"change": change.change, "arms": change.arms, "bandit": shown, **counts}
    named: dict[str, Any] = {"decision": event.decision}
    if event.kind == "decision":
        return {**named, **_decision(event, editions)}
    kinds = {"feedback": Told, "expired": Expired, "reasons": Explained}
    if event.kind in kinds:
        named.update(msgspec.structs.asdict(decode(kinds[event.kind], event.body)))
    return named


def _decision(event: Event, editions: Editions) -> dict[str, Any]:
    if not event.body:
        return {"folded": True}
    made: Made = decode(Made, event.body)
    table = editions[made.edition].table
    return {
        "number": made.number,
        "round": made.round,
        "time": made.time,
        "chosen": made.names(table.problem.arms),
        "awake": awake_names(made, table),
    }
