"""The shared suite for stores: an outside store passes it, and what breaks a rule does not."""

from __future__ import annotations

import copy
import pickle
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from evenhand import InputError
from evenhand.service.stores import open_store
from evenhand.service.stores.protocol import BanditHead, LockedBandit
from evenhand.testing import STORE_CHECKS, check_store


class Pages:
    """All data of a store of its own kind: plain dictionaries, copied for every transaction."""

    def __init__(self):
        self.bandits, self.rows, self.keys, self.last = {}, {}, {}, 0

    def names(self):
        return sorted(self.bandits)

    def heads(self):
        return {name: self.rows[key]["head"] for name, key in self.bandits.items()}

    def find(self, name):
        return self.heads().get(name)

    def original(self, key):
        return self.rows[key]["original"]

    def counters(self, key):
        return self.rows[key]["counters"]

    def config(self, key, number):
        return self.rows[key]["configs"][number]

    def decisions(self, key, ids, *, reasons=True):
        found = [event for event in self.rows[key]["log"] if event.decision in ids]
        return [event for event in found if reasons or event.kind != "reasons"]

    def events(self, key, after, limit, most_bytes=0):
        found, size = [], 0
        for event in self.rows[key]["log"]:
            if event.seq > after and len(found) < limit and (not most_bytes or size <= most_bytes):
                found.append(event)
                size += len(event.body)
        return found

    def repeated_decisions(self, key):
        made = Counter(e.decision for e in self.rows[key]["log"] if e.kind == "decision")
        return [id_ for id_, count in made.items() if count > 1]

    def orphans(self):
        return []

    def last_decisions(self, key, limit, among):
        last = self.rows[key]["log"][::-1][:among]
        return [event.decision for event in last if event.kind == "decision"][:limit]

    def history(self, key, since):
        points = self.rows[key]["history"]
        first = max((at for at in points if at <= since), default=0)
        return [points[at] for at in sorted(points) if at >= first]

    def history_start(self, key):
        return min(self.rows[key]["history"], default=None)

    def compaction(self, key):
        return self.rows[key]["compaction"]

    def all_keys(self):
        return sorted(self.keys.values(), key=lambda key: (key.created, key.id))

    def lock(self, known, *, wait=True):
        return {
            name: LockedBandit(
                head, None if head.version == known[name] else self.counters(head.key)
            )
            for name, head in self.heads().items()
            if name in known
        }

    def create(self, name, original, config, counters):
        if name in self.bandits:
            return None
        self.last += 1
        self.bandits[name] = self.last
        self.rows[self.last] = {
            "head": BanditHead(self.last, 1, 1), "original": original, "counters": counters,
            "configs": {1: config}, "log": [], "history": {}, "compaction": None,
        }  # fmt: skip
        return self.last

    def apply(self, key, head, events, counters):
        self.rows[key].update(head=head, counters=counters)
        self.rows[key]["log"] += events

    def add_config(self, key, number, body):
        self.rows[key]["configs"][number] = body

    def delete(self, key):
        self.bandits = {name: own for name, own in self.bandits.items() if own != key}
        del self.rows[key]

    def purge(self, limit):
        return False

    def check_writable(self):
        pass

    def put_compaction(self, key, compaction, closed):
        self.rows[key]["compaction"] = compaction
        self.rows[key]["log"] = [
            event._replace(body=b"") if event.decision in closed else event
            for event in self.rows[key]["log"]
            if event.decision not in closed or event.kind == "decision"
        ]

    def add_history(self, key, point):
        self.rows[key]["history"].setdefault(point.at, point)

    def thin_history(self, key, since, before, step):
        seen, points = set(), self.rows[key]["history"]
        for at in sorted(at for at in points if since <= at < before):
            if at // step in seen:
                del points[at]
            seen.add(at // step)

    def put_key(self, key):
        self.keys[key.id] = key


class PickleStore:
    """A store in one pickle file, written as a whole at every commit."""

    waits = "for the commit"

    def __init__(self, path, pages=Pages):
        self.path = Path(path)
        if not self.path.exists():
            self.path.write_bytes(pickle.dumps(pages()))

    @contextmanager
    def transaction(self, *, wait=True):
        pages = pickle.loads(self.path.read_bytes())
        yield pages
        self.path.write_bytes(pickle.dumps(pages))

    @contextmanager
    def view(self):
        yield pickle.loads(self.path.read_bytes())

    def interrupt(self):
        pass

    def now(self):
        return time.time()

    def close(self):
        pass


def open_pickle(url, *, must_exist):
    return PickleStore(url.removeprefix("pickle:"))


@pytest.fixture
def new_store(tmp_path):
    def make(pages=Pages, kind=PickleStore):
        return kind(tmp_path / f"{len(list(tmp_path.iterdir()))}.pickle", pages)

    return make


def test_a_store_from_outside_passes(new_store):
    check_store(new_store)


@pytest.mark.parametrize("check", STORE_CHECKS)
def test_one_check_can_be_asked_for(check, new_store):
    check_store(new_store, check)


def test_an_unknown_check_is_refused(new_store):
    with pytest.raises(InputError, match="unknown check of a store 'events'"):
        check_store(new_store, "events")


class Reusing(Pages):
    def create(self, *given):
        self.last = max(self.rows, default=0)
        return super().create(*given)


class Unordered(Pages):
    def events(self, *given):
        return super().events(*given)[::-1]


class Overwriting(Pages):
    def add_history(self, key, point):
        self.rows[key]["history"][point.at] = point


class Chatty(Pages):
    def lock(self, known, *, wait=True):
        return super().lock(dict.fromkeys(known, 0))


class Forgetful(Pages):
    def put_compaction(self, key, compaction, closed):
        log = self.rows[key]["log"]
        self.rows[key].update(compaction=compaction)
        self.rows[key]["log"] = [event for event in log if event.decision not in closed]


@pytest.mark.parametrize(
    ("pages", "check"),
    [
        (Reusing, "a_deleted_bandit_is_purged"),
        (Unordered, "events_come_back_in_order"),
        (Overwriting, "history_is_kept_and_thinned"),
        (Chatty, "events_come_back_in_order"),
        (Forgetful, "compaction_keeps_ids"),
    ],
)
def test_a_store_that_breaks_a_rule_is_noticed(pages, check, new_store):
    with pytest.raises(AssertionError, match=f"a store must pass: {check}"):
        check_store(lambda: new_store(pages))


class Careless(PickleStore):
    @contextmanager
    def transaction(self, *, wait=True):
        pages = pickle.loads(self.path.read_bytes())
        try:
            yield pages
        finally:
            self.path.write_bytes(pickle.dumps(pages))


class InPlace(PickleStore):
    """Keeps its pages in memory and changes them in place."""

    def __init__(self, path, pages=Pages):
        self.pages = pages()

    @contextmanager
    def transaction(self, *, wait=True):
        yield self.pages

    @contextmanager
    def view(self):
        yield copy.deepcopy(self.pages)


@pytest.mark.parametrize("kind", [Careless, InPlace])
def test_a_store_that_keeps_what_failed_is_noticed(kind, new_store):
    with pytest.raises(AssertionError, match="a_failed_transaction_changes_nothing"):
        check_store(lambda: new_store(kind=kind))


def test_a_store_is_registered_by_an_entry_point(tmp_path, monkeypatch):
    about = tmp_path / "outside-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[evenhand.stores]\npickle = {__name__}:open_pickle\n")
    with pytest.raises(InputError, match="unknown scheme of a database 'pickle'"):
        open_store(f"pickle:{tmp_path}/data.pickle")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    store = open_store(f"pickle:{tmp_path}/data.pickle")
    assert type(store).__name__ == "PickleStore"
    with store.view() as view:
        assert view.names() == []
