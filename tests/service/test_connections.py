"""Connections and requests have limits, with or without a key."""

from __future__ import annotations

import time
from contextlib import suppress

import httpx
import psutil
import pytest

from evenhand.service.http import connections
from tests.service.watching import MEGABYTE, closed_within, connected, memory_of, watched


@pytest.mark.parametrize(
    "begin",
    [
        b"GET /livez HTTP/1.1\r\nhost: localhost\r\nx: ",
        b"GET /livez?",
        b"GET /livez HTTP/1.1\r\nhost: localhost\r\n" + b"x: y\r\n" * 1_000,
        b"POST /v1/bandits/shelf/decisions HTTP/1.1\r\nhost: localhost\r\n"
        b"transfer-encoding: chunked\r\n\r\n0\r\nx: ",
    ],
    ids=["one header", "url", "many headers", "trailer"],
)
def test_headers_without_end_are_refused_before_they_fill_the_memory(server, begin):
    before = memory_of(server)
    with connected(server) as one:
        one.sendall(begin)
        sent = 0
        try:
            while sent < 30 * MEGABYTE:
                one.sendall(b"x" * 100_000)
                sent += 100_000
        except OSError:
            pass
        assert closed_within(one, 5)
    assert sent < 30 * MEGABYTE
    assert memory_of(server) < before + 20 * MEGABYTE
    assert httpx.get(f"{server.url}/livez").status_code == 200


def test_requests_that_wait_for_no_answer_neither_fill_nor_freeze(server):
    before = memory_of(server)
    with watched(server) as waits, connected(server) as one:
        many = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n" * 6_000
        time.sleep(0.2)
        with suppress(OSError):
            for _ in range(30):
                one.sendall(many)
        assert closed_within(one, 5)
    assert memory_of(server) < before + 60 * MEGABYTE
    assert max(waits) < 2.0


def test_a_few_requests_may_be_sent_at_once(server):
    with connected(server) as one:
        one.sendall(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n" * 10)
        answers = b""
        while answers.count(b"HTTP/1.1 200") < 10:
            answers += one.recv(65_536)


def test_open_paths_read_no_bodies(server):
    before, opened = memory_of(server), []
    for _ in range(40):
        one = connected(server)
        one.setblocking(False)
        head = b"POST /livez HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4000000\r\n\r\n"
        one.send(head.replace(b"POST", b"GET") if len(opened) % 2 else head)
        opened.append(one)
    for _ in range(60):
        for one in opened:
            with suppress(OSError):
                one.send(b"x" * 65_536)
    time.sleep(0.3)
    assert memory_of(server) < before + 60 * MEGABYTE
    assert httpx.get(f"{server.url}/livez").status_code == 200
    for one in opened:
        one.close()


def test_half_sent_requests_lock_nobody_out(tmp_path, serve):
    config = tmp_path / "config.toml"
    config.write_text("connections = 50\n")
    server = serve("--database", f"sqlite:///{tmp_path}/x.db", "--config", str(config))
    halves = []
    for _ in range(120):
        one = connected(server)
        one.sendall(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n")
        halves.append(one)
        if len(halves) % 40 == 0:
            assert httpx.get(f"{server.url}/livez", timeout=2).status_code == 200
    files = psutil.Process(server.process.pid).num_fds()
    assert files < 50 + connections.FRAMING_BYTES // 1_000
    assert sum(closed_within(one, 0.05) for one in halves) >= 70
    for one in halves:
        one.close()


class Stub:
    """A connection as :func:`check_connections` sees it."""

    def __init__(self, receiving_since=None, unsent=0):
        self.protocol = connections.LimitedProtocol.__new__(connections.LimitedProtocol)
        self.sent, self.aborted, self.size = b"", False, unsent
        protocol = self.protocol
        protocol.transport, protocol.cycle = self, None
        protocol.receiving_since = receiving_since
        protocol._unsent, protocol._sending_since = 0, float("inf")

    def is_closing(self):
        return self.aborted or bool(self.sent)

    def get_write_buffer_size(self):
        return self.size

    def write(self, data):
        self.sent += data

    def close(self):
        pass

    def abort(self):
        self.aborted = True


def test_a_request_must_be_complete_in_time(monkeypatch):
    now = 1_000.0
    monkeypatch.setattr(connections.time, "monotonic", lambda: now)
    early, late, idle = Stub(now - 5.0), Stub(now - 25.0), Stub()
    connections.check_connections([one.protocol for one in (early, late, idle)])
    assert [one.sent[9:12] for one in (early, late, idle)] == [b"", b"408", b""]


def test_a_client_that_takes_nothing_of_its_response_is_dropped(monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(connections.time, "monotonic", lambda: now[0])
    stuck, slow = Stub(unsent=1_000), Stub(unsent=1_000)
    for _ in range(5):
        connections.check_connections([stuck.protocol, slow.protocol])
        now[0] += 10.0
        slow.size -= 1
    assert (stuck.aborted, slow.aborted) == (True, False)


def test_unsent_responses_have_a_limit_in_all():
    stubs = [Stub(unsent=size * MEGABYTE) for size in (10, 90, 40)]
    connections.check_connections([one.protocol for one in stubs])
    assert [one.aborted for one in stubs] == [False, True, False]


def test_a_url_of_many_parameters_is_refused(server):
    assert httpx.get(f"{server.url}/v1/bandits?{'a=1&' * 5_000}").status_code == 422


def test_a_name_that_is_not_utf8_is_refused(server):
    for path in (b"/v1/bandits/shelf/arms/%FF", b"/v1/bandits/shelf/decisions/%FE%C3"):
        with connected(server) as one:
            one.sendall(b"PUT %s HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}" % path)
            assert b" 422 " in one.recv(100)


def test_every_answer_forbids_guessing_and_storing(shelf):
    for method, path in [
        ("GET", "/livez"),
        ("GET", "/v1/bandits/shelf/state"),
        ("GET", "/nowhere"),
        ("POST", "/v1/bandits/shelf/decisions"),
        ("DELETE", "/v1/bandits/shelf"),
        ("GET", "/"),
    ]:
        answer = shelf.request(method, path)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == ("no-cache" if path == "/" else "no-store")


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Forwarded-Port", "Forwarded"])
def test_without_keys_a_proxy_is_refused(shelf, name):
    answer = shelf.get("/v1/bandits", headers={name: "203.0.113.7"})
    assert answer.status_code == 403
    assert name in answer.json()["detail"]


@pytest.mark.parametrize(
    "options",
    ['log_level = "loud"', 'ssl_certfile = "none.pem"', 'loop = "gear"', "http = 'h11'", "a = 1"],
)
def test_a_wrong_option_of_uvicorn_is_refused_in_a_line(tmp_path, serve, options):
    config = tmp_path / "config.toml"
    config.write_text(f"[uvicorn]\n{options}\n")
    with pytest.raises(AssertionError) as refused:
        serve("--database", "memory:", "--config", str(config))
    assert "Traceback" not in str(refused.value)
    assert "uvicorn" in str(refused.value)
