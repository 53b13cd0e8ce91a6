"""Verify a bandit: rows by their digests, events by the rules, counters by a recount."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from evenhand.core.checks import LARGEST
from evenhand.core.schema import names_of
from evenhand.core.state import State
from evenhand.service.engine.config_version import ConfigVersions
from evenhand.service.engine.counters import Counters, Totals, check_sums, to_plain, unpacked
from evenhand.service.engine.digests import (
    MODULUS,
    Link,
    digest_of,
    follow_chain,
    kept_digest,
    row_number,
)
from evenhand.service.engine.events import ConfigEvent, DecisionEvent, FeedbackEvent, decode
from evenhand.service.stores.protocol import Compaction, Event, View, all_events
from evenhand.service.upkeep import rules
from evenhand.service.upkeep.recount import Recount
from evenhand.service.views.lookup import find_head

TOLERANCE = 1e-9


class Difference(NamedTuple):
    """A counter that differs from the recount."""

    what: str
    counted: float
    stored: float


def verify(view: View, name: str) -> tuple[int, list[Difference]]:
    """Return the number of a bandit's events, and the counters that differ from a recount.

    Raises
    ------
    ValueError, LookupError
        If a row is missing or was changed, or the server cannot have written it.
    """
    head = find_head(view, name)
    key, stored = head.key, unpacked(view.counters(head.key))
    _check_rows(view, key, head.config_version)
    configs = ConfigVersions(view, key)
    checked = stored.totals.checked.item()
    recount = Recount(view, key, int(stored.state.epoch[0]), checked)
    link, count = stored.link._replace(digest=""), 0
    if (compaction := view.compaction(key)) is not None:
        rows = takewhile(lambda event: event.seq <= compaction.through, all_events(view, key, 0))
        kept = _KeptRows(compaction, checked, stored.link.after)
        for event in _with_origin(view, name, key, configs, rows):
            count += 1
            kept.add(event, configs)
        kept.check()
        recount.unchecked = kept.unchecked
        link = Link(unpacked(compaction.counters).link.digest, stored.link.after)
    later = follow_chain(link, all_events(view, key, recount.through), stored.link.digest)
    first = recount.seq
    recount.add(_with_origin(view, name, key, configs, later))
    if checked > recount.seq or recount.unchecked:
        raise ValueError(f"decisions up to event {checked} are marked as checked, and are not")
    arms = configs[head.config_version].table.problem.arms
    found = _counters(recount.counters(checked), stored, arms)
    if recount.config_version != head.config_version:
        found.insert(0, Difference("configuration", recount.config_version, head.config_version))
    return count + recount.seq - first, found


def _check_rows(view: View, key: int, config_version: int) -> None:
    """Raise if there are rows that no server writes: ids twice, numbers that are not in use."""
    if repeated := view.repeated_decisions(key):
        raise ValueError(f"there are several decisions of one id: {', '.join(repeated)}")
    if (first := view.events(key, -LARGEST, 1)) and first[0].seq < 1:
        raise ValueError(f"there is an event of number {first[0].seq}")
    try:
        view.config(key, config_version + 1)
    except LookupError:
        return
    raise ValueError(f"there is a configuration {config_version + 1}, which is not in use")


class _KeptRows:
    """Checks what a compaction has kept of older rows."""

    def __init__(self, compaction: Compaction, checked: int, after: int) -> None:
        self._compaction, self._checked, self._after = compaction, checked, after
        self._total = self._decisions = self._last = 0
        self._awaiting: dict[str, tuple[int, int]] = {}

    def add(self, event: Event, configs: ConfigVersions) -> None:
        """Add the next row, which must be one that the server could have written."""
        # Numbers of rows that were dropped are missing.
        rules.check_event(event, max(event.seq, self._last + 1))
        self._last = event.seq
        self._total = (self._total + row_number(event)) % MODULUS
        if event.kind == "decision":
            self._decisions += 1
            if event.body:
                made: DecisionEvent = decode(DecisionEvent, event.body)
                _check_kept(event, made, self._decisions, configs, self._compaction)
                self._awaiting[event.decision] = event.seq, len(made.chosen)
        elif event.kind == "feedback" and event.decision in self._awaiting:
            seq, plays = self._awaiting[event.decision]
            told = len(decode(FeedbackEvent, event.body).rewards)
            self._awaiting[event.decision] = seq, plays - told
        elif event.kind in ("expired", "cancelled"):
            self._awaiting.pop(event.decision, None)

    @property
    def unchecked(self) -> int:
        """How many plays of checked decisions await feedback."""
        return sum(plays for seq, plays in self._awaiting.values() if seq <= self._checked)

    def check(self) -> None:
        """Raise if rows were lost or changed, or do not fit the counters."""
        compaction = self._compaction
        known = compaction.kept or self._after < compaction.through
        if known and compaction.kept != kept_digest(compaction, self._total):
            raise ValueError("compacted rows, or the counters after them, were changed")
        counters = unpacked(compaction.counters)
        check_sums(counters.state)
        totals = counters.totals
        if totals.pending.sum() > sum(plays for _, plays in self._awaiting.values()):
            raise ValueError("the counters of the compaction await more than its rows")
        if totals.seq.item() != compaction.through or totals.latest.item() != self._decisions:
            raise ValueError("the counters of the compaction are not those of its rows")


def _check_kept(
    event: Event,
    made: DecisionEvent,
    number: int,
    configs: ConfigVersions,
    compaction: Compaction,
) -> None:
    """Raise if a decision that a compaction has kept cannot have been made."""
    if not 1 <= made.config_version <= compaction.config_version:
        raise ValueError(f"event {event.seq} is of configuration {made.config_version}")
    table = configs[made.config_version].table
    due = rules.Clocks(number, made.round, made.time, made.config_version)
    rules.check_decision(event, made, due, table, adds_up=made.before is None)


def _with_origin(
    view: View, name: str, key: int, configs: ConfigVersions, events: Iterator[Event]
) -> Iterator[Event]:
    """Yield events, and raise if a configuration is not the one that its event stands for."""
    for event in events:
        if event.kind == "edition":
            change: ConfigEvent = decode(ConfigEvent, event.body)
            config = configs[change.config_version]
            if change.digest and change.digest != config.digest():
                raise ValueError(f"configuration {change.config_version} was changed")
            if change.config_version == 1:
                _check_original(view.original(key), name, change)
        yield event


def _check_original(original: bytes, name: str, change: ConfigEvent) -> None:
    """Raise if the body that a bandit was created from was changed."""
    if change.origin and change.origin != digest_of(name.encode(), original):
        raise ValueError("the name of the bandit, or the body it was created from, was changed")


def _counters(counted: Counters, stored: Counters, arms: Sequence[str]) -> list[Difference]:
    """Return where counters differ."""
    numbers, known = to_plain(counted), to_plain(stored)
    found: list[Difference] = []
    for what in (*names_of(Totals), *names_of(State)):
        found += _differences(what, arms, numbers[what], known[what])
    return found


def _differences(
    what: str, arms: Sequence[str], counted: Sequence[float], kept: Sequence[float]
) -> list[Difference]:
    """Return where numbers differ: integers at all, others by more than rounding."""
    single = len(kept) == 1 and len(arms) != 1
    names = [what] if single else [f"{what} of arm {arm!r}" for arm in arms]
    return [
        Difference(name, one, other)
        for name, one, other in zip(names, counted, kept, strict=True)
        if one != other
        and not (
            isinstance(other, float)
            and math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        )
    ]
