"""One suite for every store: what one of them does, all of them do."""

from __future__ import annotations

import hashlib
import sqlite3

import pytest

from evenhand import InputError
from evenhand.service.stores import StoreUnavailable, _tables, open_store
from evenhand.service.stores.protocol import BanditHead, Compaction, HistoryPoint
from evenhand.testing import STORE_CHECKS, check_store
from evenhand.testing._store import new_bandit, new_event


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
@pytest.mark.parametrize("check", STORE_CHECKS)
def test_every_store_passes_the_shared_suite(check, kind, url_of):
    check_store(lambda: open_store(url_of(kind)), check)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_purging_removes_all_rows_of_a_deleted_bandit(kind, url_of):
    store = open_store(url_of(kind))
    key = new_bandit(store)
    with store.transaction() as transaction:
        transaction.apply(key, BanditHead(key, 2, 1), [new_event(i) for i in range(1, 8)], b"")
        transaction.delete(key)
    for _ in range(4):
        with store.transaction() as transaction:
            transaction.purge(3)
    with store.view() as view:
        for table in ("bandits", "counters", "configs", "log", "deleted"):
            assert view._run(f"SELECT COUNT(*) FROM {table}").fetchone()[0] == 0
    store.close()


def test_two_servers_that_tidy_up_leave_nothing_behind(url_of):
    url = url_of("postgres")
    stores = [open_store(url) for _ in range(2)]
    key = new_bandit(stores[0])
    with stores[0].transaction() as transaction:
        transaction.apply(key, BanditHead(key, 2, 1), [new_event(i) for i in range(1, 10)], b"")
        transaction.delete(key)
    with stores[0].transaction() as first:
        assert first.purge(4)
        with stores[1].transaction() as second:
            assert not second.purge(4)
    for _ in range(3):
        with stores[1].transaction() as second:
            second.purge(4)
    with stores[0].view() as view:
        assert view._run("SELECT COUNT(*) FROM log").fetchone()[0] == 0
        assert view._run("SELECT COUNT(*) FROM deleted").fetchone()[0] == 0
    for store in stores:
        store.close()


def test_a_reader_that_finds_fault_leaves_no_connection_behind(store):
    for _ in range(5):
        with pytest.raises(LookupError), store.view() as view:
            view.config(7, 7)
    assert len(getattr(store, "_readers", [])) <= 1
    with store.view() as view:
        assert view.heads() == {}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_store_that_is_opened_again_has_what_it_had(kind, url_of):
    url = url_of(kind)
    first = open_store(url)
    key = new_bandit(first)
    first.close()
    second = open_store(url)
    with second.view() as view:
        assert view.find("shelf").key == key
    second.close()


def rename_bandits(run):
    """A migration in Python: it reads, computes and writes."""
    for key, name in run("SELECT key, name FROM bandits").fetchall():
        run("UPDATE bandits SET name = ? WHERE key = ?", name[::-1], key)


def rename_and_fail(run):
    rename_bandits(run)
    run("CREATE NONSENSE")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_older_database_is_migrated_and_keeps_what_it_has(kind, url_of, monkeypatch):
    url, version = url_of(kind), _tables.VERSION
    older = open_store(url)
    key = new_bandit(older)
    older.close()
    monkeypatch.setattr(_tables, "VERSION", version + 1)
    monkeypatch.setattr(_tables, "MIGRATIONS", {version: rename_bandits})
    for _ in range(2):
        newer = open_store(url)
        with newer.view() as view:
            assert view.find("shelf"[::-1]).key == key
        newer.close()


def test_a_postgres_database_of_version_4_is_migrated(new_database):
    """The same for SQLite is tests/stored, on a file that version 4 has written."""
    import psycopg

    url = new_database()
    store = open_store(url)
    key = new_bandit(store)
    with store.transaction() as transaction:
        transaction.put_compaction(key, Compaction(3, 1, b"sum"), ())
        transaction.add_history(key, HistoryPoint(7, 1, b"point"))
    store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO evenhand")
        for table in ("counters", "compactions", "history"):
            connection.execute(f"ALTER TABLE {table} RENAME COLUMN config_version TO edition")
        for old, new in (("configs", "editions"), ("compactions", "folds"), ("history", "samples")):
            connection.execute(f"ALTER TABLE {old} RENAME TO {new}")
        connection.execute("ALTER TABLE log DROP COLUMN digest")
        connection.execute("ALTER TABLE folds DROP COLUMN kept")
        connection.execute("UPDATE meta SET version = 4")
    store = open_store(url)
    with store.view() as view:
        assert view.find("shelf") == BanditHead(key, 1, 1)
        assert view.config(key, 1) == b"first"
        assert view.compaction(key) == Compaction(3, 1, b"sum")
        assert view.history(key, 0) == [HistoryPoint(7, 1, b"point")]
    store.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_migration_that_fails_leaves_the_older_database(kind, url_of, monkeypatch):
    url, version = url_of(kind), _tables.VERSION
    older = open_store(url)
    new_bandit(older)
    older.close()
    with monkeypatch.context() as patch:
        patch.setattr(_tables, "VERSION", version + 1)
        patch.setattr(_tables, "MIGRATIONS", {version: rename_and_fail})
        with pytest.raises(Exception, match=r"syntax|CREATE"):
            open_store(url)
    newer = open_store(url)
    with newer.view() as view:
        assert view.names() == ["shelf"]
    newer.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize(
    ("version", "words"),
    [(99, r"schema version \d+ or older.*got 'version 99"), (2, "before the first release")],
)
def test_a_database_of_another_time_is_refused(kind, version, words, url_of, monkeypatch):
    url = url_of(kind)
    with monkeypatch.context() as patch:
        patch.setattr(_tables, "VERSION", version)
        open_store(url).close()
    with pytest.raises(InputError, match=words):
        open_store(url)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_postgres_database_that_is_not_in_utf8_is_refused(encoding, postgres):
    import psycopg

    name = f"encoded_in_{encoding.lower()}"
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' "
            "TEMPLATE template0"
        )
    with pytest.raises(InputError, match=f"encoding of the database.*UTF8.*{encoding}"):
        open_store(postgres.get_uri(name))


@pytest.mark.parametrize("version", [0, 3, 4, 5, 99])
def test_another_programs_database_is_not_touched(version, tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="another program's"):
        open_store(f"sqlite:///{path}")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://x", "unknown scheme of a database 'mysql'"),
        ("sqlite:///", "must be sqlite:///PATH"),
        ("", "must be a URL: sqlite:///PATH"),
        ("sqlite:////no/such/folder/x.db", "unable to open"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(url, words):
    with pytest.raises(InputError, match=words):
        open_store(url)


def test_a_file_that_has_been_taken_away_is_not_written_to(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/gone.db")
    (tmp_path / "gone.db").rename(tmp_path / "elsewhere.db")
    with pytest.raises(StoreUnavailable, match="was removed"):
        new_bandit(store)
    (tmp_path / "elsewhere.db").rename(tmp_path / "gone.db")
    assert new_bandit(store) is not None
    store.close()


def test_a_database_without_tables_of_evenhands_is_not_given_any(new_database):
    url = new_database()
    with pytest.raises(InputError, match="one of evenhand"):
        open_store(url, must_exist=True)
    open_store(url).close()
    open_store(url, must_exist=True).close()


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "text.db"
    path.write_text("not a database, but long enough to be looked at " * 20)
    with pytest.raises(InputError, match="not a database"):
        open_store(f"sqlite:///{path}")


def test_a_database_that_is_not_there_is_unavailable():
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        open_store("postgresql://nobody@127.0.0.1:1/none")


def test_two_writers_of_one_file_take_turns(tmp_path):
    url = f"sqlite:///{tmp_path}/both.db"
    stores = [open_store(url) for _ in range(2)]
    new_bandit(stores[0])
    with (
        stores[0].transaction(),
        pytest.raises(StoreUnavailable),
        stores[1].transaction(wait=False),
    ):
        raise AssertionError
    with stores[1].transaction(wait=False) as transaction:
        assert transaction.names() == ["shelf"]
    for store in stores:
        store.close()


def test_readers_of_a_view_see_one_moment(url_of):
    for kind in ("sqlite", "postgres"):
        store = open_store(url_of(kind))
        key = new_bandit(store)
        with store.view() as view:
            assert view.events(key, 0, 10) == []
            with store.transaction() as transaction:
                transaction.apply(key, BanditHead(key, 2, 1), [new_event(1)], b"two")
            assert view.events(key, 0, 10) == []
            assert view.counters(key) == b"\x00\xff"
        store.close()


def test_the_tables_are_those_of_the_version_that_they_have():
    """Whoever changes them has to write a migration, and to keep a database of the old version."""
    digest = hashlib.sha256("".join(_tables.TABLES).encode()).hexdigest()[:8]
    assert (_tables.VERSION, digest) == (6, "98fdd9e7")
