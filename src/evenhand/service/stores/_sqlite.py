"""SQLite: one file, nothing to install or start; one writer, many readers."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenhand.core.checks import fail
from evenhand.service.stores import _tables
from evenhand.service.stores._sql import Statements
from evenhand.service.stores.protocol import StoreFull, StoreUnavailable, Transaction, View, Waits

WAIT_SECONDS = 3.0
RETRY_SECONDS = 0.005
WORDS = {
    "serial": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "bytes": "BLOB",
    "real": "REAL",
    "clustered": "WITHOUT ROWID",
}


class SqliteStore:
    """A store in a file, or in memory for None.

    A commit to a file is on the disk when it returns (``synchronous = FULL``). In memory readers
    take turns with the writer.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> store = SqliteStore(Path(mkdtemp()) / "evenhand.db")
    >>> with store.view() as view:
    ...     view.names()
    []
    >>> store.close()
    """

    any_of = "IN (SELECT value FROM json_each(?))"
    # Otherwise SQLite would scan the whole log, which is in order.
    log = "log INDEXED BY log_by_decision"
    given = "json_each(?)"
    locked = skipping = free = ""
    null_write = f"PRAGMA user_version = {_tables.VERSION}"
    add_events = (
        "INSERT INTO log SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, "
        "CAST(value ->> 4 AS BLOB), value ->> 5 FROM json_each(?)"
    )

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.waits: Waits = "never" if path is None else "for the commit"
        self._readers: list[_SqliteConnection] = []
        self._lock = threading.Lock()
        with _named(path), _translated():
            self._writer = _SqliteConnection(path)
            try:
                self._check_ours()
                self._writer.run("PRAGMA journal_mode = WAL").close()
                self._set_up()
                self._writer.run("PRAGMA busy_timeout = 0").close()
                self._number = None if path is None else path.stat().st_ino
            except BaseException:
                self.close()
                raise

    def listed(self, values: Sequence[str]) -> str:
        return json.dumps(values)

    @contextmanager
    def transaction(self, *, wait: bool = True) -> Iterator[Transaction]:
        if not self._lock.acquire(timeout=WAIT_SECONDS if wait else 0):
            raise StoreUnavailable("the database is being written to")
        try:
            self._check_there()
            with _translated(), self._writer.transaction("IMMEDIATE", wait=wait):
                yield Statements(self._writer, self)
        finally:
            self._lock.release()

    @contextmanager
    def view(self) -> Iterator[View]:
        if self._path is None:
            # Memory has one connection, so readers take turns with the writer.
            with self.transaction() as transaction:
                yield transaction
            return
        with _translated():
            try:
                reader = self._readers.pop()
            except IndexError:
                reader = _SqliteConnection(self._path)
            try:
                with reader.transaction("DEFERRED"):
                    yield Statements(reader, self)
            finally:
                self._readers.append(reader)

    def interrupt(self) -> None:
        self._writer.interrupt()

    def now(self) -> float:
        return time.time()

    def close(self) -> None:
        for connection in (*self._readers, self._writer):
            connection.close()

    def _check_there(self) -> None:
        """Raise if the file was removed: what is written to it now would be lost."""
        try:
            there = None if self._path is None else self._path.stat().st_ino
        except OSError:
            there = -1
        if there != self._number:
            raise StoreUnavailable(f"the file of the database, {self._path}, was removed")

    def _check_ours(self) -> None:
        """Raise if it is another program's database, before it is changed."""
        run = self._writer.run
        tables = {row[0] for row in run("SELECT name FROM sqlite_master WHERE type = 'table'")}
        ours = {"bandits", "counters", "log"} <= tables
        if tables and (not ours or run("PRAGMA user_version").fetchone()[0] == 0):
            fail(
                "database",
                "an SQLite file of evenhand, or a new one",
                f"{self._path}, another program's",
            )

    def _set_up(self) -> None:
        """Create the tables, or migrate them."""
        with self._writer.transaction("IMMEDIATE"):
            run = self._writer.run
            _tables.set_up(run, run("PRAGMA user_version").fetchone()[0], WORDS)
            run(f"PRAGMA user_version = {_tables.VERSION}")


class _SqliteConnection:
    """One connection to the file."""

    def __init__(self, path: Path | None) -> None:
        self._own = sqlite3.connect(
            path or ":memory:", timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._own.execute("PRAGMA synchronous = FULL").close()
        self.close, self.interrupt = self._own.close, self._own.interrupt

    def run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._own.execute(statement, values)

    def run_later(self, statement: str, *values: Any) -> None:
        self._own.execute(statement, values)

    @contextmanager
    def transaction(self, kind: str, *, wait: bool = True) -> Iterator[None]:
        self._begin(f"BEGIN {kind}", time.monotonic() + WAIT_SECONDS if wait else 0.0)
        try:
            yield
            self._own.execute("COMMIT")
        except BaseException:
            # On a full disk SQLite has rolled back already.
            if self._own.in_transaction:
                self._own.execute("ROLLBACK")
            raise

    def _begin(self, statement: str, end: float) -> None:
        """Begin, once no other connection is writing."""
        while True:
            try:
                self._own.execute(statement)
                return
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not busy or time.monotonic() >= end:
                    raise
                time.sleep(RETRY_SECONDS)


@contextmanager
def _translated() -> Iterator[None]:
    """Raise SQLite's errors as StoreUnavailable or StoreFull."""
    try:
        yield
    except sqlite3.ProgrammingError as error:
        raise StoreUnavailable(f"the database is closed ({error})") from error
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            raise StoreFull(f"the disk of the database is full ({error})") from error
        raise StoreUnavailable(f"the database cannot be used now ({error})") from error


@contextmanager
def _named(path: Path | None) -> Iterator[None]:
    """Raise with the name of a file that cannot be opened."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        fail("database", "an SQLite file of evenhand", f"{path}: {error}")
    except StoreUnavailable as error:
        fail("database", "a file that can be written", f"{path}: {error}")
