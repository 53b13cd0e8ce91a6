"""What tests of limits look at: a server's memory, its connections, and how long it takes."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress

import httpx
import psutil

MEGABYTE = 1_000_000


def memory_of(server):
    return psutil.Process(server.process.pid).memory_info().rss


def connected(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def closed_within(one, seconds):
    """Say whether the server closes a connection in time."""
    one.settimeout(seconds)
    try:
        while one.recv(65_536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


@contextmanager
def watched(server, path="/livez"):
    """Ask again and again, in a thread; yield how long each answer took."""
    waits, done = [], threading.Event()

    def watch():
        with httpx.Client(timeout=30) as http:
            while not done.is_set():
                start = time.monotonic()
                with suppress(httpx.TransportError):
                    assert http.get(f"{server.url}{path}").status_code == 200
                waits.append(time.monotonic() - start)
                time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield waits
    done.set()
    watcher.join()
