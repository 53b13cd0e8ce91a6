"""What is new, as it comes: server-sent events about all bandits at a glance, or one in full.

Every second what is watched is worked out once, however many watch it, and sent if it is news (a
state always is: of another time). What takes long is worked out less often: decisions come first.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from evenhand.service._bodies import BANDIT_NAME
from evenhand.service._operations import Call, Reply
from evenhand.service._reading import newest_decisions
from evenhand.service._refusals import Refusal, not_found
from evenhand.service._state import state_now
from evenhand.service.stores.protocol import View

if TYPE_CHECKING:
    from evenhand.service._service import Service

STREAM = "text/event-stream"
EVERY_SECONDS = 1.0
ALIVE_SECONDS = 4.0
# A piece of news is good enough for so many times the processor time that it took.
REST = 20.0
MOST_WATCHERS = 200
SHOWN = 50
# Not by browsers, and not by what stands in between.
NOT_KEPT = ((b"cache-control", b"no-store"), (b"x-accel-buffering", b"no"))
_encode = msgspec.json.Encoder().encode


class Live:
    """Everybody who watches, and what was last worked out for them."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._pieces: dict[tuple[str, str], _Piece] = {}
        self._watchers = 0
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Send everybody home: the server stops."""
        self._ending.set()

    async def watch(self, call: Call) -> Reply:
        """Begin to tell somebody what is new."""
        name = call.one("bandit", "")
        if name and not BANDIT_NAME.fullmatch(name):
            raise not_found("bandit", name)
        if self._watchers >= MOST_WATCHERS:
            raise Refusal(429, "busy", f"{MOST_WATCHERS} watch already: come again in a moment")
        first = await self._news(name)
        return Reply(200, b"", STREAM, NOT_KEPT, self._flow(name, first, call))

    async def _flow(
        self, name: str, first: Mapping[str, bytes], call: Call
    ) -> AsyncGenerator[bytes, None]:
        """Yield events until the watcher leaves, may not watch any more, or the server stops."""
        self._watchers += 1
        sent: dict[str, bytes] = {}
        news, last = first, time.monotonic()
        try:
            while True:
                fresh = {kind: body for kind, body in news.items() if sent.get(kind) != body}
                sent.update(fresh)
                if fresh or time.monotonic() - last > ALIVE_SECONDS:
                    last = time.monotonic()
                    lines = (b"event: %s\ndata: %s\n\n" % (k.encode(), b) for k, b in fresh.items())
                    yield b"".join(lines) or b": alive\n\n"
                if await self._ends_within(EVERY_SECONDS):
                    return
                self._service.door.check(call.headers, "read")
                news = await self._news(name)
        except Refusal:
            return
        finally:
            self._watchers -= 1

    async def _ends_within(self, seconds: float) -> bool:
        """Wait; say whether the server is being stopped."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), seconds)
        return self._ending.is_set()

    async def _news(self, name: str) -> dict[str, bytes]:
        """Return what there is to tell."""
        service = self._service
        looks: dict[str, Callable[[View], Any]] = {
            "state": lambda view: state_now(view, name, service.machine),
            "decisions": lambda view: newest_decisions(view, name, SHOWN),
        }
        if not name:
            looks = {"overview": service.overview.look}
        return {kind: await self._shared(kind, name, look) for kind, look in looks.items()}

    async def _shared(self, kind: str, name: str, look: Callable[[View], Any]) -> bytes:
        """Return what has been worked out lately for somebody else, or work it out."""
        now = time.monotonic()
        found = self._pieces.get((kind, name))
        if found is None or now > found.good_until:
            self._pieces = {
                what: piece for what, piece in self._pieces.items() if now < piece.good_until
            }
            found = self._pieces[kind, name] = _Piece()
            found.body = asyncio.ensure_future(self._work_out(found, look))
        return await asyncio.shield(found.body)

    async def _work_out(self, piece: _Piece, look: Callable[[View], Any]) -> bytes:
        took = 0.0

        def work(view: View) -> bytes:
            nonlocal took
            start = time.thread_time()
            try:
                return _encode(look(view))
            finally:
                took = time.thread_time() - start

        try:
            return await self._service.read(work)
        finally:
            piece.good_until = time.monotonic() + max(EVERY_SECONDS / 2, REST * took)


class _Piece:
    """Something that is worked out for all who want it, and for how long it is good enough."""

    body: asyncio.Future[bytes]

    def __init__(self) -> None:
        self.good_until = math.inf
