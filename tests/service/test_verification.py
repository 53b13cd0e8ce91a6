"""No row of a database can be changed, lost, swapped or added without being noticed."""

from __future__ import annotations

import json
import zlib
from contextlib import suppress

import pytest

from evenhand.service.engine.commands import (
    ChangeArm,
    Decide,
    ExpireOverdue,
    StoreReasons,
)
from evenhand.service.engine.counters import packed, unpacked
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.schemas import ArmBody, ArmChange, BanditBody
from evenhand.service.stores import open_store
from evenhand.service.upkeep.compaction import compact
from evenhand.service.upkeep.export import export_lines, import_lines
from tests.service.bandits import create
from tests.service.conftest import Clock
from tests.service.lives import BODY, damage_in, is_damaged, lived


def row(change, seq):
    return f"UPDATE log SET {change} WHERE bandit = {{key}} AND seq = {seq}"


def decision(change, number):
    those = f"bandit = {{key}} AND kind = 'decision' AND decision = 'd-{number}'"
    return f"UPDATE log SET {change} WHERE {those}"


def later(change, number, kind="feedback"):
    those = f"bandit = {{key}} AND kind = '{kind}' AND decision = 'd-{number}'"
    return f"UPDATE log SET {change} WHERE {those}"


SWAPPED = (row("seq = 900", 12), row("seq = 12", 14), row("seq = 14", 900))


COPY = (
    "INSERT INTO log SELECT bandit, {}, at, kind, {}, body, digest FROM log WHERE bandit = {{key}}"
)


DAMAGE = {
    "a decision's id renamed": [decision("decision = 'new'", 7)],
    "an id renamed with its feedback": [
        decision("decision = 'new'", 7),
        later("decision = 'new'", 7),
    ],
    "an id of another decision": [decision("decision = 'd-9'", 7)],
    "an empty id": [decision("decision = ''", 7)],
    "feedback moved": [later("decision = 'd-4'", 5)],
    "feedback of nobody": [later("decision = 'nobody'", 5)],
    "a time changed": [row("at = at + 1", 9)],
    "a time far ahead": [row("at = 1e9", 9)],
    "a time of minus one": [row("at = -1", 9)],
    "a kind changed": [later("kind = 'reasons'", 5)],
    "an unknown kind": [later("kind = 'gossip'", 5)],
    "a cancellation made a decision": [later("kind = 'decision'", 8, "cancelled")],
    "a body emptied": [row("body = x''", 9)],
    "a body of no JSON": [row("body = CAST('boo' AS {blob})", 9)],
    "a body of another event": [
        "UPDATE log SET body = (SELECT body FROM log l WHERE l.bandit = {key} AND l.seq = 3) "
        "WHERE bandit = {key} AND seq = 6"
    ],
    "unreadable reasons": [later("body = CAST('[' AS {blob})", 22, "reasons")],
    "reasons of other kind": [later("body = CAST('{{}}' AS {blob})", 22, "reasons")],
    "a digest changed": [row("digest = '00'", 9)],
    "a digest gone": [row("digest = ''", 9)],
    "the last digest gone": ["UPDATE log SET digest = '' WHERE bandit = {key} AND seq > 100"],
    "two events swapped": list(SWAPPED),
    "a gap": [row("seq = 5000", 30)],
    "an event lost": ["DELETE FROM log WHERE bandit = {key} AND seq = 30"],
    "the first event lost": ["DELETE FROM log WHERE bandit = {key} AND seq = 1"],
    "the last event lost": [
        "DELETE FROM log WHERE bandit = {key} AND seq = "
        "(SELECT MAX(seq) FROM log WHERE bandit = {key})"
    ],
    "all events lost": ["DELETE FROM log WHERE bandit = {key}"],
    "an event added": [COPY.format(900, "decision") + " AND seq = 30"],
    "an event added at the end": [
        COPY.format("(SELECT MAX(seq) + 1 FROM log WHERE bandit = {key})", "decision")
        + " AND seq = 30"
    ],
    "an event of another bandit": [row("bandit = bandit + 1", 30)],
    "counters of zeros": ["UPDATE counters SET body = x'00' WHERE bandit = {key}"],
    "counters of another bandit": [
        "UPDATE counters SET body = (SELECT body FROM counters o WHERE o.bandit <> {key}) "
        "WHERE bandit = {key}"
    ],
    "counters gone": ["DELETE FROM counters WHERE bandit = {key}"],
    "an older configuration": ["UPDATE counters SET config_version = 1 WHERE bandit = {key}"],
    "a configuration that does not exist": [
        "UPDATE counters SET config_version = 9 WHERE bandit = {key}"
    ],
    "the configuration gone": ["DELETE FROM configs WHERE bandit = {key} AND number = 2"],
    "the first configuration gone": ["DELETE FROM configs WHERE bandit = {key} AND number = 1"],
    "a configuration emptied": ["UPDATE configs SET body = x'' WHERE bandit = {key}"],
    "a configuration of before": [
        "UPDATE configs SET body = (SELECT body FROM configs c "
        "WHERE c.bandit = {key} AND c.number = 1) WHERE bandit = {key} AND number = 2"
    ],
    "the original body changed": ["UPDATE bandits SET original = x'7b7d' WHERE key = {key}"],
    "the bandit renamed": ["UPDATE bandits SET name = 'renamed' WHERE key = {key}"],
    "the bandit's row gone": ["DELETE FROM bandits WHERE key = {key}"],
    "an event of number 0": [COPY.format(0, "'ghost'") + " AND seq = 3"],
    "a configuration added": [
        "INSERT INTO configs SELECT bandit, 3, body FROM configs WHERE bandit = {key} "
        "AND number = 2"
    ],
    "marked as deleted": ["INSERT INTO deleted VALUES ({key})"],
}


class UndoError(Exception):
    """Ends a transaction, so that what it has done is undone."""


def is_noticed(store, statements):
    """Say whether damage is found; it is undone afterwards, so that tests share a store."""
    found = None
    with suppress(UndoError), store.transaction() as transaction:
        key = transaction.find("shelf").key
        for statement in statements:
            transaction._run(written(store, statement).format(key=key))
        found = damage_in(transaction)
        raise UndoError
    return found


def written(store, statement):
    sqlite = type(store).__name__ == "SqliteStore"
    text = statement.replace("{blob}", "BLOB" if sqlite else "BYTEA")
    return text.replace("{{}}", "{{{{}}}}").replace("x'", "x'" if sqlite else "'\\x")


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def url_for(request, tmp_path_factory):
    """Return the address of a new store, for the tests of this file."""
    if request.param == "sqlite":
        return lambda name: f"sqlite:///{tmp_path_factory.mktemp('stores')}/{name}.db"

    def make(name):
        import psycopg

        server = request.getfixturevalue("postgres")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return server.get_uri(name)

    return make


@pytest.fixture(scope="module")
def lived_store(url_for):
    store = open_store(url_for("lived"))
    lived(store, Clock())
    assert not is_damaged(store)
    yield store
    store.close()


@pytest.fixture(scope="module")
def compacted_store(url_for):
    store = open_store(url_for("compacted"))
    executor = lived(store, Clock())
    for id_ in ("later", "last"):
        compact(store, "shelf", -1e12, chunk=40)
        executor.execute([Decide("shelf", id_, None, False)])
    assert not is_damaged(store)
    yield store
    store.close()


def test_without_damage_nothing_is_noticed(lived_store, compacted_store):
    assert is_noticed(lived_store, []) is False
    assert is_noticed(compacted_store, []) is False


@pytest.mark.parametrize("statements", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_noticed(lived_store, statements):
    assert is_noticed(lived_store, statements)


def changed_config(store, change):
    """Write another present configuration, without an event about it."""
    with store.transaction() as transaction:
        head = transaction.find("shelf")
        body = json.loads(zlib.decompress(transaction.config(head.key, head.config_version)))
        change(body)
        transaction._run("DELETE FROM configs WHERE bandit = ? AND number = 2", head.key)
        transaction.add_config(head.key, 2, zlib.compress(json.dumps(body).encode()))


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body["table"]["floors"].__setitem__(0, 0.9),
        lambda body: body["table"]["weights"].__setitem__(0, 2.0),
        lambda body: body["table"].update(plays=1),
        lambda body: body["policy"].update(name="lfg"),
        lambda body: body["policy"].update(eta=3.0),
        lambda body: body["feedback"].update(timeout_seconds=1.0),
        lambda body: body["feedback"].update(default_reward=1.0),
        lambda body: body["availability"].__setitem__(0, 0.5),
    ],
)
def test_a_present_configuration_that_was_changed_is_noticed(store, clock, change):
    lived(store, clock)
    changed_config(store, change)
    assert is_damaged(store)


@pytest.mark.parametrize("what", ["checked", "seq", "latest", "told", "expired", "reward"])
def test_totals_that_were_changed_are_noticed(store, clock, what):
    lived(store, clock)
    with store.transaction() as transaction:
        head = transaction.find("shelf")
        counters = unpacked(transaction.counters(head.key))
        getattr(counters.totals, what)[0] += 40
        transaction.apply(head.key, head, [], packed(counters))
    assert is_damaged(store)


COMPACTED = {
    "compacted ids gone": ["DELETE FROM log WHERE bandit = {key} AND decision = 'd-5'"],
    "a compacted id renamed": [decision("decision = 'new'", 5)],
    "a compacted time": [decision("at = at + 1", 5)],
    "an awaiting decision gone": ["DELETE FROM log WHERE bandit = {key} AND decision = 'd-52'"],
    "an awaiting decision changed": [
        "UPDATE log SET body = (SELECT body FROM log l WHERE l.bandit = {key} "
        "AND l.decision = 'd-52' AND l.kind = 'decision') "
        "WHERE bandit = {key} AND decision = 'd-44'"
    ],
    "the compaction gone": ["DELETE FROM compactions WHERE bandit = {key}"],
    "its counters changed": [
        "UPDATE compactions SET counters = (SELECT body FROM counters c WHERE c.bandit = {key}) "
        "WHERE bandit = {key}"
    ],
    "its end changed": ["UPDATE compactions SET through = through - 2 WHERE bandit = {key}"],
    "its digest gone": ["UPDATE compactions SET kept = '' WHERE bandit = {key}"],
    "its digest changed": ["UPDATE compactions SET kept = 'ff' WHERE bandit = {key}"],
    "its configuration changed": ["UPDATE compactions SET config_version = 1 WHERE bandit = {key}"],
}


@pytest.mark.parametrize("statements", COMPACTED.values(), ids=COMPACTED)
def test_damage_to_a_compacted_log_is_noticed(compacted_store, statements):
    assert is_noticed(compacted_store, statements)


def test_reasons_that_come_after_a_compaction_are_not_stored(store, clock):
    executor = lived(store, clock)
    compact(store, "shelf", -1e12)
    executor.execute([StoreReasons("shelf", "d-5", [])])
    assert not is_damaged(store)


def test_a_decision_from_the_future_stops_neither_expiry_nor_compaction(store, clock, monkeypatch):
    monkeypatch.setattr(store, "now", clock)
    executor = CommandExecutor(store, now=clock)
    executor.execute([create("shelf", BODY)])
    clock.now += 86_400.0
    executor.execute([Decide("shelf", "ahead", None, False)])
    clock.now -= 86_400.0
    executor.execute([Decide("shelf", "now", None, False)])
    clock.now += 60.0
    [expired] = executor.execute([ExpireOverdue("shelf", 2, clock.now - 60.0)])
    assert expired.body == 2
    assert compact(store, "shelf", 30.0) == 0
    assert compact(store, "shelf", -1.0) == 2
    assert not is_damaged(store)


def test_feedback_is_expired_though_the_last_decision_is_from_the_future(clock, monkeypatch):
    from evenhand.service.upkeep.background import OverdueFinder

    store = open_store("memory:")
    monkeypatch.setattr(store, "now", clock)
    executor, finder = CommandExecutor(store, now=clock), OverdueFinder(store)
    executor.execute([create("shelf", BODY)])
    clock.now += 86_400.0
    executor.execute([Decide("shelf", "ahead", None, False)])
    clock.now -= 86_400.0
    found = []
    for _ in range(12):
        clock.now += 10.0
        for command in finder.commands():
            found += [answer.body for answer in executor.execute([command])]
    assert sum(found) == 1


@pytest.mark.parametrize("compacted", [False, True])
def test_forgetting_and_pauses_add_up(store, clock, compacted):
    executor = CommandExecutor(store, now=clock)
    body = BanditBody(
        [ArmBody("a", floor=0.2), ArmBody("b")], 1, {"name": "priced", "half_life": 10.0}
    )
    executor.execute([create("shelf", body)])

    def pause(paused):
        executor.execute([ChangeArm("shelf", "a", ArmChange(paused=paused))])

    def decide(name, count):
        for number in range(count):
            executor.execute([Decide("shelf", f"{name}-{number}", None, False)])

    decide("first", 3)
    for paused in (True, False, True):
        pause(paused)
    decide("second", 10)
    if compacted:
        compact(store, "shelf", -1e12)
    pause(False)
    decide("third", 700)
    pause(True)
    pause(False)
    assert not is_damaged(store)
    with store.view() as view:
        lines = list(export_lines(view))
    other = open_store("memory:")
    import_lines(other, lines)
    assert not is_damaged(other)
