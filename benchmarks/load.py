"""A load generator: clients on raw sockets, each with one request under way.

``python -m benchmarks.load PORT KIND CLIENTS SECONDS [BANDIT]`` prints a JSON object. KIND is
``decision``, ``pair`` (a decision, then its feedback) or ``echo``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import cast

import uvloop

WARM_UP_SECONDS = 1.0


class Client(asyncio.Protocol):
    """One connection: sends the next request when the last answer is complete."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._buffer = b""
        self._feedback = False
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        # uvloop's transports are what asyncio's are, but do not say so.
        self._transport = cast("asyncio.Transport", transport)
        self._send(self._load.first)

    def _send(self, request: bytes) -> None:
        self._sent = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Take in an answer, and send what follows it."""
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        self._buffer = b""
        load, now = self._load, time.perf_counter()
        load.all += 1
        if head[9:10] != b"2":
            load.errors += 1
        if now >= load.begin:
            load.seconds.append(now - self._sent)
        if now >= load.end:
            self._transport.close()
            load.finish()
        elif load.kind == "pair" and not self._feedback and head[9:10] == b"2":
            self._feedback = True
            self._send(load.feedback(json.loads(body)))
        else:
            load.rounds += now >= load.begin
            self._feedback = False
            self._send(load.first)


class Load:
    """What the clients share."""

    def __init__(self, kind: str, clients: int, seconds: float, bandit: str) -> None:
        self.kind, self._bandit, self._running = kind, bandit, clients
        self.begin = time.perf_counter() + WARM_UP_SECONDS
        self.end = self.begin + seconds
        self.seconds: list[float] = []
        self.errors = self.rounds = self.all = 0
        path = "/echo" if kind == "echo" else f"/v1/bandits/{bandit}/decisions"
        self.first = request(path, b"{}")
        self.done = asyncio.get_running_loop().create_future()

    def feedback(self, decision: dict[str, object]) -> bytes:
        """Return the request that tells about a decision."""
        chosen = decision["chosen"]
        assert isinstance(chosen, list)
        body = {"decision": decision["id"], "rewards": dict.fromkeys(chosen, 0.5)}
        return request(f"/v1/bandits/{self._bandit}/feedback", json.dumps(body).encode())

    def finish(self) -> None:
        """Note that a client has finished."""
        self._running -= 1
        if self._running == 0:
            self.done.set_result(None)


def request(path: str, body: bytes) -> bytes:
    """Return a request as bytes."""
    return (
        f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode() + body


async def run(ports: list[int], kind: str, clients: int, seconds: float, bandit: str) -> None:
    """Load the servers and print what was seen."""
    loop, load = asyncio.get_running_loop(), Load(kind, clients, seconds, bandit)
    for number in range(clients):
        port = ports[number % len(ports)]
        await loop.create_connection(lambda: Client(load), "127.0.0.1", port)
    await load.done
    times = sorted(load.seconds)
    found = {
        "rate": len(times) / seconds,
        "rounds": load.rounds / seconds,
        "median_ms": 1e3 * times[len(times) // 2],
        "p99_ms": 1e3 * times[int(len(times) * 0.99)],
        "errors": load.errors,
        "all": load.all,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    given = sys.argv[1:]
    where = [int(port) for port in given[0].split(",")]
    name = given[4] if len(given) > 4 else "bench"
    uvloop.run(run(where, given[1], int(given[2]), float(given[3]), name))
