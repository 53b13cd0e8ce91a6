"""PostgreSQL: one database for several servers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from evenhand.core.checks import fail
from evenhand.core.extras import load
from evenhand.service.stores import _tables
from evenhand.service.stores._sql import Statements
from evenhand.service.stores.protocol import StoreFull, StoreUnavailable, Transaction, View, Waits

CONNECT_SECONDS = 3
# How long sent data may stay unacknowledged, in milliseconds.
SILENCE = 5_000
# A server that hangs must not block the others for ever.
SETTINGS = (
    "SET search_path TO evenhand",
    "SET synchronous_commit TO on",
    "SET lock_timeout TO '3s'",
    "SET statement_timeout TO '60s'",
    "SET idle_in_transaction_session_timeout TO '15s'",
)
# The advisory lock that servers take when they start.
STARTING = 8_321_202_611
WORDS = {
    "serial": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "bytes": "BYTEA",
    "real": "DOUBLE PRECISION",
    "clustered": "",
}


class PostgresStore:
    """A store in the schema ``evenhand`` of a PostgreSQL database."""

    waits: Waits = "always"
    any_of = "= ANY(?)"
    log = "log"
    given = "(SELECT key, value::bigint FROM jsonb_each_text(?::jsonb))"
    locked = "FOR UPDATE OF c"
    free = "FOR UPDATE SKIP LOCKED"
    null_write = "UPDATE meta SET version = version"
    add_events = (
        "INSERT INTO log SELECT ?, (e ->> 0)::bigint, (e ->> 1)::double precision, e ->> 2, "
        "e ->> 3, convert_to(e ->> 4, 'UTF8') FROM jsonb_array_elements(?::jsonb) AS given (e)"
    )

    def __init__(self, url: str, *, must_exist: bool = False) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._writers: list[_PostgresConnection] = []
        self._readers: list[_PostgresConnection] = []
        try:
            with self._pooled(self._writers) as connection, connection.transaction(""):
                _set_up(connection, must_exist)
        except BaseException:
            self.close()
            raise

    def listed(self, values: Sequence[str]) -> list[str]:
        return list(values)

    @contextmanager
    def transaction(self, *, wait: bool = True) -> Iterator[Transaction]:
        with self._lock, self._pooled(self._writers) as connection, connection.transaction(""):
            yield Statements(connection, self)

    @contextmanager
    def view(self) -> Iterator[View]:
        kind = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._pooled(self._readers) as connection, connection.transaction(kind):
            yield Statements(connection, self)

    def close(self) -> None:
        for connection in (*self._readers, *self._writers):
            connection.close()

    @contextmanager
    def _pooled(self, idle: list[_PostgresConnection]) -> Iterator[_PostgresConnection]:
        """Take a connection from a pool; a failed one is closed."""
        psycopg = load("psycopg")
        connection = None
        try:
            try:
                connection = idle.pop()
            except IndexError:
                connection = _PostgresConnection(self._url)
            yield connection
        except psycopg.Error as error:
            if connection is not None:
                connection.close()
            if isinstance(error, psycopg.errors.DiskFull):
                raise StoreFull(f"the disk of the database is full ({_line(error)})") from error
            refused = psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction
            passing = psycopg.OperationalError, psycopg.InterfaceError, *refused
            if isinstance(error, passing):
                raise StoreUnavailable(
                    f"the database cannot be reached now ({_line(error)})"
                ) from error
            raise
        finally:
            if connection is not None and not connection.closed:
                idle.append(connection)


class _PostgresConnection:
    """One connection to the database."""

    def __init__(self, url: str) -> None:
        self._own = load("psycopg").connect(
            url,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            tcp_user_timeout=SILENCE,
            application_name="evenhand",
        )
        for setting in SETTINGS:
            self._own.execute(setting)
        self.close = self._own.close
        self._later: list[tuple[str, tuple[Any, ...]]] = []

    @property
    def closed(self) -> bool:
        return bool(self._own.closed)

    def run(self, statement: str, *values: Any) -> Any:
        if not self._later:
            return self._own.execute(_written(statement), values)
        with self._own.pipeline():
            for earlier in self._later:
                self._own.execute(*earlier)
            self._later = []
            return self._own.execute(_written(statement), values)

    def run_later(self, statement: str, *values: Any) -> None:
        self._later.append((_written(statement), values))

    @contextmanager
    def transaction(self, kind: str) -> Iterator[None]:
        self._later = []
        self.run_later(f"BEGIN {kind}")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            self._later = []
            if not self._own.closed:
                self._own.execute("ROLLBACK")
            raise


def _set_up(connection: _PostgresConnection, must_exist: bool) -> None:
    """Create the tables, or migrate them; servers that start together take turns."""
    run = connection.run
    run("SELECT pg_advisory_xact_lock(?)", STARTING)
    if run("SELECT to_regclass('evenhand.meta')").fetchone()[0] is None:
        if must_exist:
            fail("database", "one of evenhand", "one without its tables")
        run("CREATE SCHEMA IF NOT EXISTS evenhand")
        run("CREATE TABLE evenhand.meta (version BIGINT NOT NULL)")
    found = run("SELECT version FROM meta").fetchone()
    _tables.set_up(run, 0 if found is None else found[0], WORDS)
    run("DELETE FROM meta")
    run("INSERT INTO meta VALUES (?)", _tables.VERSION)


@cache
def _written(statement: str) -> str:
    return statement.replace("?", "%s")


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
