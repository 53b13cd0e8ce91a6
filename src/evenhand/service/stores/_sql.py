"""What stores in SQL have in common: every statement, but for how a connection is had."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from evenhand.service._events import Event
from evenhand.service.stores.protocol import Fold, Head, Key, Locked, Sample

HEAD = (
    "SELECT b.name, c.bandit, c.version, c.edition FROM bandits b "
    "JOIN counters c ON c.bandit = b.key"
)
EVENT = "seq, at, kind, decision, body"


class Connection(Protocol):
    """What runs statements, with ``?`` where a value goes."""

    def run(self, statement: str, *values: Any) -> Any:
        """Run a statement; return a cursor."""

    def run_later(self, statement: str, *values: Any) -> None:
        """Run a statement of which no result is wanted, before the next one at the latest."""


class Dialect(Protocol):
    """Where databases differ."""

    any_of: str
    """Is one of a list, as a condition with one ``?``."""
    log: str
    """The log, to be searched for decisions."""
    given: str
    """Names with whole numbers, from a JSON object: a table with one ``?``."""
    locked: str
    """At the end of a query: the rows of ``c`` are nobody else's until the transaction ends."""
    free: str
    """At the end of a query: only rows that nobody else has locked, and they are locked."""
    touch: str
    """Writes something that changes nothing."""
    add_events: str
    """Writes events of a bandit, given as a JSON list of lists, in one step."""

    def listed(self, values: Sequence[str]) -> Any:
        """Return a list as a value for ``any_of``."""


class Statements:
    """A view or a transaction on a connection; see :class:`Transaction` for what each one does."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._run, self._run_later = connection.run, connection.run_later
        self._dialect = dialect

    def names(self) -> list[str]:
        return sorted(row[0] for row in self._run("SELECT name FROM bandits"))

    def heads(self) -> dict[str, Head]:
        return {row[0]: Head(*row[1:]) for row in self._run(HEAD)}

    def find(self, name: str) -> Head | None:
        found = self._run(f"{HEAD} WHERE b.name = ?", name).fetchone()
        return None if found is None else Head(*found[1:])

    def original(self, key: int) -> bytes:
        return self._body("SELECT original FROM bandits WHERE key = ?", key)

    def counters(self, key: int) -> bytes:
        return self._body("SELECT body FROM counters WHERE bandit = ?", key)

    def edition(self, key: int, number: int) -> bytes:
        return self._body("SELECT body FROM editions WHERE bandit = ? AND number = ?", key, number)

    def decisions(self, key: int, ids: Sequence[str]) -> list[Event]:
        wanted = self._dialect.listed(ids)
        rows = self._run(
            f"SELECT {EVENT} FROM {self._dialect.log} WHERE bandit = ? "
            f"AND decision {self._dialect.any_of} ORDER BY seq",
            key,
            wanted,
        )
        return [Event(*row) for row in rows]

    def events(self, key: int, after: int, limit: int) -> list[Event]:
        rows = self._run(
            f"SELECT {EVENT} FROM log WHERE bandit = ? AND seq > ? ORDER BY seq LIMIT ?",
            key,
            after,
            limit,
        )
        return [Event(*row) for row in rows]

    def last_decisions(self, key: int, limit: int, among: int) -> list[str]:
        rows = self._run(
            "SELECT decision FROM log WHERE bandit = ? AND kind = 'decision' "
            "AND seq > (SELECT COALESCE(MAX(seq), 0) FROM log WHERE bandit = ?) - ? "
            "ORDER BY seq DESC LIMIT ?",
            key,
            key,
            among,
            limit,
        )
        return [row[0] for row in rows]

    def samples(self, key: int, since: int) -> list[Sample]:
        rows = self._run(
            "SELECT at, edition, body FROM samples WHERE bandit = ? AND at >= COALESCE("
            "(SELECT MAX(at) FROM samples WHERE bandit = ? AND at <= ?), 0) ORDER BY at",
            key,
            key,
            since,
        )
        return [Sample(*row) for row in rows]

    def first_sample(self, key: int) -> int | None:
        found = self._run("SELECT MIN(at) FROM samples WHERE bandit = ?", key).fetchone()
        first: int | None = found[0]
        return first

    def fold(self, key: int) -> Fold | None:
        found = self._run(
            "SELECT through, edition, counters FROM folds WHERE bandit = ?", key
        ).fetchone()
        return None if found is None else Fold(*found)

    def all_keys(self) -> list[Key]:
        rows = self._run(
            "SELECT id, label, scopes, digest, created, revoked FROM keys ORDER BY created, id"
        )
        return [Key(row[0], row[1], tuple(json.loads(row[2])), *row[3:]) for row in rows]

    def lock(self, known: Mapping[str, int]) -> dict[str, Locked]:
        rows = self._run(
            "SELECT b.name, c.bandit, c.version, c.edition, "
            "CASE WHEN c.version = g.value THEN NULL ELSE c.body END "
            f"FROM {self._dialect.given} g JOIN bandits b ON b.name = g.key "
            f"JOIN counters c ON c.bandit = b.key ORDER BY c.bandit {self._dialect.locked}",
            json.dumps(known),
        )
        return {row[0]: Locked(Head(*row[1:4]), row[4]) for row in rows}

    def create(self, name: str, original: bytes, edition: bytes, counters: bytes) -> int | None:
        made = self._run(
            "INSERT INTO bandits (name, original) VALUES (?, ?) "
            "ON CONFLICT (name) DO NOTHING RETURNING key",
            name,
            original,
        ).fetchone()
        if made is None:
            return None
        key = int(made[0])
        self._run("INSERT INTO counters VALUES (?, 1, 1, ?)", key, counters)
        self.add_edition(key, 1, edition)
        return key

    def apply(self, key: int, head: Head, events: Sequence[Event], counters: bytes) -> None:
        if events:
            rows = [(*event[:4], event.body.decode()) for event in events]
            document = msgspec.json.encode(rows).decode()
            self._run_later(self._dialect.add_events, key, document)
        self._run_later(
            "UPDATE counters SET version = ?, edition = ?, body = ? WHERE bandit = ?",
            head.version,
            head.edition,
            counters,
            key,
        )

    def add_edition(self, key: int, number: int, body: bytes) -> None:
        self._run("INSERT INTO editions VALUES (?, ?, ?)", key, number, body)

    def delete(self, key: int) -> None:
        self._run("DELETE FROM bandits WHERE key = ?", key)
        for table in ("counters", "editions", "folds", "samples"):
            self._run(f"DELETE FROM {table} WHERE bandit = ?", key)
        self._run("INSERT INTO deleted VALUES (?)", key)

    def tidy(self, limit: int) -> bool:
        found = self._run(
            f"SELECT bandit FROM deleted ORDER BY bandit LIMIT 1 {self._dialect.free}"
        ).fetchone()
        if found is None:
            return False
        key = found[0]
        self._run(
            "DELETE FROM log WHERE bandit = ? AND seq IN "
            "(SELECT seq FROM log WHERE bandit = ? ORDER BY seq LIMIT ?)",
            key,
            key,
            limit,
        )
        if self._run("SELECT 1 FROM log WHERE bandit = ? LIMIT 1", key).fetchone() is None:
            self._run("DELETE FROM deleted WHERE bandit = ?", key)
        return True

    def touch(self) -> None:
        self._run(self._dialect.touch)

    def put_fold(self, key: int, fold: Fold, closed: Sequence[str]) -> None:
        log, wanted = self._dialect.log, self._dialect.listed(closed)
        those = f"bandit = ? AND decision {self._dialect.any_of}"
        self._run(f"DELETE FROM {log} WHERE kind <> 'decision' AND {those}", key, wanted)
        # What is left of them are their ids.
        self._run(f"UPDATE {log} SET body = ? WHERE {those}", b"", key, wanted)
        self._run("DELETE FROM folds WHERE bandit = ?", key)
        self._run("INSERT INTO folds VALUES (?, ?, ?, ?)", key, *fold)

    def add_sample(self, key: int, sample: Sample) -> None:
        self._run("INSERT INTO samples VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", key, *sample)

    def thin_samples(self, key: int, since: int, before: int, step: int) -> None:
        those = "FROM samples WHERE bandit = ? AND at >= ? AND at < ?"
        span = key, since, before
        self._run(
            f"DELETE {those} AND at NOT IN (SELECT MIN(at) {those} GROUP BY at / ?)",
            *span,
            *span,
            step,
        )

    def put_key(self, key: Key) -> None:
        self._run("DELETE FROM keys WHERE id = ?", key.id)
        known = key.id, key.label, json.dumps(key.scopes), *key[3:]
        self._run("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)", *known)

    def _body(self, statement: str, *values: Any) -> bytes:
        found = self._run(statement, *values).fetchone()
        if found is None:
            raise LookupError(f"no row for {values}: {statement}")
        return bytes(found[0])
