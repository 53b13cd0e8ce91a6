"""Fetching, against a real server on this machine."""

from __future__ import annotations

import hashlib
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from evenhand import InputError
from evenhand.lab.paper.movielens._fetch import cached, fetch

CONTENT = bytes(range(256)) * 9_000


class Site(BaseHTTPRequestHandler):
    asked: ClassVar[list] = []
    md5 = hashlib.md5(CONTENT).hexdigest()
    limit: ClassVar[int | None] = None

    def do_GET(self):
        given = self.headers.get("Range")
        Site.asked.append((self.path, given))
        if self.path.endswith(".md5"):
            return self._answer(200, f"MD5 (ml-1m.zip) = {Site.md5}\n".encode())
        start = int(given.removeprefix("bytes=").rstrip("-")) if given else 0
        if start >= len(CONTENT):
            return self._answer(416, b"")
        return self._answer(206 if given else 200, CONTENT[start:])

    def _answer(self, code, body):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: Site.limit])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def address(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    Site.asked, Site.md5 = [], hashlib.md5(CONTENT).hexdigest()
    monkeypatch.setattr(sys.modules["evenhand.lab.paper.movielens._fetch"], "MD5", {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_release_is_fetched_checked_and_found_again(address):
    told = []
    path = fetch("ml-1m", address=address, tell=lambda done, total: told.append((done, total)))
    assert path.read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert cached("ml-1m") == path
    before = len(Site.asked)
    fetch("ml-1m", address=address)
    assert len(Site.asked) == before, "what is in place and right needs no network"


def test_a_zip_in_place_with_the_wrong_md5_is_refused(address):
    fetch("ml-1m", address=address).write_bytes(b"junk")
    with pytest.raises(InputError, match="must have the md5"):
        cached("ml-1m")


def test_a_dropped_connection_keeps_what_has_come(address, tmp_path):
    Site.limit = 1_500_000
    with pytest.raises(InputError, match="the connection ended after 1,500,000 of"):
        fetch("ml-1m", address=address)
    Site.limit = None
    assert fetch("ml-1m", address=address).read_bytes() == CONTENT
    assert ("/ml-1m.zip", "bytes=1500000-") in Site.asked


@pytest.mark.parametrize("have", [1_000_000, len(CONTENT)])
def test_a_download_goes_on_where_it_stopped(address, tmp_path, have):
    part = tmp_path / "evenhand" / "movielens" / "ml-1m.zip.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT[:have])
    assert fetch("ml-1m", address=address).read_bytes() == CONTENT
    assert ("/ml-1m.zip", f"bytes={have}-") in Site.asked
    assert not part.exists()


def test_a_wrong_md5_is_thrown_away(address, tmp_path):
    Site.md5 = "0" * 32
    with pytest.raises(InputError, match="must have the md5 00000"):
        fetch("ml-1m", address=address)
    assert not list((tmp_path / "evenhand" / "movielens").iterdir())


def test_offline_one_sentence_says_where_to_put_the_file(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=r"put it at .*ml-100k.zip") as caught:
        fetch("ml-100k", address="http://127.0.0.1:9")
    assert "\n" not in str(caught.value)


def test_an_unknown_release_lists_the_known_ones(address):
    with pytest.raises(InputError, match="unknown release 'ml-20'; did you mean 'ml-20m'"):
        fetch("ml-20", address=address)


def test_a_release_that_is_not_there_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="evenhand lab movielens fetch ml-20m"):
        cached("ml-20m")
