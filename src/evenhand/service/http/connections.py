"""Limits on connections: how much, and how long, before a request is complete.

uvicorn limits neither the bytes nor the time of a request's head, nor who reads a response. So a
client without a key could fill the memory, or occupy every connection.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Collection
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Everything of a request but its body: URL, headers, the framing of chunks, trailers.
FRAMING_BYTES = 64_000
# A request must be complete after so long, and a client must take something of its response.
REQUEST_SECONDS = 20.0
SEND_SECONDS = 30.0
# How many requests a client may send before the first is answered.
PIPELINED = 16
# What responses that clients do not take may occupy, in all.
UNSENT_BYTES = 128_000_000
CLOSING = b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
TIMEOUT = b"HTTP/1.1 408 Request Timeout" + CLOSING
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large" + CLOSING


class LimitedProtocol(HttpToolsProtocol):
    """One connection. It is *receiving* from its first byte until a request is complete."""

    most = 1_000

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._framing = self._unsent = 0
        self.receiving_since: float | None = None
        self._sending_since = math.inf

    def connection_made(self, transport: Any) -> None:
        """Accept a connection; if there are too many, drop the one that is least likely in use."""
        super().connection_made(transport)
        self.receiving_since = time.monotonic()
        if len(self.connections) > self.most:
            drop_one(self.connections, self)

    def data_received(self, data: bytes) -> None:
        """Read some bytes, and refuse a request that consists of too many headers."""
        self._framing += len(data)
        if self.receiving_since is None:
            self.receiving_since = time.monotonic()
        HttpToolsProtocol.data_received(self, data)
        if self._framing > FRAMING_BYTES:
            self.refuse(TOO_LARGE)

    def on_headers_complete(self) -> None:
        """Begin to answer a request; refuse a client that sends too many without waiting."""
        if len(self.pipeline) >= PIPELINED:
            self.pipeline.clear()
            raise ValueError(f"more than {PIPELINED} requests without waiting for an answer")
        HttpToolsProtocol.on_headers_complete(self)

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._framing -= len(body)
        HttpToolsProtocol.on_body(self, body)

    def on_message_complete(self) -> None:
        """Note that a request is complete."""
        self._framing, self.receiving_since = 0, None
        HttpToolsProtocol.on_message_complete(self)

    @property
    def idle(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def unsent(self) -> int:
        """How many bytes of responses the client has not taken."""
        return 0 if self.transport.is_closing() else int(self.transport.get_write_buffer_size())

    def refuse(self, answer: bytes) -> None:
        """Close the connection; say why, unless a response has begun."""
        if self.transport.is_closing():
            return
        if self.idle and not self.unsent:
            self.transport.write(answer)
            self.transport.close()
        else:
            self.transport.abort()

    def check(self, now: float) -> int:
        """Close the connection if it takes too long; return how many bytes are unsent."""
        if self.receiving_since is not None and now - self.receiving_since > REQUEST_SECONDS:
            self.refuse(TIMEOUT)
        unsent = self.unsent
        if not unsent or unsent < self._unsent:
            self._sending_since = math.inf
        if unsent:
            self._sending_since = min(self._sending_since, now)
        self._unsent = unsent
        if now - self._sending_since > SEND_SECONDS:
            self.transport.abort()
        return unsent


def limited_to(most: int) -> type[LimitedProtocol]:
    """Return the protocol of a server with at most so many connections."""
    return type("LimitedProtocol", (LimitedProtocol,), {"most": most})


def allow_files(count: int) -> int:
    """Raise the limit of open files to ``count``, if that is allowed; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return count if soft == resource.RLIM_INFINITY else soft


def drop_one(connections: Collection[Any], new: LimitedProtocol) -> None:
    """Drop the connection that has been sending its request for longest, or an idle one.

    A request of a good client is complete within milliseconds. If all are being answered, the new
    connection is dropped.
    """
    others = [one for one in connections if one is not new]
    receiving = [one for one in others if one.receiving_since is not None]
    if receiving:
        min(receiving, key=lambda one: one.receiving_since).transport.abort()
    else:
        next((one for one in others if one.idle), new).transport.abort()


def check_connections(connections: Collection[Any]) -> None:
    """Close connections that take too long, and the largest ones if too much is unsent."""
    now = time.monotonic()
    unsent = {one: one.check(now) for one in list(connections)}
    total = sum(unsent.values())
    while total > UNSENT_BYTES:
        largest = max(unsent, key=lambda one: unsent[one])
        largest.transport.abort()
        total -= unsent.pop(largest)
