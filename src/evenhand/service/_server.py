"""The server: uvicorn around the service, which ends in order when it is told to."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import uvicorn

from evenhand.core.checks import fail
from evenhand.service._config import Config
from evenhand.service._door import is_loopback
from evenhand.service._service import Service
from evenhand.service.stores import Unavailable, open_store, safe_url

# Requests under way have this long to finish; the rest of ten seconds is for the store.
GRACE_SECONDS = 4
# What uvicorn may not be told: it would listen elsewhere than was checked, or in more processes.
RESERVED = ("app", "fd", "host", "lifespan", "port", "reload", "uds", "workers")
# A commit is done when its thread has been let to say so: by default that may take ten times as
# long as the commit.
SWITCH_SECONDS = 0.0005
DEFAULTS = {
    "access_log": False,
    "log_level": "warning",
    "proxy_headers": False,
    "server_header": False,
}


class _Server(uvicorn.Server):
    """Says when it listens, and where."""

    def __init__(
        self, config: uvicorn.Config, service: Service, ready: Callable[[str], None]
    ) -> None:
        super().__init__(config)
        self._service, self._ready = service, ready

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        for server in getattr(self, "servers", [])[:1]:
            host, port = server.sockets[0].getsockname()[:2]
            scheme = "https" if self.config.is_ssl else "http"
            self._ready(f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}")

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop to listen; those who watch are sent home, the others get their answers."""
        self._service.live.end()
        await super().shutdown(sockets)


def serve(config: Config, ready: Callable[[str], None]) -> int:
    """Serve until a signal says otherwise; return the exit code.

    Parameters
    ----------
    config
        What the server needs to know.
    ready
        Is told the server's address as soon as it listens.
    """
    try:
        service = Service(open_store(config.database), config)
        service.load_keys()
    except Unavailable as error:
        fail("database", "one that can be reached", f"{safe_url(config.database)}: {error}")
    valid = [key for key in service.door.keys if key.revoked is None]
    if not is_loopback(config.host) and not valid:
        rule = (
            "loopback (127.0.0.1, ::1 or localhost) as long as there are no valid keys; "
            "'evenhand keys create' makes one"
        )
        fail("host", rule, config.host)
    server = _Server(_settings(service, config), service, ready)
    sys.setswitchinterval(SWITCH_SECONDS)
    # uvicorn raises the signal once more when all is done: by then it has been obeyed.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *given: setattr(server, "should_exit", True))
    server.run()
    if not service.stopped:
        # A thread waits for a database that does not answer: nobody else should wait for it.
        sys.stderr.write("evenhand: the database does not answer; stopped without it\n")
        os._exit(1)
    return 0 if server.started else 1


def _settings(service: Service, config: Config) -> uvicorn.Config:
    """Return what uvicorn is told, or complain about an option that it may not have."""
    for option in config.uvicorn:
        if option in RESERVED:
            fail(
                f"uvicorn.{option} of config",
                "left out: the server sets it",
                config.uvicorn[option],
            )
    try:
        return uvicorn.Config(
            service,
            host=config.host,
            port=config.port,
            lifespan="on",
            timeout_graceful_shutdown=GRACE_SECONDS,
            **{**DEFAULTS, **config.uvicorn},
        )
    except TypeError as error:
        fail("uvicorn of config", "options of uvicorn's", str(error))
