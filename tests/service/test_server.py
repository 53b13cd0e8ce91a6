"""Where a server listens."""

from __future__ import annotations

import socket

import pytest

from evenhand import InputError
from evenhand.service.http.server import listen


def test_an_address_that_cannot_be_had_is_skipped_if_another_can(monkeypatch):
    here = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))
    away = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("203.0.113.7", 0))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **more: [away, here])
    [opened] = listen("localhost", 0)
    assert opened.getsockname()[0] == "127.0.0.1"
    opened.close()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **more: [away])
    with pytest.raises(InputError, match="host must be an address of this machine"):
        listen("localhost", 0)


def test_a_taken_port_is_refused_and_nothing_stays_open(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match="port must be free"):
            listen("127.0.0.1", port)


def test_an_unknown_host_is_refused():
    with pytest.raises(InputError, match="host must be an address of this machine"):
        listen("no such host", 8321)
