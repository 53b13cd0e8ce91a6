"""The server: uvicorn with the service, stopped in order by a signal."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn

from evenhand.core.checks import fail
from evenhand.service.config import Config
from evenhand.service.http.app import Service
from evenhand.service.http.auth import is_loopback
from evenhand.service.http.connections import allow_files, check_connections, limited_to
from evenhand.service.stores import open_store, safe_url
from evenhand.service.stores.protocol import StoreUnavailable

# Requests have this long to finish; the rest of ten seconds is for the store.
GRACE_SECONDS = 4
# Options that would make uvicorn listen elsewhere than was checked, or in more processes.
RESERVED = ("app", "fd", "host", "http", "lifespan", "port", "reload", "uds", "workers", "ws")
# Open files that are not connections: the database, the dashboard's files, pipes.
OTHER_FILES = 100
TICKS = 10
# A commit in a thread ends when the interpreter switches back to it. The default interval is ten
# times as long as the commit.
SWITCH_SECONDS = 0.0005
BACKLOG = 2_048
DEFAULTS = {
    "access_log": False,
    "log_level": "warning",
    "proxy_headers": False,
    "server_header": False,
}


class _Server(uvicorn.Server):
    """Reports its URL when it listens, and closes event streams when it stops."""

    def __init__(
        self, config: uvicorn.Config, service: Service, ready: Callable[[str], None]
    ) -> None:
        super().__init__(config)
        self._service, self._ready = service, ready

    async def startup(self, sockets: Any = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if not self.started:
            return
        host, port = sockets[0].getsockname()[:2]
        scheme = "https" if self.config.is_ssl else "http"
        self._ready(f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}")

    async def on_tick(self, counter: int) -> bool:
        """Check the connections once a second: uvicorn calls this ten times a second."""
        if counter % TICKS == 0:
            check_connections(self.server_state.connections)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: Any = None) -> None:
        """Close all event streams, and finish the other requests."""
        self._service.live.close()
        await super().shutdown(sockets)


def serve(config: Config, ready: Callable[[str], None]) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code.

    Parameters
    ----------
    config
        The settings of the server.
    ready
        Is called with the server's URL as soon as it listens.
    """
    try:
        service = Service(open_store(config.database), config)
        service.load_keys()
    except StoreUnavailable as error:
        fail("database", "one that can be reached", f"{safe_url(config.database)}: {error}")
    valid = [key for key in service.auth.keys if key.revoked is None]
    if not is_loopback(config.host) and not valid:
        rule = (
            "loopback (127.0.0.1, ::1 or localhost) as long as there are no valid API keys; "
            "'evenhand db keys create' makes one"
        )
        fail("host", rule, config.host)
    server = _Server(_settings(service, config), service, ready)
    sockets = listen(config.host, config.port)
    sys.setswitchinterval(SWITCH_SECONDS)
    # uvicorn raises the signal again at the end, when it has been handled already.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *given: setattr(server, "should_exit", True))
    server.run(sockets)
    code = 0 if server.started else 1
    if not service.stopped:
        sys.stderr.write("evenhand: the database does not answer; stopped without it\n")
        code = 1
    if service.busy or not service.stopped:
        # A thread still computes, or waits for the database; the process must not wait for it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def listen(host: str, port: int) -> list[socket.socket]:
    """Return a socket for every address of a host, or raise why a port cannot be had."""
    opened: list[socket.socket] = []
    failed: OSError | None = None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        found, failed = [], error
    for family, _, _, _, address in dict.fromkeys(found):
        # A free port is chosen for one address: another one would get another port.
        if opened and not port:
            break
        try:
            opened.append(socket.create_server(address, family=family, backlog=BACKLOG))
        except OSError as error:
            failed = error
            if error.errno == errno.EADDRINUSE:
                break
    taken = failed is not None and failed.errno == errno.EADDRINUSE
    if taken or not opened:
        for one in opened:
            one.close()
        if taken:
            fail("port", "free: another program uses it; --port chooses another one", port)
        fail("host", "an address of this machine", f"{host}:{port} ({failed})")
    return opened


def _settings(service: Service, config: Config) -> uvicorn.Config:
    """Return uvicorn's settings, or raise that an option is not allowed."""
    for option in config.uvicorn:
        if option in RESERVED:
            rule = "left out: the server sets it"
            fail(f"uvicorn.{option} of config", rule, config.uvicorn[option])
    most = min(config.connections, allow_files(config.connections + OTHER_FILES) - OTHER_FILES)
    try:
        settings = uvicorn.Config(
            service,
            host=config.host,
            port=config.port,
            http=limited_to(most),
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=GRACE_SECONDS,
            **{**DEFAULTS, **config.uvicorn},
        )
        settings.load()
    except (Exception, SystemExit) as error:  # whatever a wrong option leads to
        fail("uvicorn of config", "options of uvicorn", f"{type(error).__name__}: {error}")
    return settings
