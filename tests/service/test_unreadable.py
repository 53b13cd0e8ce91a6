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


@pytest.mark.parametrize(("table", "change"), DAMAGE.values(), ids=DAMAGE)
def test_one_unreadable_bandit_disturbs_nobody(tmp_path, serve, table, change):
    path = tmp_path / "unreadable.db"
    database = f"sqlite:///{path}"
    server = serve("--database", database)
    for name in ("bad", "good"):
        assert httpx.put(f"{server.url}/v1/bandits/{name}", json=SHELF).status_code == 201
        httpx.post(f"{server.url}/v1/bandits/{name}/decisions", json={"id": "d"})
    server.stop()
    with sqlite3.connect(path) as connection:
        [body] = connection.execute(f"SELECT body FROM {table} WHERE bandit = 1").fetchone()
        connection.execute(f"UPDATE {table} SET body = ? WHERE bandit = 1", [change(body)])
    connection.close()
    server = serve("--database", database)
    bad, good = (f"{server.url}/v1/bandits/{name}" for name in ("bad", "good"))
    for method, url in [
        ("GET", bad),
        ("GET", f"{bad}/state"),
        ("POST", f"{bad}/decisions"),
        ("PATCH", f"{bad}/arms/news"),
    ]:
        content = None if method == "GET" else b"{}"
        answer = httpx.request(method, url, content=content)
        assert answer.status_code == 503, answer.text
        assert "bandit 'bad' cannot be read" in answer.json()["detail"]
    overview = httpx.get(f"{server.url}/v1/overview").json()["bandits"]
    assert [one["name"] for one in overview] == ["bad", "good"]
    assert overview[0]["warnings"][0]["kind"] == "unreadable"
    metrics = httpx.get(f"{server.url}/metrics").text
    assert 'evenhand_unreadable{bandit="bad"} 1.0' in metrics
    assert 'evenhand_pending{bandit="good"}' in metrics
    assert httpx.post(f"{good}/decisions", json={}).status_code == 201
    time.sleep(1.7)
    assert httpx.get(f"{good}/decisions/d").json()["state"] == "expired"
    before = sum(psutil.Process(server.process.pid).cpu_times()[:2])
    time.sleep(1.0)
    assert sum(psutil.Process(server.process.pid).cpu_times()[:2]) < before + 0.5
    verified = run("verify", database)
    assert verified.returncode == 1
    assert "bad: " in verified.stdout
    exported = run("export", database, "bad")
    assert exported.returncode == 0
    assert json.loads(exported.stdout.splitlines()[-1])["end"] == "bad"
    assert httpx.delete(bad).status_code == 204
    assert httpx.get(bad).status_code == 404
    server.process.terminate()
    said = server.process.communicate(timeout=20)[0]
    assert "Traceback" not in said
    assert len(said.splitlines()) < 20
    assert run("verify", database).returncode == 0
