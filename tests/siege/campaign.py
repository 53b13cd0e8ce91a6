"""The campaign: servers, good clients, attackers and watchers, and what came of it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import httpx
import psutil

from evenhand.service.stores import open_store
from evenhand.service.upkeep.verification import verify
from tests.service.servers import Account, Crowd, Server, log_of
from tests.siege.attacks import ATTACKS

BODY = {
    "arms": [{"name": f"arm-{i}", "floor": 0.1} for i in range(5)],
    "plays": 2,
    "feedback": {"timeout_seconds": 600},
}
# Errors that a server may answer with: its database, or its disk, is not to be had.
ALLOWED = {503, 507}
SERVERS, CLIENTS, FULL_SPEED_SECONDS = 3, 4, 3.0


@dataclass
class Outcome:
    """What came of a siege."""

    full_speed: float = 0.0
    seconds: float = 0.0
    decisions: int = 0
    rewards: int = 0
    attacks: dict[str, int] = field(default_factory=dict)
    errors: set[int] = field(default_factory=set)
    waits: list[float] = field(default_factory=list)
    memory: int = 0
    longest_gap: float = 0.0

    def percentile(self, share: float) -> float:
        """Return how long /livez took at most, for a share of its answers."""
        ordered = sorted(self.waits)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]

    @property
    def served(self) -> float:
        """Return which share of the rounds was served that good clients wanted."""
        return self.decisions / (self.seconds * self.full_speed / 10.0)


class Excuses:
    """When each server was stopped by an attacker, so that it could not answer."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, float, float]] = []

    @contextmanager
    def excused(self, number):
        """Excuse a server, and for half a second more."""
        start = time.monotonic()
        try:
            yield
        finally:
            self._spans.append((number, start, time.monotonic() + 0.5))

    def cover(self, number, start, end):
        return any(n == number and a < end and start < b for n, a, b in self._spans)


class Siege:
    """Three servers on one database, and everybody who talks to them."""

    def __init__(self, world, seed=0):
        self.world, self._seed = world, seed
        self.outcome, self.account, self.excuses = Outcome(), Account(), Excuses()
        self._done = threading.Event()
        for number in range(SERVERS):
            self.set_clock(number, 0.0)
        self.servers = [self._served(number) for number in range(SERVERS)]
        answer = httpx.put(f"{self.servers[0].url}/v1/bandits/shelf", json=BODY)
        assert answer.status_code == 201, answer.text

    def url(self, rng):
        """Return the address of one of the servers."""
        return rng.choice(self.servers).url

    def note(self, status):
        """Note an error that no server may answer with."""
        if status >= 500 and status not in ALLOWED:
            self.outcome.errors.add(status)

    def set_clock(self, number, offset):
        """Set by how many seconds the clock of a server is wrong."""
        path = self._clock(number)
        new = path.with_suffix(".new")
        new.write_text(str(offset))
        new.replace(path)

    def restart(self, number):
        """Start a server again, at the same port, once the database can be reached."""
        port = self.servers[number].port
        while not self._done.is_set():
            with suppress(AssertionError):
                self.servers[number] = self._served(number, port)
                return
            time.sleep(0.2)

    def run(self, seconds):
        """Lay siege for some seconds; return what came of it."""
        self._measure_full_speed()
        threads = [
            threading.Thread(target=self._attack, args=(attack, pause, self._seed + i))
            for i, (attack, pause) in enumerate(ATTACKS.items())
        ]
        threads.append(threading.Thread(target=self._watch_memory))
        before = len(self.account.decisions)
        rate = self.outcome.full_speed / 10.0
        with self._watched(), Crowd(self._urls, self.account, CLIENTS, self._seed + 1, rate):
            for thread in threads:
                thread.start()
            self._wait(seconds)
            self._done.set()
            if self.world.proxy is not None:
                self.world.proxy.flow()
            for thread in threads:
                thread.join(timeout=60)
        self.outcome.decisions = len(self.account.decisions) - before
        self.outcome.rewards = len(self.account.feedback)
        return self.outcome

    def check(self):
        """Raise if something that was acknowledged is lost or doubled, or a row is wrong."""
        self.world.revive()
        for number, server in enumerate(self.servers):
            server.kill()
            self.servers[number] = Server("--database", self.world.database)
        self.account.check(log_of(self.servers[0].url))
        store = open_store(self.world.database)
        with store.view() as view:
            assert verify(view, "shelf")[1] == []
            assert view.orphans() == []
        store.close()

    def close(self):
        self._done.set()
        for server in self.servers:
            server.kill()

    @property
    def _urls(self):
        return [server.url for server in self.servers]

    def _clock(self, number):
        return self.world.folder / f"clock-{number}"

    def _served(self, number, port=0):
        environment = {**os.environ, "CLOCK_FILE": str(self._clock(number))}
        program = "tests.siege.skewed"
        options = ("--database", self.world.served)
        return Server(*options, port=port, env=environment, program=program)

    def _measure_full_speed(self):
        with Crowd(self._urls, self.account, CLIENTS, self._seed):
            time.sleep(FULL_SPEED_SECONDS)
        self.outcome.full_speed = len(self.account.decisions) / FULL_SPEED_SECONDS

    def _wait(self, seconds):
        """Wait, and note the longest time in which no good client was served."""
        start = since = time.monotonic()
        served = len(self.account.decisions)
        while (now := time.monotonic()) < start + seconds:
            if len(self.account.decisions) > served:
                served, since = len(self.account.decisions), now
            self.outcome.longest_gap = max(self.outcome.longest_gap, now - since)
            time.sleep(0.05)
        self.outcome.seconds = now - start

    def _attack(self, attack, pause, seed):
        rng, name = random.Random(seed), attack.__name__
        while not self._done.wait(rng.expovariate(1.0 / pause)):
            if attack(self, rng):
                self.outcome.attacks[name] = self.outcome.attacks.get(name, 0) + 1

    @contextmanager
    def _watched(self):
        """Let a process ask the servers whether they are alive."""
        path = self.world.folder / "waits"
        ports = [str(server.port) for server in self.servers]
        words = [sys.executable, "-m", "tests.siege.watcher", str(path), *ports]
        watcher = subprocess.Popen(words, stdin=subprocess.PIPE)
        try:
            yield
        finally:
            watcher.communicate()
        for line in path.read_text().splitlines():
            number, start, took, status = map(float, line.split())
            self.note(int(status))
            if not self.excuses.cover(int(number), start, start + took):
                self.outcome.waits.append(took)

    def _watch_memory(self):
        while not self._done.wait(0.2):
            for server in self.servers:
                with suppress(psutil.Error):
                    used = psutil.Process(server.process.pid).memory_info().rss
                    self.outcome.memory = max(self.outcome.memory, used)
