"""Asks servers whether they are alive, in a process of its own: ``watcher FILE PORT...``.

Each line of the file is: the server's number, when it was asked, how long it took, the status.
"""

from __future__ import annotations

import http.client
import sys
import threading
import time
from contextlib import suppress

PAUSE_SECONDS = 0.05


def watch(file, number, port):
    while True:
        start = time.monotonic()
        with suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/livez")
            status = connection.getresponse().status
            took = time.monotonic() - start
            connection.close()
            file.write(f"{number} {start} {took} {status}\n")
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    with open(sys.argv[1], "w", buffering=1, encoding="ascii") as lines:
        for index, given in enumerate(sys.argv[2:]):
            threading.Thread(target=watch, args=(lines, index, int(given)), daemon=True).start()
        sys.stdin.read()
