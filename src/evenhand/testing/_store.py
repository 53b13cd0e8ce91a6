"""What every store must do, for authors of their own stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from evenhand.core.checks import check_known
from evenhand.service.engine import commands
from evenhand.service.engine.config_version import first_config
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.schemas import ArmBody, BanditBody, FeedbackItem, FeedbackResult
from evenhand.service.stores.protocol import (
    BanditHead,
    Compaction,
    Event,
    EventKind,
    HistoryPoint,
    Key,
    LockedBandit,
    Store,
)
from evenhand.service.upkeep.verification import verify

Check: TypeAlias = Callable[[Store], None]
NAME, COUNTERS = "shelf", b"\x00\xff"


def check_store(new_store: Callable[[], Store], *only: str) -> None:
    """Check that a store does what every store must.

    Transactions are all or nothing; events come back in order and as they were; locking tells the
    caller whether its counters are current; deleting, compaction, history and API keys follow the
    protocol; and a bandit served from the store verifies.

    Parameters
    ----------
    new_store
        Returns a new, empty store. It is called once for each check, and the store is closed.
    only
        The names of some checks, see ``STORE_CHECKS``; all if there are none.

    Raises
    ------
    AssertionError
        With the check that failed.

    Examples
    --------
    >>> from evenhand.service.stores import open_store
    >>> check_store(lambda: open_store("memory:"))
    """
    check_known("check of a store", only, STORE_CHECKS)
    for name in only or STORE_CHECKS:
        store = new_store()
        try:
            STORE_CHECKS[name](store)
        except AssertionError as error:
            raise AssertionError(f"a store must pass: {name}. {error}") from error
        finally:
            store.close()


def new_bandit(store: Store, name: str = NAME) -> int | None:
    """Create a bandit; return its key, None if the name is taken."""
    with store.transaction() as transaction:
        return transaction.create(name, b"{}", b"first", COUNTERS)


def new_event(
    seq: int, decision: str = "d", kind: EventKind = "decision", body: bytes = b'{"a":"\xc3\xa4 ?"}'
) -> Event:
    """Return an event."""
    return Event(seq, 1.5 * seq, kind, decision, body)


def _created(store: Store) -> int:
    key = new_bandit(store)
    assert key is not None, "a new name was refused"
    return key


def a_created_bandit_can_be_read(store: Store) -> None:
    """Create a bandit, and read all of it."""
    key = _created(store)
    with store.view() as view:
        assert view.names() == [NAME]
        assert view.find(NAME) == BanditHead(key, 1, 1)
        assert view.heads() == {NAME: BanditHead(key, 1, 1)}
        assert view.find("other") is None
        assert view.original(key) == b"{}"
        assert view.config(key, 1) == b"first"
        assert view.counters(key) == COUNTERS
        assert view.compaction(key) is None
    assert new_bandit(store) is None, "a name was given twice"


def events_come_back_in_order(store: Store) -> None:
    """Write events, and read them by page and by decision."""
    key = _created(store)
    quoted = "y ' \" ü"
    events = [
        new_event(1, "x"),
        new_event(2, quoted)._replace(digest="0f"),
        new_event(3, "x", "feedback", b"{}"),
        new_event(4, "x", "reasons", b"{}"),
    ]
    with store.transaction() as transaction:
        locked = transaction.lock({NAME: 0, "none": 0})
        assert locked == {NAME: LockedBandit(BanditHead(key, 1, 1), COUNTERS)}
        current = {NAME: LockedBandit(BanditHead(key, 1, 1), None)}
        assert transaction.lock({NAME: 1}) == current, "a caller got counters that it has"
        transaction.apply(key, BanditHead(key, 2, 1), events, b"two")
    with store.view() as view:
        assert view.events(key, 0, 10) == events
        assert view.events(key, 1, 1) == events[1:2]
        assert view.events(key, 0, 10, 20) == events[:2], "a page has too many bytes"
        assert view.events(key, 0, 1, 1_000) == events[:1]
        assert view.decisions(key, ["x"]) == [events[0], *events[2:]]
        assert view.decisions(key, ["x"], reasons=False) == [events[0], events[2]]
        assert view.repeated_decisions(key) == []
        assert view.orphans() == []
        assert view.decisions(key, [quoted, "none"]) == [events[1]]
        assert view.decisions(key, []) == []
        assert view.counters(key) == b"two"
        assert view.find(NAME) == BanditHead(key, 2, 1)


def the_newest_decisions_come_first(store: Store) -> None:
    """Read the newest decisions among the last events."""
    key = _created(store)
    kinds: list[EventKind] = ["decision", "decision", "feedback", "decision", "edition", "feedback"]
    events = [new_event(seq, str(seq), kind) for seq, kind in enumerate(kinds, start=1)]
    with store.view() as view:
        assert view.last_decisions(key, 5, 100) == []
    with store.transaction() as transaction:
        transaction.lock({NAME: 0})
        transaction.apply(key, BanditHead(key, 2, 1), events, b"two")
    with store.view() as view:
        assert view.last_decisions(key, 5, 100) == ["4", "2", "1"]
        assert view.last_decisions(key, 2, 100) == ["4", "2"]
        assert view.last_decisions(key, 5, 3) == ["4"]
        assert view.last_decisions(key, 5, 2) == []


def history_is_kept_and_thinned(store: Store) -> None:
    """Write points of the history, read them since a time, and thin them."""
    key = _created(store)
    with store.view() as view:
        assert view.history_start(key) is None
        assert view.history(key, 5) == []
    points = [HistoryPoint(at, 1, f"{at} \x00".encode()) for at in (10, 20, 30)]
    with store.transaction() as transaction:
        for point in reversed(points):
            transaction.add_history(key, point)
        transaction.add_history(key, HistoryPoint(20, 2, b"later"))
    with store.view() as view:
        assert view.history(key, 0) == points
        assert view.history(key, 20) == view.history(key, 25) == points[1:]
        assert view.history(key, 99) == points[2:]
        assert view.history_start(key) == 10
    with store.transaction() as transaction:
        for at in (3, 5, 9, 19, 25, 26, 27, 31, 33):
            transaction.add_history(key, HistoryPoint(at, 1, b""))
        transaction.thin_history(key, 5, 30, 10)
    with store.view() as view:
        assert [point.at for point in view.history(key, 0)] == [3, 5, 10, 20, 30, 31, 33]


def a_failed_transaction_changes_nothing(store: Store) -> None:
    """Do some of everything in a transaction, and raise."""
    key = _created(store)
    with store.transaction() as transaction:
        transaction.apply(key, BanditHead(key, 2, 1), [new_event(1)], b"one")
        for at in (9, 10):
            transaction.add_history(key, HistoryPoint(at, 1, b""))
    try:
        _fail(store, key)
    except RuntimeError:
        pass
    else:
        raise AssertionError("an exception inside a transaction was swallowed")
    with store.view() as view:
        assert view.find(NAME) == BanditHead(key, 2, 1)
        assert view.events(key, 0, 10) == view.decisions(key, ["d"]) == [new_event(1)]
        assert view.names() == [NAME]
        assert view.counters(key) == b"one"
        assert [point.at for point in view.history(key, 0)] == [9, 10]
        assert view.compaction(key) is None
        assert view.all_keys() == []


def _fail(store: Store, key: int) -> None:
    events = [new_event(2), new_event(3, "x", "feedback")]
    with store.transaction() as transaction:
        transaction.apply(key, BanditHead(key, 3, 1), events, b"two")
        transaction.add_config(key, 2, b"second")
        transaction.put_compaction(key, Compaction(2, 1, b"sum"), ["d"])
        transaction.add_history(key, HistoryPoint(11, 1, b""))
        transaction.thin_history(key, 0, 100, 100)
        transaction.put_key(Key("k", "x", (), b"", 1.0, None))
        transaction.delete(transaction.create("other", b"", b"", b"") or 0)
        transaction.delete(key)
        raise RuntimeError


def a_deleted_bandit_is_purged(store: Store) -> None:
    """Delete a bandit; another one of its name has a new key and an empty log."""
    key = _created(store)
    with store.transaction() as transaction:
        events = [new_event(seq) for seq in range(1, 8)]
        transaction.apply(key, BanditHead(key, 2, 1), events, b"")
        transaction.delete(key)
    with store.view() as view:
        assert view.names() == []
        assert view.find(NAME) is None
    again = _created(store)
    assert again != key, "a key was used twice"
    for _ in range(5):
        with store.transaction() as transaction:
            transaction.purge(3)
    with store.view() as view:
        assert view.names() == [NAME]
        assert view.events(again, 0, 10) == []
    with store.transaction() as transaction:
        transaction.check_writable()
        assert not transaction.purge(3)


def compaction_keeps_ids(store: Store) -> None:
    """Drop the details of closed decisions, twice."""
    key = _created(store)
    events = [
        new_event(1, "x"),
        new_event(2, "x", "feedback"),
        new_event(3, "y"),
        new_event(4, "y", "feedback"),
    ]
    with store.transaction() as transaction:
        transaction.apply(key, BanditHead(key, 2, 1), events, b"")
        transaction.put_compaction(key, Compaction(3, 1, b"sum"), ["x"])
    with store.view() as view:
        assert view.compaction(key) == Compaction(3, 1, b"sum")
        assert view.events(key, 0, 10) == [new_event(1, "x", body=b""), *events[2:]]
        assert view.decisions(key, ["x"]) == [new_event(1, "x", body=b"")]
    with store.transaction() as transaction:
        transaction.put_compaction(key, Compaction(4, 1, b"more"), ["y"])
    with store.view() as view:
        assert view.compaction(key) == Compaction(4, 1, b"more")
        assert [event.decision for event in view.events(key, 0, 10)] == ["x", "y"]


def keys_are_kept_by_age(store: Store) -> None:
    """Write API keys, and revoke one."""
    old = Key("b", "shop", ("decide", "read"), b"\x01\x00", 1.0, None)
    new = old._replace(id="a", created=2.0)
    with store.transaction() as transaction:
        transaction.put_key(new)
        transaction.put_key(old)
    with store.transaction() as transaction:
        transaction.put_key(new._replace(revoked=3.0))
    with store.view() as view:
        assert view.all_keys() == [old, new._replace(revoked=3.0)]


def a_served_bandit_verifies(store: Store) -> None:
    """Serve decisions, feedback and changes, and recount the log."""
    executor = CommandExecutor(store)
    body = BanditBody([ArmBody("news", floor=0.5), ArmBody("arts"), ArmBody("sport")], plays=1)
    batch: list[commands.Command] = [commands.CreateBandit(NAME, body, first_config(body))]
    batch += [commands.Decide(NAME, str(number), None, False) for number in range(20)]
    results = executor.execute(batch)
    assert [result.status for result in results] == [201] * 21
    chosen = [result.body.chosen for result in results[1:]]  # type: ignore[union-attr]
    told: list[FeedbackItem | FeedbackResult] = [
        FeedbackItem(str(i), dict.fromkeys(arms, 0.5)) for i, arms in enumerate(chosen[:10])
    ]
    last: list[commands.Command] = [
        commands.Tell(NAME, told),
        commands.CancelDecision(NAME, "19"),
        commands.RetireArm(NAME, "sport"),
        commands.RecordHistory(NAME, True),
    ]
    assert [result.status for result in executor.execute(last)] == [200, 204, 204, 200]
    again = CommandExecutor(store).execute([commands.Decide(NAME, "3", None, False)])[0]
    assert again.status == 200, "a repeated id was decided again"
    with store.view() as view:
        events, differences = verify(view, NAME)
    assert not differences, f"counters differ from the log: {differences[0]}"
    assert events == 1 + 20 + 10 + 1 + 1, f"the log has {events} events"


STORE_CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        a_created_bandit_can_be_read,
        events_come_back_in_order,
        the_newest_decisions_come_first,
        history_is_kept_and_thinned,
        a_failed_transaction_changes_nothing,
        a_deleted_bandit_is_purged,
        compaction_keeps_ids,
        keys_are_kept_by_age,
        a_served_bandit_verifies,
    )
}
