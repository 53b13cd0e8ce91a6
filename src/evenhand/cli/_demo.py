"""``evenhand demo``: the whole system alive, on data that is gone afterwards."""

from __future__ import annotations

import heapq
import logging
import math
import random
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import typer

from evenhand.cli._screen import say, screen
from evenhand.client import Client
from evenhand.errors import ServiceError
from evenhand.service import Config
from evenhand.service import serve as run

log = logging.getLogger(__name__)


class Title(NamedTuple):
    """What is on a shelf: promised share, how much it is liked, and how often it can be shown.

    Liking and presence swing around these values, each title at a pace of its own.
    """

    name: str
    floor: float
    liked: float
    there: float


class Shelf(NamedTuple):
    """A bandit of the demo: at most so many titles are shown to each of so many visitors a second.

    Some visitors say after a while what they liked, others never do.
    """

    name: str
    plays: int
    visitors: float
    titles: tuple[Title, ...]


SHELVES = (
    Shelf(
        "movie-shelf",
        3,
        30.0,
        (
            Title("Drama", 0.0, 0.72, 0.95),
            Title("Comedy", 0.0, 0.66, 0.95),
            Title("Thriller", 0.0, 0.58, 0.9),
            Title("Animation", 0.25, 0.5, 0.85),
            Title("Science fiction", 0.2, 0.44, 0.8),
            Title("Documentary", 0.3, 0.3, 0.9),
            Title("Silent film", 0.1, 0.15, 0.6),
            Title("First features", 0.2, 0.35, 0.7),
        ),
    ),
    Shelf(
        "late-night",
        1,
        4.0,
        (
            Title("Horror", 0.0, 0.6, 0.9),
            Title("Short film", 0.3, 0.4, 0.9),
            Title("Live opera", 0.4, 0.3, 0.2),
        ),
    ),
)
SWING = 0.12
NEVER = 0.04
PATIENCE_SECONDS = 20.0


class Visitors:
    """Those who come to one shelf, in a thread, until they are sent home."""

    def __init__(self, address: str, shelf: Shelf, seed: int) -> None:
        self._address, self._shelf = address, shelf
        self._chance = random.Random(seed)
        self._home = threading.Event()
        self._thread = threading.Thread(target=self._come, daemon=True)
        self._paces = [(self._chance.uniform(40, 160), self._chance.random()) for _ in shelf.titles]

    def start(self) -> None:
        """Start the visitors."""
        self._thread.start()

    def stop(self) -> None:
        """Send them home."""
        self._home.set()
        self._thread.join(5.0)

    def _come(self) -> None:
        """Visit again and again; a server that is not there is waited for."""
        likings: list[tuple[float, int, str, Mapping[str, float]]] = []
        with Client(self._address, timeout=2.0, patience=1.0) as client:
            visits, ready = 0, False
            while not self._home.wait(self._chance.expovariate(self._shelf.visitors)):
                now, visits = time.monotonic(), visits + 1
                try:
                    if not ready:
                        self._set_up(client)
                        ready = True
                    self._visit(client, now, visits, likings)
                    while likings and likings[0][0] <= now:
                        _, _, decision, rewards = heapq.heappop(likings)
                        client.tell(self._shelf.name, decision, rewards)
                except ServiceError as error:
                    log.debug("a request of a simulated visitor failed: %s", error)

    def _set_up(self, client: Client) -> None:
        arms = [{"name": title.name, "floor": title.floor} for title in self._shelf.titles]
        rule = {"timeout_seconds": PATIENCE_SECONDS}
        client.create(self._shelf.name, arms, self._shelf.plays, feedback=rule)

    def _visit(self, client: Client, now: float, number: int, likings: list[Any]) -> None:
        """Show something to one visitor; feedback follows a moment later."""
        titles = self._shelf.titles
        moods = [
            SWING * math.sin(2 * math.pi * (now / pace + start)) for pace, start in self._paces
        ]
        awake = [
            title.name
            for title, mood in zip(titles, moods, strict=True)
            if self._chance.random() < title.there - abs(mood) / 2
        ]
        choice = client.ask(self._shelf.name, awake)
        tastes = {title.name: title.liked + mood for title, mood in zip(titles, moods, strict=True)}
        liked = {arm: float(self._chance.random() < tastes[arm]) for arm in choice.chosen}
        if liked and self._chance.random() >= NEVER:
            said = now + self._chance.expovariate(0.7)
            heapq.heappush(likings, (said, number, choice.id, liked))


def demo(
    port: Annotated[
        int | None, typer.Option(help="The port (default: 8321, or another if that is taken).")
    ] = None,
) -> None:
    """Serve a movie shelf to simulated visitors, and say where to watch; Ctrl-C ends it all."""
    visitors: list[Visitors] = []
    # What visitors still had to say when it ends goes with the rest.
    logging.getLogger("evenhand.client").setLevel(logging.CRITICAL)

    def ready(address: str) -> None:
        say(screen, f"evenhand demo: open {address}/ and watch; Ctrl-C to stop")
        visitors.extend(Visitors(address, shelf, seed) for seed, shelf in enumerate(SHELVES))
        for each in visitors:
            each.start()

    with TemporaryDirectory(prefix="evenhand-demo-") as folder:
        database = f"sqlite:///{Path(folder) / 'demo.db'}"
        try:
            code = run(Config(database=database, port=free_port() if port is None else port), ready)
        finally:
            for each in visitors:
                each.stop()
    raise typer.Exit(code)


def free_port() -> int:
    """Return the service's default port if it is free, else 0 for any free port."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            tried.bind(("127.0.0.1", Config().port))
            return Config().port
    return 0
