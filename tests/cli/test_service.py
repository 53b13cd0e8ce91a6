"""The commands around the service, as a user runs them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from evenhand.service.engine.counters import packed, unpacked
from tests.service.servers import Server

BODY = {"arms": [{"name": "a", "floor": 0.4}, {"name": "b"}], "plays": 1}


@pytest.fixture
def database(tmp_path):
    return f"sqlite:///{tmp_path}/shop.db"


@pytest.fixture
def server(database):
    server = Server("--database", database)
    yield server
    server.kill()


def fill(url, decisions=30):
    assert httpx.put(f"{url}/v1/bandits/shelf", json=BODY).status_code == 201
    for number in range(decisions):
        made = httpx.post(f"{url}/v1/bandits/shelf/decisions", json={"id": str(number)}).json()
        body = {"decision": made["id"], "rewards": dict.fromkeys(made["chosen"], 1)}
        assert httpx.post(f"{url}/v1/bandits/shelf/feedback", json=body).status_code == 200


def test_a_server_serves_verifies_exports_imports_and_compacts(
    server, database, evenhand, tmp_path
):
    fill(server.url)
    assert "agrees" in evenhand("db", "verify", "--database", database).stdout
    out, other = tmp_path / "shelf.jsonl", f"sqlite:///{tmp_path}/other.db"
    assert evenhand("db", "export", "--database", database, "--out", out).returncode == 0
    printed = evenhand("db", "export", "shelf", "--database", database).stdout
    assert printed == out.read_text(encoding="utf-8")
    done = evenhand("db", "import", out, "--database", other)
    assert (done.returncode, done.stdout) == (0, "imported shelf: 61 events\n")
    again = evenhand("db", "import", out, "--database", other)
    assert again.returncode == 2
    assert "does not exist yet" in again.stderr
    compacted = evenhand("db", "compact", "--older-than", "0", "--database", other)
    assert compacted.stdout == "shelf: 30 decisions compacted\n"
    assert evenhand("db", "verify", "--database", other).returncode == 0
    assert httpx.post(f"{server.url}/v1/bandits/shelf/decisions", json={}).json()["round"] == 31


def test_an_export_into_a_pipe_that_is_closed_ends_quietly(server, database):
    arms = [{"name": f"an arm with a long name {i}"} for i in range(5_000)]
    body = {"arms": arms, "plays": 1}
    assert httpx.put(f"{server.url}/v1/bandits/large", json=body).status_code == 201
    words = [sys.executable, "-m", "evenhand", "db", "export", "--database", database]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as export:
        export.stdout.readline()
        export.stdout.close()
        said = export.stderr.read()
    assert (export.returncode, said) == (1, b"")


def test_a_counter_that_is_wrong_has_an_exit_code(server, database, evenhand):
    import sqlite3

    fill(server.url, 3)
    server.stop()
    with sqlite3.connect(database.removeprefix("sqlite:///")) as connection:
        counters = unpacked(connection.execute("SELECT body FROM counters").fetchone()[0])
        counters.state.played[0] += 1
        connection.execute("UPDATE counters SET body = ?", (packed(counters),))
    connection.close()
    done = evenhand("db", "verify", "--database", database)
    assert done.returncode == 1
    assert "1 differ" in done.stdout
    assert "shelf: played of arm 'a'" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_end_does_so_in_order(server, number):
    fill(server.url, 3)
    code, seconds = server.stop(number)
    assert code == 0
    assert seconds < 10


def test_a_server_for_others_wants_a_key_first(database, evenhand):
    refused = evenhand("serve", "--host", "0.0.0.0", "--port", "0", "--database", database)
    assert refused.returncode == 2
    assert "keys create" in refused.stderr
    made = evenhand(
        "db",
        "keys",
        "create",
        "shop",
        "--scope",
        "decide",
        "--scope",
        "admin",
        "--database",
        database,
    )
    assert made.returncode == 0
    secret = made.stdout.strip()
    server = Server("--host", "0.0.0.0", "--database", database)
    url = f"http://127.0.0.1:{server.port}"
    try:
        assert httpx.get(f"{url}/v1/bandits").status_code == 401
        header = {"authorization": f"Bearer {secret}"}
        assert httpx.get(f"{url}/v1/bandits", headers=header).status_code == 200
        listed = evenhand("db", "keys", "list", "--database", database).stdout
        assert "shop" in listed
        assert secret.rpartition("_")[2] not in listed
        key = secret.split("_")[1]
        assert evenhand("db", "keys", "revoke", key, "--database", database).returncode == 0
        assert evenhand("db", "keys", "revoke", "nonsense", "--database", database).returncode == 2
        for _ in range(50):
            if httpx.get(f"{url}/v1/bandits", headers=header).status_code == 401:
                break
            import time

            time.sleep(0.1)
        else:
            pytest.fail("the key still opens the service")
    finally:
        server.kill()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "--database", "mysql://x"], "unknown scheme of a database"),
        (["serve", "--database", "postgresql://nobody@127.0.0.1:1/x"], "can be reached"),
        (["serve", "--port", "99999"], "port must be a whole number <= 65535, got 99999"),
        (["serve", "--config", "none.toml"], "none.toml"),
        (["db", "verify", "--database", "sqlite:///nowhere.db"], "SQLite file, got 'nowhere.db'"),
        (["db", "export", "--database", "sqlite:///nowhere.db"], "existing SQLite file"),
        (["db", "compact", "--older-than", "1", "--database", "sqlite:///nowhere.db"], "existing"),
        (["db", "import", "nowhere.jsonl", "--database", "memory:"], "nowhere.jsonl"),
        (["db", "keys", "create", "x", "--scope", "all", "--database", "memory:"], "unknown scope"),
        (["db", "keys", "create", " ", "--scope", "read", "--database", "memory:"], "label of a"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_a_line(arguments, words, evenhand, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = evenhand(*arguments)
    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_said_to_be(server, database, process):
    done = process("serve", "--port", server.port, "--database", database)
    assert done.returncode != 0
    assert "port must be free" in done.stdout + done.stderr


def test_settings_come_from_a_file_and_the_command_line_wins(tmp_path, database):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = tmp_path / "evenhand.toml"
    config.write_text(
        f'database = "{database}"\nport = 1\nbody_bytes = 1000\n[uvicorn]\nlog_level = "error"\n',
        encoding="utf-8",
    )
    server = Server("--config", str(config), port=port)
    try:
        assert server.port == port
        answer = httpx.put(f"{server.url}/v1/bandits/x", content=b" " * 1_001)
        assert answer.status_code == 413
    finally:
        server.kill()


@pytest.mark.parametrize(
    "text",
    [
        "prot = 1", "port = 'x'", "port = ", "body_bytes = 1",
        "database = 'memory:'\n[uvicorn]\nhost = '0.0.0.0'",
        "database = 'memory:'\n[uvicorn]\nnonsense = 1",
    ],
)  # fmt: skip
def test_settings_that_are_wrong_are_refused(text, tmp_path, evenhand):
    config = tmp_path / "evenhand.toml"
    config.write_text(text, encoding="utf-8")
    done = evenhand("serve", "--config", config)
    assert done.returncode == 2
    assert "config" in done.stderr


@pytest.mark.parametrize(
    "arguments", [["keys", "create", "x", "--scope", "all"], ["import", "nowhere.jsonl"]]
)
def test_a_refused_command_creates_no_database(arguments, evenhand, tmp_path):
    path = tmp_path / "new.db"
    assert evenhand("db", *arguments, "--database", f"sqlite:///{path}").returncode != 0
    assert not path.exists()


def test_an_export_that_fails_leaves_no_file(database, server, evenhand, tmp_path):
    fill(server.url, 2)
    done = evenhand("db", "export", "none", "--database", database, "--out", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert not list(tmp_path.glob("*.jsonl"))
    assert not list(tmp_path.glob("tmp*"))
    away = evenhand("db", "export", "--database", database, "--out", tmp_path / "no" / "out.jsonl")
    assert away.returncode != 0
    assert (
        json.loads(evenhand("db", "export", "--database", database).stdout.splitlines()[0])[
            "bandits"
        ]
        == 1
    )
