"""The service: one store, one writer, many readers, behind one door."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qs

import msgspec
from starlette.routing import Route, Router

from evenhand.core.checks import is_name
from evenhand.service._api_page import api_page, read_files
from evenhand.service._bodies import BANDIT_NAME
from evenhand.service._clerk import Clerk
from evenhand.service._config import Config
from evenhand.service._door import Door, is_loopback
from evenhand.service._live import Live
from evenhand.service._machine import Machine
from evenhand.service._metrics import Metrics
from evenhand.service._openapi import openapi
from evenhand.service._operations import Call, Operation, Reply
from evenhand.service._refusals import MEDIA_TYPE, Refusal, not_found
from evenhand.service._routes import OPERATIONS
from evenhand.service._state import Overview
from evenhand.service._writer import Writer
from evenhand.service.stores import Store, Unavailable
from evenhand.service.stores.protocol import View

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Result = TypeVar("Result")
READERS = 2
KEYS_SECONDS = 1.0
# Who does not take what is sent for so long is gone.
SEND_SECONDS = 30.0
log = logging.getLogger(__name__)


class Service:
    """The ASGI application, and all that it holds."""

    def __init__(self, store: Store, config: Config) -> None:
        self.store, self.config = store, config
        self.metrics, self.door = Metrics(), Door(is_loopback(config.host))
        self.machine, self.stopped = Machine(), True
        clerk = Clerk(store, self.machine)
        self.recent, self.overview = clerk.recent, Overview()
        self.writer = Writer(clerk, waiting=config.waiting, watch=self.metrics.commit)
        self._readers = ThreadPoolExecutor(READERS, "evenhand-reader")
        self._thinker, self.thinking = ThreadPoolExecutor(1, "evenhand-thinker"), 0
        document = openapi(OPERATIONS)
        self.openapi, self.api_page = msgspec.json.encode(document), api_page(document).encode()
        self.files, self.live = read_files(), Live(self)
        self._router = Router(
            list(self._routes()), default=self._nowhere, redirect_slashes=False, lifespan=self._life
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._router(scope, receive, send)

    async def read(self, look: Callable[[View], Result]) -> Result:
        """Look at the store from a thread of the readers'."""

        def reading() -> Result:
            with self.store.view() as view:
                return look(view)

        try:
            return await self._run(self._readers, reading)
        except Unavailable as error:
            raise Refusal(503, "unavailable", str(error)) from None

    async def compute(self, work: Callable[..., Result], *given: Any) -> Result:
        """Work something out that takes its time; nobody who only reads waits for it."""
        self.thinking += 1
        try:
            return await self._run(self._thinker, work, *given)
        finally:
            self.thinking -= 1

    async def _run(
        self, threads: ThreadPoolExecutor, work: Callable[..., Result], *given: Any
    ) -> Result:
        return await asyncio.get_running_loop().run_in_executor(threads, work, *given)

    def load_keys(self) -> None:
        """Read the keys anew."""
        with self.store.view() as view:
            self.door.keys = view.all_keys()

    @asynccontextmanager
    async def _life(self, router: object) -> AsyncIterator[None]:
        """Work from the first request to the last, and finish what was begun."""
        self.writer.start()
        keys = asyncio.create_task(self._watch_keys())
        try:
            yield
        finally:
            keys.cancel()
            self.stopped = await self.writer.stop()
            self.machine.stop()
            for threads in (self._readers, self._thinker):
                threads.shutdown(wait=False, cancel_futures=True)
            if self.stopped:
                self.store.close()

    async def _watch_keys(self) -> None:
        """Notice keys that are made or revoked while the server runs."""
        while True:
            await asyncio.sleep(KEYS_SECONDS)
            try:
                await self._run(self._readers, self.load_keys)
            except Exception as error:
                log.warning("the keys could not be read, those before count: %s", error)

    def _routes(self) -> list[Route]:
        """Return a route for every address, the hottest first."""
        methods: dict[str, dict[str, Operation]] = {}
        for operation in OPERATIONS:
            methods.setdefault(operation.path, {})[operation.method] = operation
            if operation.method == "GET":
                methods[operation.path]["HEAD"] = operation
        return [
            Route(_pattern(path), _Endpoint(self, operations))
            for path, operations in methods.items()
        ]

    async def _nowhere(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for an address that there is not."""
        if scope["type"] == "http":
            refusal: Refusal = not_found("address", scope["path"])
            try:
                self.door.check(dict(scope["headers"]), "")
            except Refusal as shut:
                refusal = shut
            await _send_refusal(send, refusal)


class _Endpoint:
    """One address: finds the operation, reads the body, answers; the one place where errors end."""

    def __init__(self, service: Service, operations: Mapping[str, Operation]) -> None:
        self._service, self._operations = service, operations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        operation = self._operations.get(scope["method"])
        name, flowing = "none", None
        try:
            if operation is None:
                self._service.door.check(dict(scope["headers"]), "")
                status = await self._wrong_method(scope, send)
            else:
                name = operation.handler.__name__
                reply = await self._reply(operation, scope, receive)
                status = reply.status
                if reply.flow is None:
                    await _send(send, status, reply.body, reply.media_type, reply.headers)
                else:
                    flowing = reply
        except Refusal as refusal:
            status = refusal.status
            await _send_refusal(send, refusal)
        except asyncio.CancelledError:
            words = "the server is being stopped; whether it was done, the same id asked again says"
            await _send_refusal(send, Refusal(503, "unavailable", words))
            raise
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            status = 500
            words = "the server has made a mistake; nothing was changed"
            await _send_refusal(send, Refusal(500, "mistake", words))
        self._service.metrics.request(name, status, time.perf_counter() - start)
        if flowing is not None:
            await _send_flow(send, receive, flowing, scope["method"] == "HEAD")

    async def _reply(self, operation: Operation, scope: Scope, receive: Receive) -> Reply:
        headers = dict(scope["headers"])
        self._service.door.check(headers, operation.scope)
        _check_names(scope["path_params"], operation.method)
        body = await _body(receive, headers, self._service.config.body_bytes)
        given = scope["query_string"]
        query = parse_qs(given.decode("latin-1"), keep_blank_values=True) if given else {}
        call = Call(scope["path_params"], query, body, headers)
        return await operation.handler(self._service, call)

    async def _wrong_method(self, scope: Scope, send: Send) -> int:
        allowed = ", ".join(sorted(self._operations))
        refusal = Refusal(405, "method", f"method must be one of {allowed}, got {scope['method']}")
        await _send_refusal(send, refusal, [(b"allow", allowed.encode())])
        return refusal.status


def _pattern(path: str) -> str:
    """Return the pattern of an address; the name at its end may contain slashes."""
    last = path.endswith("}") and not path.endswith("{name}")
    return f"{path[:-1]}:path}}" if last else path


def _check_names(names: Mapping[str, str], method: str) -> None:
    """Refuse what nobody can be called: it is not looked for, and stores need not bear it."""
    if method != "PUT":
        for thing, name in names.items():
            if not (BANDIT_NAME.fullmatch(name) if thing == "name" else is_name(name)):
                raise not_found("bandit" if thing == "name" else thing, name)


async def _body(receive: Receive, headers: Mapping[bytes, bytes], most: int) -> bytes:
    """Return the body of a request, unless it is too large."""
    length = headers.get(b"content-length", b"0")
    size = int(length) if length.isdigit() else 0
    body, more = b"", size <= most
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(400, "cut-off", "the connection ended before the body did")
        body += message.get("body", b"")
        size = max(size, len(body))
        more = message.get("more_body", False) and size <= most
    if size > most:
        raise Refusal(413, "too-large", f"the body must have at most {most} bytes, got {size}")
    return body


async def _send(
    send: Send, status: int, body: bytes, media_type: str, more: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    headers = [
        (b"content-length", str(len(body)).encode()),
        (b"content-type", media_type.encode()),
        *more,
    ]
    start = {"type": "http.response.start", "status": status, "headers": headers}
    await send(start if status not in (204, 304) else {**start, "headers": list(more)})
    await send({"type": "http.response.body", "body": body})


async def _send_flow(send: Send, receive: Receive, reply: Reply, head: bool) -> None:
    """Send an answer piece by piece, until it ends or nobody listens any more."""
    flow = reply.flow
    assert flow is not None
    headers = [(b"content-type", reply.media_type.encode()), *reply.headers]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    gone = asyncio.ensure_future(_gone(receive))
    try:
        async for piece in flow:
            if head or gone.done():
                break
            more = {"type": "http.response.body", "body": piece, "more_body": True}
            await asyncio.wait_for(send(more), SEND_SECONDS)
    except Exception as error:
        log.warning("a stream has been cut off: %s", error or "nobody takes it")
    finally:
        gone.cancel()
        await flow.aclose()
    await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    """Return when nobody listens any more."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_refusal(
    send: Send, refusal: Refusal, more: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    headers = list(more)
    if refusal.retry is not None:
        headers.append((b"retry-after", str(refusal.retry).encode()))
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await _send(send, refusal.status, refusal.body(), MEDIA_TYPE, headers)
