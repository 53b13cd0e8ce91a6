"""What is new, as it comes: server-sent events about all bandits, and about one in full.

Every second somebody watches, what they watch is worked out once, whoever else watches it, and sent
if it is news.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from evenhand.service._operations import Call, Reply
from evenhand.service._reading import newest_decisions
from evenhand.service._refusals import Refusal
from evenhand.service._state import state_now
from evenhand.service._stores._store import View

if TYPE_CHECKING:
    from evenhand.service._service import Service

STREAM = "text/event-stream"
EVERY_SECONDS = 1.0
ALIVE_SECONDS = 4.0
MOST_WATCHERS = 200
SHOWN = 50
# Not by browsers, and not by what stands in between.
NOT_KEPT = ((b"cache-control", b"no-store"), (b"x-accel-buffering", b"no"))
_encode = msgspec.json.Encoder().encode


class Live:
    """Everybody who watches, and what was last worked out for them."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._worked_out: dict[tuple[str, str], tuple[float, asyncio.Future[bytes]]] = {}
        self._watchers = 0
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Send everybody home: the server stops."""
        self._ending.set()

    async def watch(self, call: Call) -> Reply:
        """Begin to tell somebody what is new.

        Raises
        ------
        Refusal
            If there is no such bandit, or too many watch already.
        """
        name = call.one("bandit", "")
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
            while not self._ending.is_set():
                fresh = {kind: body for kind, body in news.items() if sent.get(kind) != body}
                sent.update(fresh)
                if fresh or time.monotonic() - last > ALIVE_SECONDS:
                    last = time.monotonic()
                    lines = (b"event: %s\ndata: %s\n\n" % (k.encode(), b) for k, b in fresh.items())
                    yield b"".join(lines) or b": alive\n\n"
                await self._pause()
                self._service.door.check(call.headers, "read")
                news = await self._news(name)
        except Refusal:
            return
        finally:
            self._watchers -= 1

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._ending.wait(), EVERY_SECONDS)
        except TimeoutError:
            return

    async def _news(self, name: str) -> dict[str, bytes]:
        """Return what there is to tell."""
        service = self._service
        news = {"overview": await self._shared("overview", "", service.overview.look)}
        if name:
            news["state"] = await self._shared(
                "state", name, lambda view: state_now(view, name, service.machine)
            )
            news["decisions"] = await self._shared(
                "decisions", name, lambda view: newest_decisions(view, name, SHOWN)
            )
        return news

    async def _shared(self, kind: str, name: str, look: Callable[[View], Any]) -> bytes:
        """Return what somebody has worked out within the last second, or work it out."""
        now = time.monotonic()
        found = self._worked_out.get((kind, name))
        if found is None or now - found[0] > EVERY_SECONDS / 2:
            self._worked_out = {
                what: one for what, one in self._worked_out.items() if now - one[0] < EVERY_SECONDS
            }
            task = asyncio.ensure_future(self._service.read(lambda view: _encode(look(view))))
            found = self._worked_out[(kind, name)] = now, task
        return await asyncio.shield(found[1])
