"""The SQL of all stores; a dialect has what databases do differently."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from evenhand.service.stores.protocol import (
    BanditHead,
    Compaction,
    Event,
    HistoryPoint,
    Key,
    LockedBandit,
)

HEAD = (
    "SELECT b.name, c.bandit, c.version, c.config_version FROM bandits b "
    "JOIN counters c ON c.bandit = b.key"
)
EVENT = "seq, at, kind, decision, body, digest"
OTHERS = "AND kind <> 'reasons'"
PER_BANDIT = ("counters", "configs", "compactions", "history")


class Connection(Protocol):
    """Runs statements with ``?`` as placeholders."""

    def run(self, statement: str, *values: Any) -> Any:
        """Run a statement; return a cursor."""

    def run_later(self, statement: str, *values: Any) -> None:
        """Run a statement without a result, at the latest before the next one."""


class Dialect(Protocol):
    """What databases do differently."""

    any_of: str
    """Is one of a list, as a condition with one ``?``."""
    log: str
    """The log, to be searched for decisions."""
    given: str
    """Names with whole numbers, from a JSON object: a table with one ``?``."""
    locked: str
    """At the end of a query: lock the rows of ``c`` until the transaction ends."""
    skipping: str
    """After that: leave out rows that are locked already."""
    free: str
    """At the end of a query: lock the rows, and skip those that are locked already."""
    null_write: str
    """A statement that writes without effect."""
    add_events: str
    """A statement that writes events of a bandit, given as a JSON list of lists."""

    def listed(self, values: Sequence[str]) -> Any:
        """Return a list as a value for ``any_of``."""


class Statements:
    """A view or a transaction on a connection; see :class:`Transaction` for what each one does."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._run, self._run_later = connection.run, connection.run_later
        self._dialect = dialect

    def names(self) -> list[str]:
        return sorted(row[0] for row in self._run("SELECT name FROM bandits"))

    def heads(self) -> dict[str, BanditHead]:
        return {row[0]: BanditHead(*row[1:]) for row in self._run(HEAD)}

    def find(self, name: str) -> BanditHead | None:
        found = self._run(f"{HEAD} WHERE b.name = ?", name).fetchone()
        return None if found is None else BanditHead(*found[1:])

    def original(self, key: int) -> bytes:
        return self._body("SELECT original FROM bandits WHERE key = ?", key)

    def counters(self, key: int) -> bytes:
        return self._body("SELECT body FROM counters WHERE bandit = ?", key)

    def config(self, key: int, number: int) -> bytes:
        return self._body("SELECT body FROM configs WHERE bandit = ? AND number = ?", key, number)

    def decisions(self, key: int, ids: Sequence[str], *, reasons: bool = True) -> list[Event]:
        statement = (
            f"SELECT {EVENT} FROM {self._dialect.log} WHERE bandit = ? "
            f"AND decision {self._dialect.any_of} "
            f"{'' if reasons else OTHERS} ORDER BY seq"
        )
        return [Event(*row) for row in self._run(statement, key, self._dialect.listed(ids))]

    def events(self, key: int, after: int, limit: int, most_bytes: int = 0) -> list[Event]:
        those = "FROM log WHERE bandit = ? AND seq > ?"
        if most_bytes:
            sizes = f"SELECT seq, LENGTH(body) {those} ORDER BY seq LIMIT ?"
            limit = _fitting(self._run(sizes, key, after, limit), most_bytes)
        statement = f"SELECT {EVENT} {those} ORDER BY seq LIMIT ?"
        return [Event(*row) for row in self._run(statement, key, after, limit)]

    def repeated_decisions(self, key: int) -> list[str]:
        statement = (
            "SELECT decision FROM log WHERE bandit = ? AND kind = 'decision' "
            "GROUP BY decision HAVING COUNT(*) > 1 ORDER BY decision LIMIT 10"
        )
        return [row[0] for row in self._run(statement, key)]

    def orphans(self) -> list[int]:
        absent = (
            "bandit NOT IN (SELECT key FROM bandits) AND bandit NOT IN (SELECT bandit FROM deleted)"
        )
        tables = (*PER_BANDIT, "log")
        every = " UNION ".join(f"SELECT bandit FROM {table} WHERE {absent}" for table in tables)
        every += " UNION SELECT key FROM bandits WHERE key IN (SELECT bandit FROM deleted)"
        return sorted(row[0] for row in self._run(every))

    def last_decisions(self, key: int, limit: int, among: int) -> list[str]:
        statement = (
            "SELECT decision FROM log WHERE bandit = ? AND kind = 'decision' "
            "AND seq > (SELECT COALESCE(MAX(seq), 0) FROM log WHERE bandit = ?) - ? "
            "ORDER BY seq DESC LIMIT ?"
        )
        return [row[0] for row in self._run(statement, key, key, among, limit)]

    def history(self, key: int, since: int) -> list[HistoryPoint]:
        statement = (
            "SELECT at, config_version, body FROM history WHERE bandit = ? AND at >= COALESCE("
            "(SELECT MAX(at) FROM history WHERE bandit = ? AND at <= ?), 0) ORDER BY at"
        )
        return [HistoryPoint(*row) for row in self._run(statement, key, key, since)]

    def history_start(self, key: int) -> int | None:
        found = self._run("SELECT MIN(at) FROM history WHERE bandit = ?", key).fetchone()
        first: int | None = found[0]
        return first

    def compaction(self, key: int) -> Compaction | None:
        columns = "through, config_version, counters, kept"
        statement = f"SELECT {columns} FROM compactions WHERE bandit = ?"
        found = self._run(statement, key).fetchone()
        return None if found is None else Compaction(*found)

    def all_keys(self) -> list[Key]:
        columns = "id, label, scopes, digest, created, revoked"
        rows = self._run(f"SELECT {columns} FROM keys ORDER BY created, id")
        return [Key(row[0], row[1], tuple(json.loads(row[2])), *row[3:]) for row in rows]

    def lock(self, known: Mapping[str, int], *, wait: bool = True) -> dict[str, LockedBandit]:
        locked = f"{self._dialect.locked} {'' if wait else self._dialect.skipping}"
        rows = self._run(
            "SELECT b.name, c.bandit, c.version, c.config_version, "
            "CASE WHEN c.version = g.value THEN NULL ELSE c.body END "
            f"FROM {self._dialect.given} g JOIN bandits b ON b.name = g.key "
            f"JOIN counters c ON c.bandit = b.key ORDER BY c.bandit {locked}",
            json.dumps(known),
        )
        return {row[0]: LockedBandit(BanditHead(*row[1:4]), row[4]) for row in rows}

    def create(self, name: str, original: bytes, config: bytes, counters: bytes) -> int | None:
        insert = "INSERT INTO bandits (name, original) VALUES (?, ?)"
        statement = f"{insert} ON CONFLICT (name) DO NOTHING RETURNING key"
        made = self._run(statement, name, original).fetchone()
        if made is None:
            return None
        key = int(made[0])
        self._run("INSERT INTO counters VALUES (?, 1, 1, ?)", key, counters)
        self.add_config(key, 1, config)
        return key

    def apply(self, key: int, head: BanditHead, events: Sequence[Event], counters: bytes) -> None:
        if events:
            rows = [(*event[:4], event.body.decode(), event.digest) for event in events]
            document = msgspec.json.encode(rows).decode()
            self._run_later(self._dialect.add_events, key, document)
        statement = "UPDATE counters SET version = ?, config_version = ?, body = ? WHERE bandit = ?"
        self._run_later(statement, head.version, head.config_version, counters, key)

    def add_config(self, key: int, number: int, body: bytes) -> None:
        self._run("INSERT INTO configs VALUES (?, ?, ?)", key, number, body)

    def delete(self, key: int) -> None:
        self._run("DELETE FROM bandits WHERE key = ?", key)
        for table in PER_BANDIT:
            self._run(f"DELETE FROM {table} WHERE bandit = ?", key)
        self._run("INSERT INTO deleted VALUES (?)", key)

    def purge(self, limit: int) -> bool:
        found = self._run(
            f"SELECT bandit FROM deleted ORDER BY bandit LIMIT 1 {self._dialect.free}"
        ).fetchone()
        if found is None:
            return False
        key = found[0]
        first = "SELECT seq FROM log WHERE bandit = ? ORDER BY seq LIMIT ?"
        self._run(f"DELETE FROM log WHERE bandit = ? AND seq IN ({first})", key, key, limit)
        if self._run("SELECT 1 FROM log WHERE bandit = ? LIMIT 1", key).fetchone() is None:
            self._run("DELETE FROM deleted WHERE bandit = ?", key)
        return True

    def check_writable(self) -> None:
        self._run(self._dialect.null_write)

    def put_compaction(self, key: int, compaction: Compaction, closed: Sequence[str]) -> None:
        log, wanted = self._dialect.log, self._dialect.listed(closed)
        those = f"bandit = ? AND decision {self._dialect.any_of}"
        self._run(f"DELETE FROM {log} WHERE kind <> 'decision' AND {those}", key, wanted)
        # Only their ids stay.
        self._run(f"UPDATE {log} SET body = ? WHERE {those}", b"", key, wanted)
        self._run("DELETE FROM compactions WHERE bandit = ?", key)
        self._run("INSERT INTO compactions VALUES (?, ?, ?, ?, ?)", key, *compaction)

    def add_history(self, key: int, point: HistoryPoint) -> None:
        self._run("INSERT INTO history VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", key, *point)

    def thin_history(self, key: int, since: int, before: int, step: int) -> None:
        those = "FROM history WHERE bandit = ? AND at >= ? AND at < ?"
        span = key, since, before
        kept = f"SELECT MIN(at) {those} GROUP BY at / ?"
        self._run(f"DELETE {those} AND at NOT IN ({kept})", *span, *span, step)

    def put_key(self, key: Key) -> None:
        self._run("DELETE FROM keys WHERE id = ?", key.id)
        known = key.id, key.label, json.dumps(key.scopes), *key[3:]
        self._run("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)", *known)

    def _body(self, statement: str, *values: Any) -> bytes:
        found = self._run(statement, *values).fetchone()
        if found is None:
            raise LookupError(f"no row for {values}: {statement}")
        return bytes(found[0])


def _fitting(sizes: Iterable[tuple[int, int]], most: int) -> int:
    """Return how many rows there are up to the one with which their sizes exceed a limit."""
    total = count = 0
    for _, size in sizes:
        count += 1
        total += size
        if total > most:
            break
    return count
