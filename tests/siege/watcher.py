"""Asks servers whether they are alive, in a process of its own: ``watcher FILE PORT...``.

Each line of the file is: the server's number, when it was asked, how long it took, and the status,
0 for no answer in time. A server that is being restarted refuses the connection: that is no line.
"""

from __future__ import annotations

import http.client
import sys
import threading
import time

PAUSE_SECONDS, PATIENCE_SECONDS = 0.05, 10.0


def watch(file, number, port):
    while True:
        start = time.monotonic()
        status = ask(port)
        if status is not None:
            file.write(f"{number} {start} {time.monotonic() - start} {status}\n")
        time.sleep(PAUSE_SECONDS)


def ask(port):
    """Return the status of /livez; 0 if it takes too long, None if the connection is refused."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", "/livez")
        return connection.getresponse().status
    except TimeoutError:
        return 0
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


if __name__ == "__main__":
    with open(sys.argv[1], "w", buffering=1, encoding="ascii") as lines:
        for index, given in enumerate(sys.argv[2:]):
            threading.Thread(target=watch, args=(lines, index, int(given)), daemon=True).start()
        sys.stdin.read()
