"""Export and import of whole bandits, as JSON lines."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec import Struct

from evenhand.core.checks import brief, check_known, check_whole, fail
from evenhand.core.forms import Form
from evenhand.errors import InputError
from evenhand.service.engine.bandit import Bandit
from evenhand.service.engine.config_version import ConfigVersion, ConfigVersions, first_config
from evenhand.service.engine.counters import from_plain, packed, to_plain, unpacked
from evenhand.service.schemas import BANDIT_NAME, BANDIT_RULE, MOST_PLAYS, BanditBody
from evenhand.service.stores import open_store
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
from evenhand.service.upkeep.verification import verify
from evenhand.service.views.lookup import find_bandit, find_head

# Version 2 has no digests.
FORM = Form("evenhand bandits", 3, {2: lambda old: old})
PAGE = 1_000


class EventLine(Struct, array_like=True, forbid_unknown_fields=True):
    """An event as a line of an export has it."""

    seq: int
    at: float
    kind: EventKind
    decision: str
    body: str
    digest: str = ""


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
            "counters": _plain_or_raw(view.counters(head.key), _plain_counters),
            "fold": None if compaction is None else _compaction_line(compaction),
        }
    )
    for number in range(1, head.config_version + 1):
        config = _plain_or_raw(view.config(head.key, number), _plain_config)
        yield _line({"edition": number, **config})
    count = 0
    for event in all_events(view, head.key, 0):
        count += 1
        body = _plain_or_raw(event.body, bytes.decode)
        yield _line({"event": [*event[:4], body, event.digest]})
    yield _line({"end": name, "events": count})


def _plain_or_raw(body: bytes, plain: Callable[[bytes], Any]) -> Any:
    """Return a stored body as plain data; one that is damaged as bytes, which nobody imports."""
    try:
        return plain(body)
    except Exception:  # whatever a damaged row may lead to
        return {"damaged": b64encode(body).decode()}


def _plain_counters(body: bytes) -> dict[str, Any]:
    return to_plain(unpacked(body))


def _plain_config(body: bytes) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(ConfigVersion.from_bytes(body).plain())
    return plain


def _compaction_line(compaction: Compaction) -> list[Any]:
    counters = _plain_or_raw(compaction.counters, _plain_counters)
    return [*compaction[:2], counters, compaction.kept]


def import_lines(store: Store, lines: Iterable[str]) -> dict[str, int]:
    """Add the bandits of an export, all or none; return the number of events of each.

    They are read into a temporary database and verified there, so that the store is locked only
    while the rows are copied.
    """
    with TemporaryDirectory() as folder:
        spool = open_store(f"sqlite:///{folder}/import.db")
        try:
            found = _read_bandits(spool, lines)
            with spool.view() as view, store.transaction() as transaction:
                for name in found:
                    _copy(view, transaction, name)
        finally:
            spool.close()
    return found


def _read_bandits(store: Store, lines: Iterable[str]) -> dict[str, int]:
    reader = _Reader(lines)
    first = FORM.read(reader.read("format", "version", "bandits"))
    found: dict[str, int] = {}
    with store.transaction() as transaction:
        for _ in range(check_whole("bandits of line 1", first["bandits"], least=0)):
            name, count = _read_bandit(transaction, reader)
            found[name] = count
        reader.check_end()
    return found


def _read_bandit(transaction: Transaction, reader: _Reader) -> tuple[str, int]:
    about = reader.read("bandit", "original", "edition", "counters", "fold")
    name, last = about["bandit"], about["edition"]
    if not isinstance(name, str) or not BANDIT_NAME.fullmatch(name):
        fail("name of a bandit to import", BANDIT_RULE, name)
    try:
        counters = packed(from_plain(about["counters"]))
        configs = [_config(reader, number) for number in range(1, last + 1)]
        body = msgspec.convert(about["original"], BanditBody)
        _check_first(body, ConfigVersion.from_bytes(configs[0]))
        original = msgspec.json.encode(body)
        key = transaction.create(name, original, configs[0], counters)
        if key is None:
            fail("bandit to import", "one that the file has once", name)
        for number, config in enumerate(configs[1:], start=2):
            transaction.add_config(key, number, config)
        if about["fold"] is not None:
            transaction.put_compaction(key, _compaction(*about["fold"]), ())
        count = _read_events(transaction, reader, BanditHead(key, 1, last), counters)
        differences = verify(transaction, name)[1]
        _check_usable(transaction, name)
    except (InputError, StoreUnavailable):
        raise
    except Exception as error:  # whatever a damaged line may lead to
        fail(f"bandit {name!r} before line {reader.number + 1}", "undamaged", _words(error))
    if differences:
        what, counted, stored = differences[0]
        fail(f"{what} of bandit {name!r}", f"{counted:g}, what its log adds up to", stored)
    return name, count


def _check_usable(transaction: Transaction, name: str) -> None:
    """Raise unless a server could go on with a bandit: its policy, its floors, its memory."""
    bandit = find_bandit(transaction, name)
    Bandit(bandit.key, bandit.config, "interpreted").load(bandit.counters, 1)
    configs = ConfigVersions(transaction, bandit.key)
    for number in range(1, bandit.config.number + 1):
        config = configs[number]
        if config.policy != bandit.config.policy:
            raise ValueError(f"configuration {number} has another policy, which cannot change")
        if config.table.problem.plays > MOST_PLAYS:
            raise ValueError(f"configuration {number} has more than {MOST_PLAYS} plays")


def _check_first(body: BanditBody, config: ConfigVersion) -> None:
    """Raise if the first configuration is not that of the body that a bandit was created from."""
    wanted, found = first_config(body).plain(), config.plain()
    # Later releases may know more parameters of a policy.
    names = wanted.pop("policy")["name"], found.pop("policy")["name"]
    if wanted != found or names[0] != names[1]:
        raise ValueError("configuration 1 is not that of the body that the bandit was created from")


def _words(error: Exception) -> str:
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"


def _compaction(
    through: int, config_version: int, counters: dict[str, Any], kept: str = ""
) -> Compaction:
    check_whole("first number of the fold", through, least=1)
    check_whole("second number of the fold", config_version, least=1)
    return Compaction(through, config_version, packed(from_plain(counters)), kept)


def _config(reader: _Reader, number: int) -> bytes:
    document = reader.read("edition")
    return ConfigVersion.from_plain({**document, "number": number}).to_bytes()


def _read_events(
    transaction: Transaction, reader: _Reader, head: BanditHead, counters: bytes
) -> int:
    """Write the events of a bandit, page by page; return how many."""
    count, page = 0, []
    while "event" in (line := reader.read()):
        event = msgspec.convert(line["event"], EventLine)
        given = event.seq, event.at, event.kind, event.decision, event.body.encode(), event.digest
        page.append(Event(*given))
        count += 1
        if len(page) == PAGE:
            transaction.apply(head.key, head, page, counters)
            page = []
    transaction.apply(head.key, head, page, counters)
    if line.get("events") != count:
        fail(f"line {reader.number}", f"the end of a bandit after {count} events", brief(line))
    return count


def _copy(view: View, transaction: Transaction, name: str) -> None:
    """Copy a bandit from one store to another."""
    head = find_head(view, name)
    counters, given = view.counters(head.key), (view.original(head.key), view.config(head.key, 1))
    key = transaction.create(name, *given, counters)
    if key is None:
        fail("bandit to import", "one that does not exist yet", name)
    for number in range(2, head.config_version + 1):
        transaction.add_config(key, number, view.config(head.key, number))
    if (compaction := view.compaction(head.key)) is not None:
        transaction.put_compaction(key, compaction, ())
    here, after = BanditHead(key, 1, head.config_version), 0
    while events := view.events(head.key, after, PAGE):
        transaction.apply(key, here, events, counters)
        transaction.counters(key)  # flushes what a store has buffered
        after = events[-1].seq


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
