"""PostgreSQL: one database for several servers."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from evenhand.core.checks import fail
from evenhand.core.extras import load
from evenhand.service.stores import _tables
from evenhand.service.stores._sql import Statements
from evenhand.service.stores.protocol import (
    BanditLocked,
    StoreFull,
    StoreUnavailable,
    Transaction,
    View,
    Waits,
)

# How long a host may be silent: when connecting, while data is sent (in milliseconds), and while a
# statement is under way: then it is probed three times.
CONNECTION = {
    "connect_timeout": 3,
    "tcp_user_timeout": 5_000,
    "keepalives_idle": 3,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
# A server that hangs must not block the others for long.
SETTINGS = (
    "SET search_path TO evenhand",
    "SET synchronous_commit TO on",
    "SET client_encoding TO 'UTF8'",
    "SET lock_timeout TO '200ms'",
    "SET statement_timeout TO '60s'",
    "SET idle_in_transaction_session_timeout TO '5s'",
)
# How often the clock of the database is read.
CLOCK_SECONDS = 1.0
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
    skipping = "SKIP LOCKED"
    free = "FOR UPDATE SKIP LOCKED"
    null_write = "UPDATE meta SET version = version"
    add_events = (
        "INSERT INTO log SELECT ?, (e ->> 0)::bigint, (e ->> 1)::double precision, e ->> 2, "
        "e ->> 3, convert_to(e ->> 4, 'UTF8'), e ->> 5 "
        "FROM jsonb_array_elements(?::jsonb) AS given (e)"
    )

    def __init__(self, url: str, *, must_exist: bool = False) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._writers: list[_PostgresConnection] = []
        self._readers: list[_PostgresConnection] = []
        self._writing: _PostgresConnection | None = None
        self._offset = 0.0
        try:
            with self._pooled(self._writers) as connection, connection.transaction(""):
                _set_up(connection, must_exist)
                self._set_clock(connection)
        except BaseException:
            self.close()
            raise

    def listed(self, values: Sequence[str]) -> list[str]:
        return list(values)

    @contextmanager
    def transaction(self, *, wait: bool = True) -> Iterator[Transaction]:
        with self._lock, self._pooled(self._writers) as connection:
            self._writing = connection
            try:
                with connection.transaction(""):
                    yield Statements(connection, self)
            finally:
                self._writing = None
            if time.monotonic() > self._clock_due:
                self._set_clock(connection)

    @contextmanager
    def view(self) -> Iterator[View]:
        kind = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._pooled(self._readers) as connection, connection.transaction(kind):
            yield Statements(connection, self)

    def interrupt(self) -> None:
        if (connection := self._writing) is not None:
            connection.cut()

    def now(self) -> float:
        return time.monotonic() + self._offset

    def _set_clock(self, connection: _PostgresConnection) -> None:
        """Measure how far this machine's monotonic clock is from the clock of the database."""
        before = time.monotonic()
        [now] = connection.run("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
        after = time.monotonic()
        self._offset, self._clock_due = now - (before + after) / 2.0, after + CLOCK_SECONDS

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
            if isinstance(error, psycopg.errors.LockNotAvailable):
                raise BanditLocked("another server is writing to the bandit") from error
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
            url, autocommit=True, application_name="evenhand", **CONNECTION
        )
        for setting in SETTINGS:
            self._own.execute(setting)
        self.close = self._own.close
        self._later: list[tuple[str, tuple[Any, ...]]] = []

    @property
    def closed(self) -> bool:
        return bool(self._own.closed)

    def cut(self) -> None:
        """Shut the connection down from another thread: what waits for an answer fails."""
        lost = load("psycopg").Error
        with suppress(OSError, lost), socket.socket(fileno=os.dup(self._own.fileno())) as own:
            own.shutdown(socket.SHUT_RDWR)

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
    encoding = run("SHOW server_encoding").fetchone()[0]
    if encoding != "UTF8":
        fail("encoding of the database", "UTF8", encoding)
    run("SET LOCAL lock_timeout TO '10s'")
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
