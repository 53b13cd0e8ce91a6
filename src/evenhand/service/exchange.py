"""Whole bandits as JSON lines, out of one store and into another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from evenhand.core.checks import brief, check_known, check_whole, fail
from evenhand.core.forms import Form
from evenhand.errors import InputError
from evenhand.service._bodies import BANDIT_NAME, BANDIT_RULE, BanditBody
from evenhand.service._counters import from_plain, listed, packed, unpacked
from evenhand.service._edition import Edition
from evenhand.service._events import Event, Kind
from evenhand.service._reading import find_head
from evenhand.service.recount import verify
from evenhand.service.stores import Store, Unavailable
from evenhand.service.stores.protocol import Fold, Head, Transaction, View, all_events

FORM = Form("evenhand bandits", 2)
PAGE = 1_000
EventLine: TypeAlias = tuple[int, float, Kind, str, str]


def export_lines(view: View, names: Sequence[str] | None = None) -> Iterator[str]:
    """Yield bandits, all or some, as lines of JSON; keys are not among them."""
    known = view.names()
    wanted = known if names is None else list(names)
    check_known("bandit", wanted, known)
    yield _line(FORM.write({"bandits": len(wanted)}))
    for name in wanted:
        yield from _bandit_lines(view, name)


def _bandit_lines(view: View, name: str) -> Iterator[str]:
    head = find_head(view, name)
    fold = view.fold(head.key)
    yield _line(
        {
            "bandit": name,
            "original": json.loads(view.original(head.key)),
            "edition": head.edition,
            "counters": listed(unpacked(view.counters(head.key))),
            "fold": None if fold is None else [*fold[:2], listed(unpacked(fold.counters))],
        }
    )
    for number in range(1, head.edition + 1):
        edition = Edition.from_bytes(view.edition(head.key, number))
        yield _line({"edition": number, **msgspec.to_builtins(edition.plain())})
    count = 0
    for event in all_events(view, head.key, 0):
        count += 1
        yield _line({"event": [*event[:4], event.body.decode()]})
    yield _line({"end": name, "events": count})


def import_lines(store: Store, lines: Iterable[str]) -> dict[str, int]:
    """Add the bandits that lines describe, all or none; return how many events each one has."""
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
        editions = [_edition(reader, number) for number in range(1, last + 1)]
        original = msgspec.json.encode(msgspec.convert(about["original"], BanditBody))
        key = transaction.create(name, original, editions[0], counters)
        if key is None:
            fail("bandit to import", "one that is not there yet", name)
        for number, edition in enumerate(editions[1:], start=2):
            transaction.add_edition(key, number, edition)
        if about["fold"] is not None:
            through, edition, folded = about["fold"]
            transaction.put_fold(key, Fold(through, edition, packed(from_plain(folded))), ())
        count = _import_events(transaction, reader, Head(key, 1, last), counters)
        differences = verify(transaction, name)[1]
    except (InputError, Unavailable):
        raise
    except Exception as error:  # whatever a damaged line may lead to
        fail(f"line {reader.number}", "undamaged", f"{type(error).__name__}: {error}")
    if differences:
        what, counted, stored = differences[0]
        fail(f"{what} of bandit {name!r}", f"{counted:g}, what its log adds up to", stored)
    return name, count


def _edition(reader: _Reader, number: int) -> bytes:
    document = reader.read("edition")
    return Edition.from_plain({**document, "number": number}).to_bytes()


def _import_events(transaction: Transaction, reader: _Reader, head: Head, counters: bytes) -> int:
    """Write the events of a bandit, page by page; return how many."""
    count, page = 0, []
    while "event" in (line := reader.read()):
        seq, at, kind, decision, body = msgspec.convert(line["event"], EventLine)
        page.append(Event(seq, at, kind, decision, body.encode()))
        count += 1
        if len(page) == PAGE:
            transaction.apply(head.key, head, page, counters)
            transaction.counters(head.key)  # so that what was put off is written
            page = []
    transaction.apply(head.key, head, page, counters)
    if line.get("events") != count:
        fail(f"line {reader.number}", f"the end of a bandit after {count} events", brief(line))
    return count


class _Reader:
    """Reads lines, and knows their numbers."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines, self.number = iter(lines), 0

    def read(self, *wanted: str) -> dict[str, Any]:
        """Return the next line, which has the keys that are wanted."""
        self.number += 1
        line = next(self._lines, None)
        if line is None:
            fail(f"line {self.number}", "there: the file is cut off", "its end")
        try:
            document = json.loads(line)
        except (ValueError, RecursionError) as error:
            fail(f"line {self.number}", "JSON", str(error))
        if not isinstance(document, dict) or not set(wanted) <= set(document):
            fail(f"line {self.number}", f"an object with {', '.join(wanted) or 'names'}", line)
        return document

    def check_end(self) -> None:
        """Complain about anything that follows."""
        if any(line.strip() for line in self._lines):
            fail(f"line {self.number + 1}", "left out: all bandits have been read", "more")


def _line(document: dict[str, Any]) -> str:
    return json.dumps(document, allow_nan=False) + "\n"
