"""A TCP proxy in front of a PostgreSQL server, which can stall or cut every connection."""

from __future__ import annotations

import selectors
import socket
import threading
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit


class Proxy:
    """Listens on a port of its own, and forwards to a PostgreSQL server's socket."""

    def __init__(self, url):
        parts = urlsplit(url)
        folder = parse_qs(parts.query)["host"][0]
        [self._target] = Path(folder).glob(".s.PGSQL.*[0-9]")
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{port}{parts.path}"
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._flowing, self._closed = threading.Event(), False
        self._flowing.set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stall(self):
        """Forward nothing any more: whoever waits for an answer waits for ever."""
        self._flowing.clear()

    def flow(self):
        """Forward again."""
        self._flowing.set()

    def cut(self):
        """Cut all connections."""
        for one in list(self._pairs):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._closed = True
        self._flowing.set()
        self._thread.join()
        for one in (*self._pairs, self._listener):
            one.close()
        self._selector.close()

    def _run(self):
        while not self._closed:
            self._flowing.wait()
            for key, _ in self._selector.select(0.02):
                if not self._flowing.is_set():
                    break
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._forward(key.fileobj)

    def _accept(self):
        client, _ = self._listener.accept()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(str(self._target))
        except OSError:
            client.close()
            server.close()
            return
        self._pairs.update({client: server, server: client})
        for one in (client, server):
            self._selector.register(one, selectors.EVENT_READ)

    def _forward(self, one):
        other = self._pairs.get(one)
        if other is None:
            return
        try:
            data = one.recv(65_536)
            if data:
                other.sendall(data)
                return
        except OSError:
            pass
        for end in (one, other):
            self._selector.unregister(end)
            end.close()
            self._pairs.pop(end, None)
