from __future__ import annotations

import re
import socket
import threading

import pytest

from tests.service.servers import Server


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return f"sqlite:///{tmp_path_factory.mktemp('client')}/client.db"


@pytest.fixture
def servers(database):
    """Start real servers on one database; they are killed when the test ends."""
    started = []

    def start(**more):
        started.append(Server("--database", database, **more))
        return started[-1]

    yield start
    for server in started:
        server.kill()


def message(connection):
    """Return the next whole message of HTTP; nothing at the end."""
    text = b""
    while b"\r\n\r\n" not in text:
        part = connection.recv(65_536)
        if not part:
            return b""
        text += part
    head, _, body = text.partition(b"\r\n\r\n")
    found = re.search(rb"(?i)content-length: (\d+)", head)
    length = int(found[1]) if found else 0
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


class Proxy:
    """A connection that breaks: some answers are lost after the server has given them."""

    def __init__(self, port, lose):
        self._target, self._lose = port, list(lose)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.lost = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, socket.create_connection(("127.0.0.1", self._target)) as server:
            while request := message(client):
                server.sendall(request)
                answer = message(server)
                if self._lose and self._lose.pop(0):
                    self.lost += 1
                    return
                client.sendall(answer)

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


@pytest.fixture
def breaking():
    """Make connections that break."""
    made = []

    def make(port, lose):
        made.append(Proxy(port, lose))
        return made[-1]

    yield make
    for proxy in made:
        proxy.close()
