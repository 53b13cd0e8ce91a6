"""The service: one store, one writer and some reader threads, as an ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
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
from evenhand.service.http.routes import OPERATIONS
from evenhand.service.problems import ProblemError
from evenhand.service.stores.protocol import Store, StoreUnavailable, View
from evenhand.service.upkeep.background import Background
from evenhand.service.upkeep.precompilation import Precompiler
from evenhand.service.views.metrics import Metrics
from evenhand.service.views.overview import OverviewCache

Result = TypeVar("Result")
READERS = 2
KEYS_SECONDS = 1.0
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
        self._readers = ThreadPoolExecutor(READERS, "evenhand-reader")
        self._computer, self.computing = ThreadPoolExecutor(1, "evenhand-computer"), 0
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

    async def read(self, look: Callable[[View], Result]) -> Result:
        """Read from the store, in a reader thread."""

        def reading() -> Result:
            with self.store.view() as view:
                return look(view)

        try:
            return await self._run(self._readers, reading)
        except StoreUnavailable as error:
            raise ProblemError(503, "unavailable", str(error)) from None

    async def compute(self, work: Callable[..., Result], *given: Any) -> Result:
        """Compute something slow in a thread of its own, so that readers do not wait for it."""
        self.computing += 1
        try:
            return await self._run(self._computer, work, *given)
        finally:
            self.computing -= 1

    async def _run(
        self, threads: ThreadPoolExecutor, work: Callable[..., Result], *given: Any
    ) -> Result:
        return await asyncio.get_running_loop().run_in_executor(threads, work, *given)

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
            for threads in (self._readers, self._computer):
                threads.shutdown(wait=False, cancel_futures=True)
            if self.stopped:
                self.store.close()

    async def _reload_keys(self) -> None:
        """Notice API keys that are created or revoked while the server runs."""
        while True:
            await asyncio.sleep(KEYS_SECONDS)
            try:
                await self._run(self._readers, self.load_keys)
            except Exception as error:
                log.warning("the API keys could not be read, the earlier ones count: %s", error)
