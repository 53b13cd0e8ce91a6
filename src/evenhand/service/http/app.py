"""The service: one store, one writer and some reader threads, as an ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from evenhand.service.config import Config
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.engine.writer import Writer
from evenhand.service.http.auth import Authenticator, is_loopback
from evenhand.service.http.endpoint import Endpoint, make_routes
from evenhand.service.http.live import LiveStreams
from evenhand.service.http.openapi import openapi
from evenhand.service.http.pages import api_page, read_files
from evenhand.service.http.pools import BodyBudget, WorkerPool
from evenhand.service.http.routes import OPERATIONS
from evenhand.service.problems import ProblemError
from evenhand.service.stores.protocol import Store, StoreUnavailable, View
from evenhand.service.upkeep.background import Background
from evenhand.service.upkeep.precompilation import Precompiler
from evenhand.service.validation import decode
from evenhand.service.views.metrics import Metrics
from evenhand.service.views.overview import OverviewCache

Result = TypeVar("Result")
KEYS_SECONDS = 1.0
# Decoding a larger body takes milliseconds.
DECODED_AT_ONCE = 20_000
LARGE_BODIES_BYTES = 32_000_000
log = logging.getLogger(__name__)


class Service:
    """The ASGI application, and everything that its handlers use."""

    def __init__(self, store: Store, config: Config) -> None:
        self.store, self.config = store, config
        self.metrics, self.auth = Metrics(), Authenticator(is_loopback(config.host))
        self.precompiler, self.stopped = Precompiler(), True
        executor = CommandExecutor(store, self.precompiler.decides)
        self.recent, self.overview = executor.recent, OverviewCache()
        self.writer = Writer(
            executor,
            waiting=config.waiting,
            on_commit=self.metrics.commit,
            background=Background(executor).run,
        )
        self._readers = WorkerPool("reads", threads=2, waiting=64)
        self.computer = WorkerPool("computations", threads=1, waiting=16)
        self._decoder = WorkerPool("large bodies", threads=1, waiting=16)
        # Keys and health must not wait for anything else.
        self._watcher = WorkerPool("health checks", threads=1, waiting=16)
        self._keys = WorkerPool("reads of keys", threads=1, waiting=2)
        self._pools = self._readers, self.computer, self._decoder, self._watcher, self._keys
        self.bodies = BodyBudget(max(LARGE_BODIES_BYTES, 2 * config.body_bytes))
        document = openapi(OPERATIONS)
        self.openapi, self.api_page = msgspec.json.encode(document), api_page(document).encode()
        self.files, self.live = read_files(), LiveStreams(self)
        self._router = Router(
            make_routes(self, OPERATIONS),
            default=Endpoint(self, {}),
            redirect_slashes=False,
            lifespan=self._lifespan,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._router(scope, receive, send)

    @property
    def busy(self) -> bool:
        """Whether threads still work on something."""
        return any(pool.pending for pool in self._pools)

    async def read(self, look: Callable[[View], Result]) -> Result:
        """Read from the store, in a reader thread."""
        return await self._look(self._readers, look)

    async def check_readable(self) -> None:
        """Raise unless the store can be read."""
        await self._look(self._watcher, lambda view: view.find(""))

    async def decode(self, body: bytes, kind: Any) -> Any:
        """Decode the body of a request as a type."""
        if len(body) <= DECODED_AT_ONCE:
            return decode(body, kind)
        return await self._decoder.run(decode, body, kind)

    async def decode_with(self, work: Callable[[bytes], Result], body: bytes) -> Result:
        """Decode the body of a request by a function; a large one in a thread."""
        return work(body) if len(body) <= DECODED_AT_ONCE else await self._decoder.run(work, body)

    async def _look(self, pool: WorkerPool, look: Callable[[View], Result]) -> Result:
        def reading() -> Result:
            with self.store.view() as view:
                return look(view)

        try:
            return await pool.run(reading)
        except StoreUnavailable as error:
            raise ProblemError(503, "unavailable", str(error)) from None

    def load_keys(self) -> None:
        """Read the API keys."""
        with self.store.view() as view:
            self.auth.keys = view.all_keys()

    @asynccontextmanager
    async def _lifespan(self, app: object) -> AsyncIterator[None]:
        """Start the writer; at the end finish what has begun, and close the store."""
        self.writer.start()
        keys = asyncio.create_task(self._reload_keys())
        try:
            yield
        finally:
            keys.cancel()
            self.stopped = await self.writer.stop()
            self.precompiler.stop()
            for pool in self._pools:
                pool.stop()
            if self.stopped:
                self.store.close()

    async def _reload_keys(self) -> None:
        """Notice API keys that are created or revoked while the server runs."""
        while True:
            await asyncio.sleep(KEYS_SECONDS)
            try:
                await self._keys.run(self.load_keys)
            except Exception as error:
                log.warning("the API keys could not be read, the earlier ones count: %s", error)
