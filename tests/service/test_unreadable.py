"""A bandit that cannot be read is named, can be exported and deleted, and disturbs nobody."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
import zlib

import httpx
import psutil
import pytest

from tests.service.servers import Server

SHELF = {
    "arms": [{"name": "news", "floor": 0.3}, {"name": "arts"}],
    "plays": 1,
    "feedback": {"timeout_seconds": 1.0},
}


def no_such_policy(body):
    document = json.loads(zlib.decompress(body))
    document["policy"]["name"] = "gone"
    return zlib.compress(json.dumps(document).encode())


def run(command, database, *more):
    """Run a command on a database."""
    words = [sys.executable, "-m", "evenhand", "db", command, *more, "--database", database]
    return subprocess.run(words, capture_output=True, text=True, check=False)


DAMAGE = {
    "a policy that is gone": ("configs", no_such_policy),
    "a damaged configuration": ("configs", lambda body: body[:20] + b"\x00" + body[21:]),
    "an empty configuration": ("configs", lambda body: b""),
    "damaged counters": ("counters", lambda body: body[:-1] + b"?"),
    "counters of nothing": ("counters", lambda body: b""),
}
BAD = [f"bad-{number}" for number in range(len(DAMAGE))]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A database with a bandit for each kind of damage, and a good one."""
    path = tmp_path_factory.mktemp("unreadable") / "unreadable.db"
    server = Server("--database", f"sqlite:///{path}")
    for name in (*BAD, "good"):
        assert httpx.put(f"{server.url}/v1/bandits/{name}", json=SHELF).status_code == 201
        httpx.post(f"{server.url}/v1/bandits/{name}/decisions", json={"id": "d"})
    server.stop()
    with sqlite3.connect(path) as connection:
        for key, (table, change) in enumerate(DAMAGE.values(), start=1):
            query = f"SELECT body FROM {table} WHERE bandit = ?"
            [body] = connection.execute(query, [key]).fetchone()
            connection.execute(f"UPDATE {table} SET body = ? WHERE bandit = ?", [change(body), key])
    connection.close()
    return f"sqlite:///{path}"


@pytest.fixture(scope="module")
def server(database):
    found = Server("--database", database)
    yield found
    found.kill()


@pytest.mark.parametrize("name", BAD, ids=DAMAGE)
def test_an_unreadable_bandit_is_refused_with_a_sentence(server, name):
    bad = f"{server.url}/v1/bandits/{name}"
    for method, url in [
        ("GET", bad),
        ("GET", f"{bad}/state"),
        ("POST", f"{bad}/decisions"),
        ("PATCH", f"{bad}/arms/news"),
    ]:
        content = None if method == "GET" else b"{}"
        answer = httpx.request(method, url, content=content)
        assert answer.status_code == 503, answer.text
        assert f"bandit '{name}' cannot be read" in answer.json()["detail"]


def test_it_is_named_where_all_bandits_are(server, database):
    overview = httpx.get(f"{server.url}/v1/overview").json()["bandits"]
    kinds = {one["name"]: [warning["kind"] for warning in one["warnings"]] for one in overview}
    assert kinds == {**{key: ["unreadable"] for key in BAD}, "good": []}
    metrics = httpx.get(f"{server.url}/metrics").text
    for name in BAD:
        assert f'evenhand_unreadable{{bandit="{name}"}} 1.0' in metrics
    assert 'evenhand_pending{bandit="good"}' in metrics
    verified = run("verify", database)
    assert verified.returncode == 1
    assert all(f"{name}: " in verified.stdout for name in BAD)


def test_it_disturbs_nobody(server):
    good = f"{server.url}/v1/bandits/good"
    assert httpx.post(f"{good}/decisions", json={}).status_code == 201
    time.sleep(1.7)
    assert httpx.get(f"{good}/decisions/d").json()["state"] == "expired"
    before = sum(psutil.Process(server.process.pid).cpu_times()[:2])
    time.sleep(1.0)
    assert sum(psutil.Process(server.process.pid).cpu_times()[:2]) < before + 0.5


def test_it_can_be_exported_and_deleted(server, database):
    exported = run("export", database, *BAD)
    assert exported.returncode == 0
    assert json.loads(exported.stdout.splitlines()[-1])["end"] == BAD[-1]
    for name in BAD:
        bad = f"{server.url}/v1/bandits/{name}"
        assert httpx.delete(bad).status_code == 204
        assert httpx.get(bad).status_code == 404
    server.process.terminate()
    said = server.process.communicate(timeout=20)[0]
    assert "Traceback" not in said
    assert len(said.splitlines()) < 30
    assert run("verify", database).returncode == 0
