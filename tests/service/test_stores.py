"""One suite for every store: what one of them does, all of them do."""

from __future__ import annotations

import hashlib
import sqlite3

import pytest

from evenhand import InputError
from evenhand.service.stores import StoreUnavailable, _tables, open_store
from evenhand.service.stores.protocol import (
    BanditHead,
    Compaction,
    Event,
    HistoryPoint,
    Key,
    LockedBandit,
)


def event(seq, decision="d", kind="decision", body=b'{"a":"\xc3\xa4 \\" ?"}'):
    return Event(seq, 1.5 * seq, kind, decision, body)


def made(store, name="shelf"):
    with store.transaction() as transaction:
        return transaction.create(name, b"{}", b"first", b"\x00\xff")


def test_a_bandit_that_was_created_is_there(store):
    key = made(store)
    with store.view() as view:
        assert view.names() == ["shelf"]
        assert view.find("shelf") == BanditHead(key, 1, 1)
        assert view.find("other") is None
        assert view.original(key) == b"{}"
        assert view.config(key, 1) == b"first"
        assert view.counters(key) == b"\x00\xff"
        assert view.compaction(key) is None


def test_a_name_is_given_once(store):
    assert made(store) is not None
    assert made(store) is None


def test_events_come_back_as_they_were_in_order_and_by_page(store):
    key = made(store)
    events = [event(1, "x"), event(2, "y ' \" ü"), event(3, "x", "feedback", b"{}")]
    with store.transaction() as transaction:
        locked = transaction.lock({"shelf": 0, "none": 0})
        assert locked == {"shelf": LockedBandit(BanditHead(key, 1, 1), b"\x00\xff")}
        assert transaction.lock({"shelf": 1}) == {
            "shelf": LockedBandit(BanditHead(key, 1, 1), None)
        }
        transaction.apply(key, BanditHead(key, 2, 1), events, b"two")
    with store.view() as view:
        assert view.events(key, 0, 10) == events
        assert view.events(key, 1, 1) == events[1:2]
        assert view.decisions(key, ["x"]) == [events[0], events[2]]
        assert view.decisions(key, ["y ' \" ü", "none"]) == [events[1]]
        assert view.decisions(key, []) == []
        assert view.counters(key) == b"two"
        assert view.find("shelf").version == 2


def test_the_newest_decisions_come_first(store):
    key = made(store)
    kinds = ["decision", "decision", "feedback", "decision", "edition", "feedback", "feedback"]
    events = [event(seq, str(seq), kind) for seq, kind in enumerate(kinds, start=1)]
    with store.view() as view:
        assert view.last_decisions(key, 5, 100) == []
    with store.transaction() as transaction:
        transaction.lock({"shelf": 0})
        transaction.apply(key, BanditHead(key, 2, 1), events, b"two")
    with store.view() as view:
        assert view.last_decisions(key, 5, 100) == ["4", "2", "1"]
        assert view.last_decisions(key, 2, 100) == ["4", "2"]
        assert view.last_decisions(key, 5, 4) == ["4"]
        assert view.last_decisions(key, 5, 3) == []


def test_samples_come_back_in_order_and_the_first_of_a_time_counts(store):
    key = made(store)
    with store.view() as view:
        assert view.history_start(key) is None
        assert view.history(key, 5) == []
    samples = [HistoryPoint(at, 1, f"{at} \x00".encode()) for at in (10, 20, 30)]
    with store.transaction() as transaction:
        for sample in reversed(samples):
            transaction.add_history(key, sample)
        transaction.add_history(key, HistoryPoint(20, 2, b"later"))
    with store.view() as view:
        assert view.history(key, 0) == samples
        assert view.history(key, 20) == samples[1:]
        assert view.history(key, 25) == samples[1:]
        assert view.history(key, 99) == samples[2:]
        assert view.history_start(key) == 10


def test_of_old_samples_the_first_of_every_stretch_is_kept(store):
    key = made(store)
    with store.transaction() as transaction:
        for at in (3, 5, 9, 10, 19, 25, 26, 27, 31, 33):
            transaction.add_history(key, HistoryPoint(at, 1, b""))
    with store.transaction() as transaction:
        transaction.thin_history(key, 5, 30, 10)
    with store.view() as view:
        assert [sample.at for sample in view.history(key, 0)] == [3, 5, 10, 25, 31, 33]


def spoil(store, key):
    """Do a bit of everything, and fail."""
    with store.transaction() as transaction:
        transaction.apply(key, BanditHead(key, 3, 1), [event(2), event(3, "x", "feedback")], b"two")
        transaction.add_config(key, 2, b"second")
        transaction.put_compaction(key, Compaction(2, 1, b"sum"), ["d"])
        transaction.add_history(key, HistoryPoint(11, 1, b""))
        transaction.thin_history(key, 0, 100, 100)
        transaction.put_key(Key("k", "x", (), b"", 1.0, None))
        transaction.delete(transaction.create("other", b"", b"", b""))
        transaction.delete(key)
        raise RuntimeError


def test_what_fails_has_not_happened(store):
    key = made(store)
    with store.transaction() as transaction:
        transaction.apply(key, BanditHead(key, 2, 1), [event(1)], b"one")
        for at in (9, 10):
            transaction.add_history(key, HistoryPoint(at, 1, b""))
    with pytest.raises(RuntimeError):
        spoil(store, key)
    with store.view() as view:
        assert view.find("shelf") == BanditHead(key, 2, 1)
        assert view.events(key, 0, 10) == view.decisions(key, ["d"]) == [event(1)]
        assert view.names() == ["shelf"]
        assert view.counters(key) == b"one"
        assert [sample.at for sample in view.history(key, 0)] == [9, 10]
        assert view.compaction(key) is None
        assert view.all_keys() == []


def test_a_deleted_bandit_is_gone_and_its_log_follows(store):
    key = made(store)
    with store.transaction() as transaction:
        transaction.apply(key, BanditHead(key, 2, 1), [event(i) for i in range(1, 8)], b"")
        transaction.delete(key)
    with store.view() as view:
        assert view.names() == []
        assert view.find("shelf") is None
    again = made(store)
    assert again != key
    for _ in range(5):
        with store.transaction() as transaction:
            transaction.purge(3)
    with store.view() as view:
        assert view.names() == ["shelf"]
        assert view.events(again, 0, 10) == []
        if hasattr(view, "_run"):
            assert view._run("SELECT COUNT(*) FROM log").fetchone()[0] == 0
            assert view._run("SELECT COUNT(*) FROM deleted").fetchone()[0] == 0
    with store.transaction() as transaction:
        transaction.check_writable()
        assert not transaction.purge(3)


def test_two_servers_that_tidy_up_leave_nothing_behind(url_of):
    url = url_of("postgres")
    stores = [open_store(url) for _ in range(2)]
    key = made(stores[0])
    with stores[0].transaction() as transaction:
        transaction.apply(key, BanditHead(key, 2, 1), [event(i) for i in range(1, 10)], b"")
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


def test_compaction_keeps_the_ids(store):
    key = made(store)
    events = [event(1, "x"), event(2, "x", "feedback"), event(3, "y"), event(4, "y", "feedback")]
    with store.transaction() as transaction:
        transaction.apply(key, BanditHead(key, 2, 1), events, b"")
        transaction.put_compaction(key, Compaction(3, 1, b"sum"), ["x"])
    with store.view() as view:
        assert view.compaction(key) == Compaction(3, 1, b"sum")
        assert view.events(key, 0, 10) == [event(1, "x", body=b""), *events[2:]]
        assert view.decisions(key, ["x"]) == [event(1, "x", body=b"")]
    with store.transaction() as transaction:
        transaction.put_compaction(key, Compaction(4, 1, b"more"), ["y"])
    with store.view() as view:
        assert view.compaction(key) == Compaction(4, 1, b"more")
        assert [e.decision for e in view.events(key, 0, 10)] == ["x", "y"]


def test_keys_are_kept_by_age_and_can_be_revoked(store):
    old, new = (
        Key(i, "shop", ("decide", "read"), b"\x01\x00", at, None)
        for i, at in (("b", 1.0), ("a", 2.0))
    )
    with store.transaction() as transaction:
        transaction.put_key(new)
        transaction.put_key(old)
    with store.transaction() as transaction:
        transaction.put_key(new._replace(revoked=3.0))
    with store.view() as view:
        assert view.all_keys() == [old, new._replace(revoked=3.0)]


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
    key = made(first)
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
    key = made(older)
    older.close()
    monkeypatch.setattr(_tables, "VERSION", version + 1)
    monkeypatch.setattr(_tables, "MIGRATIONS", {version: rename_bandits})
    for _ in range(2):
        newer = open_store(url)
        with newer.view() as view:
            assert view.find("shelf"[::-1]).key == key
        newer.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_migration_that_fails_leaves_the_older_database(kind, url_of, monkeypatch):
    url, version = url_of(kind), _tables.VERSION
    older = open_store(url)
    made(older)
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


def test_another_programs_database_is_not_touched(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
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
        made(store)
    (tmp_path / "elsewhere.db").rename(tmp_path / "gone.db")
    assert made(store) is not None
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
    made(stores[0])
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
        key = made(store)
        with store.view() as view:
            assert view.events(key, 0, 10) == []
            with store.transaction() as transaction:
                transaction.apply(key, BanditHead(key, 2, 1), [event(1)], b"two")
            assert view.events(key, 0, 10) == []
            assert view.counters(key) == b"\x00\xff"
        store.close()


def test_the_tables_are_those_of_the_version_that_they_have():
    """Whoever changes them has to write a migration, and to keep a database of the old version."""
    digest = hashlib.sha256("".join(_tables.TABLES).encode()).hexdigest()[:8]
    assert (_tables.VERSION, digest) == (5, "e680e8dc")
