"""Nothing is kept: a store in dictionaries, for trials, and the plainest statement of the rules."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice

from evenhand.service._events import Event
from evenhand.service.stores.protocol import (
    Fold,
    Head,
    Key,
    Locked,
    Sample,
    Transaction,
    View,
    Waits,
)


class _Bandit:
    """What there is about one bandit."""

    def __init__(self, name: str, original: bytes, edition: bytes, counters: bytes) -> None:
        self.name, self.original, self.counters = name, original, counters
        self.head = Head(0, 1, 1)
        self.editions = {1: edition}
        self.log: dict[int, Event] = {}
        self.by_decision: dict[str, list[int]] = {}
        self.fold: Fold | None = None
        self.samples: dict[int, Sample] = {}


class Memory:
    """A store that ends with its process.

    Examples
    --------
    >>> store = Memory()
    >>> with store.transaction() as transaction:
    ...     transaction.create("shelf", b"{}", b"", b"")
    1
    >>> with store.view() as view:
    ...     view.find("shelf")
    Head(key=1, version=1, edition=1)
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
        """Forget nothing: there may be other users."""

    def names(self) -> list[str]:
        return sorted(bandit.name for bandit in self._bandits.values())

    def heads(self) -> dict[str, Head]:
        return {bandit.name: bandit.head for bandit in self._bandits.values()}

    def find(self, name: str) -> Head | None:
        return self.heads().get(name)

    def original(self, key: int) -> bytes:
        return self._bandits[key].original

    def counters(self, key: int) -> bytes:
        return self._bandits[key].counters

    def edition(self, key: int, number: int) -> bytes:
        return self._bandits[key].editions[number]

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

    def samples(self, key: int, since: int) -> list[Sample]:
        samples = self._bandits[key].samples
        first = max((at for at in samples if at <= since), default=0)
        return [samples[at] for at in sorted(samples) if at >= first]

    def first_sample(self, key: int) -> int | None:
        return min(self._bandits[key].samples, default=None)

    def fold(self, key: int) -> Fold | None:
        return self._bandits[key].fold

    def all_keys(self) -> list[Key]:
        return sorted(self._keys.values(), key=lambda key: (key.created, key.id))

    def lock(self, known: Mapping[str, int]) -> dict[str, Locked]:
        found = (bandit for bandit in self._bandits.values() if bandit.name in known)
        return {
            bandit.name: Locked(
                bandit.head, None if bandit.head.version == known[bandit.name] else bandit.counters
            )
            for bandit in found
        }

    def create(self, name: str, original: bytes, edition: bytes, counters: bytes) -> int | None:
        if self.find(name) is not None:
            return None
        self._made += 1
        key = self._made
        self._bandits[key] = _Bandit(name, original, edition, counters)
        self._bandits[key].head = Head(key, 1, 1)
        self._undo.append(lambda: self._bandits.pop(key))
        return key

    def apply(self, key: int, head: Head, events: Sequence[Event], counters: bytes) -> None:
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

    def add_edition(self, key: int, number: int, body: bytes) -> None:
        editions = self._bandits[key].editions
        editions[number] = body
        self._undo.append(lambda: editions.pop(number))

    def delete(self, key: int) -> None:
        bandit = self._bandits.pop(key)
        self._undo.append(lambda: self._bandits.update({key: bandit}))

    def tidy(self, limit: int) -> bool:
        return False

    def touch(self) -> None:
        """Write nothing: it always can be."""

    def put_fold(self, key: int, fold: Fold, closed: Sequence[str]) -> None:
        bandit = self._bandits[key]
        before = (
            dict(bandit.log),
            {id_: list(s) for id_, s in bandit.by_decision.items()},
            bandit.fold,
        )

        def undo() -> None:
            bandit.log, bandit.by_decision, bandit.fold = before

        self._undo.append(undo)
        for event in self.decisions(key, closed):
            if event.kind == "decision":
                bandit.log[event.seq] = event._replace(body=b"")
                bandit.by_decision[event.decision] = [event.seq]
            else:
                del bandit.log[event.seq]
        bandit.fold = fold

    def add_sample(self, key: int, sample: Sample) -> None:
        samples = self._bandits[key].samples
        if sample.at not in samples:
            samples[sample.at] = sample
            self._undo.append(lambda: samples.pop(sample.at))

    def thin_samples(self, key: int, since: int, before: int, step: int) -> None:
        samples = self._bandits[key].samples
        those = sorted(at for at in samples if since <= at < before)
        kept = {at // step: at for at in reversed(those)}.values()
        dropped = {at: samples[at] for at in set(those) - set(kept)}
        for at in dropped:
            del samples[at]
        self._undo.append(lambda: samples.update(dropped))

    def put_key(self, key: Key) -> None:
        before = dict(self._keys)
        self._keys[key.id] = key

        def undo() -> None:
            self._keys = before

        self._undo.append(undo)
