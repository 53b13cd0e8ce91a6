"""The attacks, done again and again: functions of the siege and a random generator.

Each returns whether it could be done.
"""

from __future__ import annotations

import json
import signal
import socket
import time
from contextlib import suppress

import httpx

HOSTILE = (
    b"",
    b"{",
    b"[" * 50_000,
    json.dumps({'", got ' * 10_000 + '-"': 1}).encode(),
    b'{"id": "\xed\xa0\x80"}',
    b'{"awake": [' + b'"x",' * 9_000 + b"7]}",
    b'{"items": [{"decision": "\\ud800", "rewards": {}}]}',
    b'{"decision": "d", "rewards": {"a": 1e999}}',
    b'{"id": "' + b"x" * 3_000_000 + b'"}',
)


def kill(siege, rng):
    """Kill a server, as a power cut would, and start it again."""
    number = rng.randrange(len(siege.servers))
    siege.servers[number].kill()
    siege.restart(number)
    return True


def stop(siege, rng):
    """Stop a server for a while, as a busy machine would."""
    number = rng.randrange(len(siege.servers))
    process = siege.servers[number].process
    with siege.excuses.excused(number), suppress(ProcessLookupError):
        process.send_signal(signal.SIGSTOP)
        time.sleep(rng.uniform(0.2, 3.0))
        process.send_signal(signal.SIGCONT)
    return True


def jump(siege, rng):
    """Set clocks: with PostgreSQL that of one server, otherwise that of the machine."""
    most = siege.world.largest_skew
    offset, everybody = rng.uniform(-most, most), range(len(siege.servers))
    for number in [rng.choice(everybody)] if siege.world.postgres else everybody:
        siege.set_clock(number, offset)
    return True


def cut(siege, rng):
    """Cut all connections to the database, or let them stall for a while."""
    proxy = siege.world.proxy
    if proxy is None:
        return False
    if rng.random() < 0.5:
        proxy.cut()
    else:
        proxy.stall()
        time.sleep(rng.uniform(0.2, 2.0))
        proxy.flow()
    return True


def crash(siege, rng):
    """Crash the database."""
    if siege.world.postgres is None:
        return False
    siege.world.crash(rng)
    return True


def fill(siege, rng):
    """Fill the disk of the database for a while."""
    disk, processes = siege.world.disk, [server.process for server in siege.servers]
    if siege.world.postgres is not None and not disk.mounted:
        return False
    with suppress(ProcessLookupError):
        disk.fill(processes)
    time.sleep(rng.uniform(0.2, 1.5))
    with suppress(ProcessLookupError):
        disk.make_room(processes)
    siege.world.revive()
    return True


def send_rubbish(siege, rng):
    """Send hostile bodies to every kind of address; no answer may be an error of the server."""
    url, body = siege.url(rng), rng.choice(HOSTILE)
    path = rng.choice(["decisions", "feedback", "what-if", "arms/%FF", "decisions/%2E%2E", "log"])
    method = rng.choice(["POST", "PUT", "PATCH", "GET", "DELETE"])
    with suppress(httpx.TransportError):
        answer = httpx.request(method, f"{url}/v1/bandits/shelf/{path}", content=body, timeout=20)
        siege.note(answer.status_code)
    return True


def crawl(siege, rng):
    """Open many connections, and send half a request on each."""
    port, opened = siege.servers[rng.randrange(len(siege.servers))].port, []
    for _ in range(100):
        with suppress(OSError):
            one = socket.create_connection(("127.0.0.1", port), timeout=1)
            one.sendall(b"POST /v1/bandits/shelf/feedback HTTP/1.1\r\nhost: localhost\r\nx: ")
            opened.append(one)
    time.sleep(rng.uniform(0.5, 2.0))
    for one in opened:
        one.close()
    return True


def pour(siege, rng):
    """Send large bodies on many connections at once, and hang up."""
    port, opened = siege.servers[rng.randrange(len(siege.servers))].port, []
    head = b"POST /v1/bandits/shelf/feedback HTTP/1.1\r\nhost: localhost\r\n"
    for _ in range(20):
        with suppress(OSError):
            one = socket.create_connection(("127.0.0.1", port), timeout=1)
            one.sendall(head + b"content-length: 4000000\r\n\r\n" + b" " * 1_000_000)
            opened.append(one)
    for one in opened:
        one.close()
    return True


def ask_and_hang_up(siege, rng):
    """Ask for what is dear to compute, and hang up at once."""
    port = siege.servers[rng.randrange(len(siege.servers))].port
    for _ in range(30):
        path = rng.choice(["state", "log?limit=10000", "history", "decisions?limit=1000"])
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as one:
            one.sendall(
                f"GET /v1/bandits/shelf/{path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()
            )
    time.sleep(0.2)
    return True


# What is done, and how many seconds pass between two times on average.
ATTACKS = {
    kill: 6.0,
    stop: 5.0,
    jump: 2.0,
    cut: 4.0,
    crash: 20.0,
    fill: 15.0,
    send_rubbish: 0.1,
    crawl: 3.0,
    pour: 3.0,
    ask_and_hang_up: 1.0,
}
