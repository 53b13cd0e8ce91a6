"""A store in memory: for trials, and the simplest implementation of the protocol."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice

from evenhand.service.stores.protocol import (
    BanditHead,
    Compaction,
    Event,
    HistoryPoint,
    Key,
    LockedBandit,
    Transaction,
    View,
    Waits,
)


class _Bandit:
    """The data of one bandit."""

    def __init__(self, name: str, original: bytes, config: bytes, counters: bytes) -> None:
        self.name, self.original, self.counters = name, original, counters
        self.head = BanditHead(0, 1, 1)
        self.configs = {1: config}
        self.log: dict[int, Event] = {}
        self.by_decision: dict[str, list[int]] = {}
        self.compaction: Compaction | None = None
        self.history: dict[int, HistoryPoint] = {}


class MemoryStore:
    """A store that ends with its process.

    Examples
    --------
    >>> store = MemoryStore()
    >>> with store.transaction() as transaction:
    ...     transaction.create("shelf", b"{}", b"", b"")
    1
    >>> with store.view() as view:
    ...     view.find("shelf")
    BanditHead(key=1, version=1, config_version=1)
    """

    waits: Waits = "never"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bandits: dict[int, _Bandit] = {}
        self._keys: dict[str, Key] = {}
        self._made = 0
        self._undo: list[Callable[[], object]] = []

    @contextmanager
    def transaction(self, *, wait: bool = True) -> Iterator[Transaction]:
        with self._lock:
            self._undo = []
            try:
                yield self
            except BaseException:
                for step in reversed(self._undo):
                    step()
                raise

    @contextmanager
    def view(self) -> Iterator[View]:
        with self._lock:
            yield self

    def close(self) -> None:
        """Do nothing: other users may hold the same store."""

    def names(self) -> list[str]:
        return sorted(bandit.name for bandit in self._bandits.values())

    def heads(self) -> dict[str, BanditHead]:
        return {bandit.name: bandit.head for bandit in self._bandits.values()}

    def find(self, name: str) -> BanditHead | None:
        return self.heads().get(name)

    def original(self, key: int) -> bytes:
        return self._bandits[key].original

    def counters(self, key: int) -> bytes:
        return self._bandits[key].counters

    def config(self, key: int, number: int) -> bytes:
        return self._bandits[key].configs[number]

    def decisions(self, key: int, ids: Sequence[str]) -> list[Event]:
        bandit = self._bandits[key]
        numbers = sorted(seq for id_ in set(ids) for seq in bandit.by_decision.get(id_, ()))
        return [bandit.log[seq] for seq in numbers]

    def events(self, key: int, after: int, limit: int) -> list[Event]:
        log = self._bandits[key].log
        newest = next(reversed(log), 0)
        wanted = (log[seq] for seq in range(after + 1, newest + 1) if seq in log)
        return list(islice(wanted, limit))

    def last_decisions(self, key: int, limit: int, among: int) -> list[str]:
        last = islice(reversed(self._bandits[key].log.values()), among)
        return [*islice((event.decision for event in last if event.kind == "decision"), limit)]

    def history(self, key: int, since: int) -> list[HistoryPoint]:
        points = self._bandits[key].history
        first = max((at for at in points if at <= since), default=0)
        return [points[at] for at in sorted(points) if at >= first]

    def history_start(self, key: int) -> int | None:
        return min(self._bandits[key].history, default=None)

    def compaction(self, key: int) -> Compaction | None:
        return self._bandits[key].compaction

    def all_keys(self) -> list[Key]:
        return sorted(self._keys.values(), key=lambda key: (key.created, key.id))

    def lock(self, known: Mapping[str, int]) -> dict[str, LockedBandit]:
        found = (bandit for bandit in self._bandits.values() if bandit.name in known)
        return {
            bandit.name: LockedBandit(
                bandit.head, None if bandit.head.version == known[bandit.name] else bandit.counters
            )
            for bandit in found
        }

    def create(self, name: str, original: bytes, config: bytes, counters: bytes) -> int | None:
        if self.find(name) is not None:
            return None
        self._made += 1
        key = self._made
        self._bandits[key] = _Bandit(name, original, config, counters)
        self._bandits[key].head = BanditHead(key, 1, 1)
        self._undo.append(lambda: self._bandits.pop(key))
        return key

    def apply(self, key: int, head: BanditHead, events: Sequence[Event], counters: bytes) -> None:
        bandit = self._bandits[key]
        before = bandit.head, bandit.counters

        def undo() -> None:
            for event in events:
                del bandit.log[event.seq]
                bandit.by_decision[event.decision].remove(event.seq)
            bandit.head, bandit.counters = before

        self._undo.append(undo)
        for event in events:
            bandit.log[event.seq] = event
            bandit.by_decision.setdefault(event.decision, []).append(event.seq)
        bandit.head, bandit.counters = head, counters

    def add_config(self, key: int, number: int, body: bytes) -> None:
        configs = self._bandits[key].configs
        configs[number] = body
        self._undo.append(lambda: configs.pop(number))

    def delete(self, key: int) -> None:
        bandit = self._bandits.pop(key)
        self._undo.append(lambda: self._bandits.update({key: bandit}))

    def purge(self, limit: int) -> bool:
        return False

    def check_writable(self) -> None:
        """Do nothing: memory can always be written."""

    def put_compaction(self, key: int, compaction: Compaction, closed: Sequence[str]) -> None:
        bandit = self._bandits[key]
        before = (
            dict(bandit.log),
            {id_: list(s) for id_, s in bandit.by_decision.items()},
            bandit.compaction,
        )

        def undo() -> None:
            bandit.log, bandit.by_decision, bandit.compaction = before

        self._undo.append(undo)
        for event in self.decisions(key, closed):
            if event.kind == "decision":
                bandit.log[event.seq] = event._replace(body=b"")
                bandit.by_decision[event.decision] = [event.seq]
            else:
                del bandit.log[event.seq]
        bandit.compaction = compaction

    def add_history(self, key: int, point: HistoryPoint) -> None:
        points = self._bandits[key].history
        if point.at not in points:
            points[point.at] = point
            self._undo.append(lambda: points.pop(point.at))

    def thin_history(self, key: int, since: int, before: int, step: int) -> None:
        points = self._bandits[key].history
        those = sorted(at for at in points if since <= at < before)
        kept = {at // step: at for at in reversed(those)}.values()
        dropped = {at: points[at] for at in set(those) - set(kept)}
        for at in dropped:
            del points[at]
        self._undo.append(lambda: points.update(dropped))

    def put_key(self, key: Key) -> None:
        before = dict(self._keys)
        self._keys[key.id] = key

        def undo() -> None:
            self._keys = before

        self._undo.append(undo)
