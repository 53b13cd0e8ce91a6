"""Decisions and the log, as clients read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from evenhand.service.engine.bandit import awake_names
from evenhand.service.engine.config_version import ConfigVersions
from evenhand.service.engine.events import (
    ConfigEvent,
    DecisionEvent,
    DecisionHistory,
    ExpiryEvent,
    FeedbackEvent,
    ReasonsEvent,
    decode,
    histories,
)
from evenhand.service.problems import compacted, not_found
from evenhand.service.stores.protocol import Event, View
from evenhand.service.views.lookup import find_head
from evenhand.service.views.schemas import DecisionDetails, DecisionList, DecisionSummary

# A page of the log ends after so many bytes, whatever its limit.
MOST_BYTES = 4_000_000
# The newest decisions are searched among so many events: much feedback may follow them.
AMONG = 100_000
READ_AT_ONCE = 50


def find_decision(view: View, name: str, decision: str) -> tuple[int, DecisionDetails]:
    """Return the key of a bandit and one of its decisions, or raise that there is none."""
    head = find_head(view, name)
    history = histories(view.decisions(head.key, [decision])).get(decision)
    if history is None:
        raise not_found("decision", decision)
    if (made := history.made) is None:
        raise compacted(decision)
    table = ConfigVersions(view, head.key)[made.config_version].table
    details = DecisionDetails(
        decision,
        made.round,
        history.at,
        made.names(table.problem.arms),
        awake_names(made, table),
        history.told,
        history.state,
        history.reasons,
    )
    return head.key, details


def newest_decisions(view: View, name: str, limit: int) -> DecisionList:
    """Return the newest decisions, newest first, without those that were compacted.

    There are fewer where these have more bytes than an answer may have.
    """
    head = find_head(view, name)
    configs = ConfigVersions(view, head.key)
    ids = view.last_decisions(head.key, limit, AMONG)
    found: list[DecisionSummary] = []
    size = 0
    for start in range(0, len(ids), READ_AT_ONCE):
        some = ids[start : start + READ_AT_ONCE]
        events = view.decisions(head.key, some, reasons=False)
        size += sum(len(event.body) for event in events)
        known = histories(events)
        pairs = ((known[id_], known[id_].made) for id_ in some)
        found += [_summary(history, made, configs) for history, made in pairs if made is not None]
        if size > MOST_BYTES:
            break
    return DecisionList(found)


def _summary(
    history: DecisionHistory, made: DecisionEvent, configs: ConfigVersions
) -> DecisionSummary:
    table = configs[made.config_version].table
    return DecisionSummary(
        history.id,
        made.round,
        history.at,
        made.names(table.problem.arms),
        len(awake_names(made, table)),
        history.told,
        history.state,
    )


def log_lines(view: View, name: str, after: int, limit: int) -> Iterator[bytes]:
    """Yield the events after a cursor as lines of JSON; each line has its cursor."""
    head = find_head(view, name)
    configs, size = ConfigVersions(view, head.key), 0
    for event in view.events(head.key, after, limit, MOST_BYTES):
        known = {"cursor": event.seq, "at": event.at, "event": event.kind}
        line = msgspec.json.encode({**known, **_details(event, configs, name)}) + b"\n"
        size += len(line)
        yield line
        if size > MOST_BYTES:
            return


def _details(event: Event, configs: ConfigVersions, name: str) -> dict[str, Any]:
    """Return the details of an event, with names in place of indices."""
    if event.kind == "edition":
        change: ConfigEvent = decode(ConfigEvent, event.body)
        bandit = configs[change.config_version].response(name)
        counts = {"awake_counts": change.awake_counts, "epoch": change.epoch}
        return {"change": change.change, "arms": change.arms, "bandit": bandit, **counts}
    named: dict[str, Any] = {"decision": event.decision}
    if event.kind == "decision":
        return {**named, **_decision(event, configs)}
    kinds = {"feedback": FeedbackEvent, "expired": ExpiryEvent, "reasons": ReasonsEvent}
    if event.kind in kinds:
        named.update(msgspec.structs.asdict(decode(kinds[event.kind], event.body)))
    return named


def _decision(event: Event, configs: ConfigVersions) -> dict[str, Any]:
    if not event.body:
        return {"compacted": True}
    made: DecisionEvent = decode(DecisionEvent, event.body)
    table = configs[made.config_version].table
    return {
        "number": made.number,
        "round": made.round,
        "time": made.time,
        "chosen": made.names(table.problem.arms),
        "awake": awake_names(made, table),
    }
