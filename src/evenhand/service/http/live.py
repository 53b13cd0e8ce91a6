"""Live updates as server-sent events: the overview of all bandits, or everything of one.

Every second what clients watch is computed once, however many watch it, and sent if it has changed
(a state always has: it carries the time). What takes long is computed less often: decisions come
first.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from evenhand.service.http.operations import ApiRequest, encode
from evenhand.service.problems import ProblemError, not_found
from evenhand.service.schemas import BANDIT_NAME
from evenhand.service.stores.protocol import View
from evenhand.service.views.decisions import newest_decisions
from evenhand.service.views.lookup import find_bandit
from evenhand.service.views.state import state_now

if TYPE_CHECKING:
    from evenhand.service.http.app import Service

EVENT_STREAM = "text/event-stream"
EVERY_SECONDS = 1.0
KEEP_ALIVE_SECONDS = 4.0
# A client that takes nothing for so long is disconnected.
SEND_SECONDS = 30.0
# A payload is reused for so many times the processor time that it took.
REST = 20.0
MOST_STREAMS = 200
SHOWN = 50
# Neither browsers nor proxies may buffer or store a stream.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Type": EVENT_STREAM,
    "X-Accel-Buffering": "no",
}
log = logging.getLogger(__name__)


class EventStream(StreamingResponse):
    """A streaming response that ends when the client takes nothing for a while.

    ``closed`` is called when it is over; :meth:`close` does that for one that never begins.
    """

    def __init__(self, events: AsyncGenerator[bytes, None], closed: Callable[[], None]) -> None:
        super().__init__(events, headers=HEADERS)
        self.close = closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.close()

    async def stream_response(self, send: Send) -> None:
        """Send the events."""

        async def send_in_time(message: Message) -> None:
            await asyncio.wait_for(send(message), SEND_SECONDS)

        try:
            await super().stream_response(send_in_time)
        except Exception as error:
            log.warning("an event stream was closed: %s", error or "the client takes nothing")


class LiveStreams:
    """All open event streams, and a cache of what they send."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._payloads: dict[tuple[str, str], _Payload] = {}
        self._open = 0
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End all event streams."""
        self._closing.set()

    async def open(self, request: ApiRequest) -> Response:
        """Open an event stream."""
        name = request.one("bandit", "")
        if name and not BANDIT_NAME.fullmatch(name):
            raise not_found("bandit", name)
        if self._open >= MOST_STREAMS:
            detail = f"{MOST_STREAMS} event streams are open: retry in a moment"
            raise ProblemError(429, "busy", detail)
        # Counted before anything is awaited: otherwise many could pass the check together.
        self._open += 1
        try:
            first = await self._current(name)
        except BaseException:
            self._open -= 1
            raise
        return EventStream(self._events(name, first, request), self._closed)

    def _closed(self) -> None:
        self._open -= 1

    async def _events(
        self, name: str, first: Mapping[str, bytes], request: ApiRequest
    ) -> AsyncGenerator[bytes, None]:
        """Yield events until the key is revoked, the bandit is deleted, or the server stops."""
        sent: dict[str, bytes] = {}
        current, last = first, time.monotonic()
        try:
            while True:
                changed = {kind: body for kind, body in current.items() if sent.get(kind) != body}
                sent.update(changed)
                if changed or time.monotonic() - last > KEEP_ALIVE_SECONDS:
                    last = time.monotonic()
                    lines = (
                        b"event: %s\ndata: %s\n\n" % (k.encode(), b) for k, b in changed.items()
                    )
                    yield b"".join(lines) or b": alive\n\n"
                if await self._closes_within(EVERY_SECONDS):
                    return
                self._service.auth.check(request.headers, "read")
                current = await self._current(name)
        except ProblemError:
            return

    async def _closes_within(self, seconds: float) -> bool:
        """Wait; say whether the server is stopping."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)
        return self._closing.is_set()

    async def _current(self, name: str) -> dict[str, bytes]:
        """Return the present payloads by kind of event."""
        service = self._service
        looks: dict[str, Callable[[View], Any]] = {
            "state": lambda view: state_now(
                name, find_bandit(view, name), service.precompiler.solves
            ),
            "decisions": lambda view: newest_decisions(view, name, SHOWN),
        }
        if not name:
            looks = {"overview": service.overview.summaries}
        return {kind: await self._shared(kind, name, look) for kind, look in looks.items()}

    async def _shared(self, kind: str, name: str, look: Callable[[View], Any]) -> bytes:
        """Return a payload from the cache, or compute it."""
        now = time.monotonic()
        found = self._payloads.get((kind, name))
        if found is None or now > found.good_until:
            self._payloads = {
                what: payload
                for what, payload in self._payloads.items()
                if now < payload.good_until
            }
            found = self._payloads[kind, name] = _Payload()
            found.body = asyncio.ensure_future(self._compute(found, look))
        return await asyncio.shield(found.body)

    async def _compute(self, payload: _Payload, look: Callable[[View], Any]) -> bytes:
        took = 0.0

        def work(view: View) -> bytes:
            nonlocal took
            start = time.thread_time()
            try:
                return encode(look(view))
            finally:
                took = time.thread_time() - start

        try:
            return await self._service.read(work)
        finally:
            payload.good_until = time.monotonic() + max(EVERY_SECONDS / 2, REST * took)


class _Payload:
    """Something computed for all streams that send it, and until when it is recent enough."""

    body: asyncio.Future[bytes]
    good_until: float = math.inf
