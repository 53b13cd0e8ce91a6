"""Engines: who answers, who refuses, and which versions must match."""

from __future__ import annotations

import pytest

from evenhand import InputError
from evenhand.provenance import matching_versions
from evenhand.sweeps.engines import Cluster, Local
from evenhand.sweeps.tasks import Task, check_versions, play_task


def test_local_workers_are_as_many_as_asked_for():
    assert Local(3).workers() == 3
    assert Local().workers() >= 1
    with pytest.raises(InputError, match="workers must be a whole number of at least 1, got 0"):
        Local(0)


def test_a_worker_with_other_packages_refuses_the_task():
    check_versions(matching_versions())
    other = {**matching_versions(), "numpy": "1.0"}
    with pytest.raises(InputError, match=r"worker must have numpy 1.0, .* got 2"):
        play_task(Task((), 7, 0, other))


def test_a_scheduler_has_workers_of_its_own():
    with pytest.raises(InputError, match="workers must be left out where a scheduler is named"):
        Cluster("tcp://127.0.0.1:1", workers=2)


def test_what_answers_but_is_no_scheduler_is_refused():
    import socketserver
    import threading

    class Chatty(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4)

    with socketserver.TCPServer(("127.0.0.1", 0), Chatty) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(InputError, match="scheduler must answer within 5 seconds, got none at"):
            Cluster(f"tcp://127.0.0.1:{server.server_address[1]}")
        server.shutdown()
