"""Export and import of whole bandits, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from evenhand.core.checks import brief, check_known, check_whole, fail
from evenhand.core.forms import Form
from evenhand.errors import InputError
from evenhand.service.engine.config_version import ConfigVersion
from evenhand.service.engine.counters import from_plain, packed, to_plain, unpacked
from evenhand.service.schemas import BANDIT_NAME, BANDIT_RULE, BanditBody
from evenhand.service.stores.protocol import (
    BanditHead,
    Compaction,
    Event,
    EventKind,
    Store,
    StoreUnavailable,
    Transaction,
    View,
    all_events,
)
from evenhand.service.upkeep.recount import verify
from evenhand.service.views.lookup import find_head

FORM = Form("evenhand bandits", 2)
PAGE = 1_000
EventLine: TypeAlias = tuple[int, float, EventKind, str, str]


def export_lines(view: View, names: Sequence[str] | None = None) -> Iterator[str]:
    """Yield bandits, all or some, as lines of JSON, without API keys."""
    known = view.names()
    wanted = known if names is None else list(names)
    check_known("bandit", wanted, known)
    yield _line(FORM.write({"bandits": len(wanted)}))
    for name in wanted:
        yield from _bandit_lines(view, name)


def _bandit_lines(view: View, name: str) -> Iterator[str]:
    head = find_head(view, name)
    compaction = view.compaction(head.key)
    yield _line(
        {
            "bandit": name,
            "original": json.loads(view.original(head.key)),
            "edition": head.config_version,
            "counters": to_plain(unpacked(view.counters(head.key))),
            "fold": None if compaction is None else _compaction_line(compaction),
        }
    )
    for number in range(1, head.config_version + 1):
        config = ConfigVersion.from_bytes(view.config(head.key, number))
        yield _line({"edition": number, **msgspec.to_builtins(config.plain())})
    count = 0
    for event in all_events(view, head.key, 0):
        count += 1
        yield _line({"event": [*event[:4], event.body.decode()]})
    yield _line({"end": name, "events": count})


def _compaction_line(compaction: Compaction) -> list[Any]:
    return [*compaction[:2], to_plain(unpacked(compaction.counters))]


def import_lines(store: Store, lines: Iterable[str]) -> dict[str, int]:
    """Add the bandits of an export, all or none; return the number of events of each."""
    reader = _Reader(lines)
    first = FORM.read(reader.read("format", "version", "bandits"))
    found: dict[str, int] = {}
    with store.transaction() as transaction:
        for _ in range(check_whole("bandits of line 1", first["bandits"], least=0)):
            name, count = _import_bandit(transaction, reader)
            found[name] = count
        reader.check_end()
    return found


def _import_bandit(transaction: Transaction, reader: _Reader) -> tuple[str, int]:
    about = reader.read("bandit", "original", "edition", "counters", "fold")
    name, last = about["bandit"], about["edition"]
    if not isinstance(name, str) or not BANDIT_NAME.fullmatch(name):
        fail("name of a bandit to import", BANDIT_RULE, name)
    try:
        counters = packed(from_plain(about["counters"]))
        configs = [_config(reader, number) for number in range(1, last + 1)]
        original = msgspec.json.encode(msgspec.convert(about["original"], BanditBody))
        key = transaction.create(name, original, configs[0], counters)
        if key is None:
            fail("bandit to import", "one that does not exist yet", name)
        for number, config in enumerate(configs[1:], start=2):
            transaction.add_config(key, number, config)
        if about["fold"] is not None:
            through, number, plain = about["fold"]
            compaction = Compaction(through, number, packed(from_plain(plain)))
            transaction.put_compaction(key, compaction, ())
        count = _import_events(transaction, reader, BanditHead(key, 1, last), counters)
        differences = verify(transaction, name)[1]
    except (InputError, StoreUnavailable):
        raise
    except Exception as error:  # whatever a damaged line may lead to
        fail(f"line {reader.number}", "undamaged", f"{type(error).__name__}: {error}")
    if differences:
        what, counted, stored = differences[0]
        fail(f"{what} of bandit {name!r}", f"{counted:g}, what its log adds up to", stored)
    return name, count


def _config(reader: _Reader, number: int) -> bytes:
    document = reader.read("edition")
    return ConfigVersion.from_plain({**document, "number": number}).to_bytes()


def _import_events(
    transaction: Transaction, reader: _Reader, head: BanditHead, counters: bytes
) -> int:
    """Write the events of a bandit, page by page; return how many."""
    count, page = 0, []
    while "event" in (line := reader.read()):
        seq, at, kind, decision, body = msgspec.convert(line["event"], EventLine)
        page.append(Event(seq, at, kind, decision, body.encode()))
        count += 1
        if len(page) == PAGE:
            transaction.apply(head.key, head, page, counters)
            transaction.counters(head.key)  # flushes what a store has buffered
            page = []
    transaction.apply(head.key, head, page, counters)
    if line.get("events") != count:
        fail(f"line {reader.number}", f"the end of a bandit after {count} events", brief(line))
    return count


class _Reader:
    """Reads lines and counts them."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines, self.number = iter(lines), 0

    def read(self, *wanted: str) -> dict[str, Any]:
        """Return the next line, which must have some keys."""
        self.number += 1
        line = next(self._lines, None)
        if line is None:
            fail(f"line {self.number}", "present: the file is cut off", "its end")
        try:
            document = json.loads(line)
        except (ValueError, RecursionError) as error:
            fail(f"line {self.number}", "JSON", str(error))
        if not isinstance(document, dict) or not set(wanted) <= set(document):
            fail(f"line {self.number}", f"an object with {', '.join(wanted) or 'names'}", line)
        return document

    def check_end(self) -> None:
        """Raise if there are more lines."""
        if any(line.strip() for line in self._lines):
            fail(f"line {self.number + 1}", "absent: all bandits have been read", "more")


def _line(document: dict[str, Any]) -> str:
    return json.dumps(document, allow_nan=False) + "\n"
