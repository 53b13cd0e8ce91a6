"""What those who watch are given: all at a glance, the last decisions, news as it comes, a page."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import httpx
import pytest

from evenhand.service.http import live as live_module
from evenhand.service.http.auth import Authenticator
from evenhand.service.http.operations import ApiRequest
from evenhand.service.http.pages import POLICY, read_files
from evenhand.service.problems import ProblemError
from evenhand.service.stores import open_store
from evenhand.service.views import overview
from evenhand.service.views.decisions import newest_decisions
from evenhand.service.views.overview import OverviewCache

BODY = {"arms": [{"name": "news", "floor": 0.3}, {"name": "arts"}], "plays": 1}


def test_all_bandits_are_seen_at_a_glance(app):
    for name, floors in (("b", (0.5, 0.2)), ("a", (0.0, 0.0)), ("c", (0.9, 0.0))):
        arms = [{"name": f"arm {i}", "floor": floor} for i, floor in enumerate(floors)]
        app.put(f"/v1/bandits/{name}", json={"arms": arms, "plays": 1})
    for number in range(20):
        app.post("/v1/bandits/c/decisions", json={"awake": ["arm 1"], "id": str(number)})
    found = {one["name"]: one for one in app.get("/v1/overview").json()["bandits"]}
    assert list(found) == ["a", "b", "c"]
    assert (found["a"]["floors"], found["a"]["arms"]) == (0, 2)
    assert (found["b"]["floors"], found["b"]["kept"]) == (2, 2)
    assert (found["c"]["kept"], found["c"]["behind"], found["c"]["impossible"]) == (0, 1, 0)
    assert found["c"]["largest_debt"] == pytest.approx(18.0)
    assert (found["c"]["rounds"], found["c"]["pending"]) == (20, 20)


def test_floors_that_cannot_be_kept_are_counted_and_named(app):
    arms = [{"name": "rare", "floor": 0.5}, {"name": "often", "floor": 0.1}]
    app.put("/v1/bandits/shelf", json={"arms": arms, "plays": 1})
    for number in range(150):
        awake = ["rare", "often"] if number % 10 == 0 else ["often"]
        app.post("/v1/bandits/shelf/decisions", json={"awake": awake})
    [glance] = app.get("/v1/overview").json()["bandits"]
    assert (glance["impossible"], glance["kept"]) == (1, 1)
    assert "'rare'" in glance["warnings"][0]["detail"]
    standings = {
        a["name"]: a["standing"] for a in app.get("/v1/bandits/shelf/state").json()["arms"]
    }
    assert standings == {"rare": "impossible", "often": "kept"}


def test_a_bandit_to_which_nothing_has_happened_is_not_looked_at_again(shelf, monkeypatch):
    looked = []
    kept = overview.summary_of
    monkeypatch.setattr(overview, "summary_of", lambda *given: looked.append(1) or kept(*given))
    for _ in range(3):
        shelf.get("/v1/overview")
    assert len(looked) == 1
    shelf.post("/v1/bandits/shelf/decisions", json={})
    shelf.get("/v1/overview")
    assert len(looked) == 2


def test_a_bandit_of_the_same_name_is_another_one(shelf):
    shelf.post("/v1/bandits/shelf/decisions", json={})
    assert shelf.get("/v1/overview").json()["bandits"][0]["rounds"] == 1
    shelf.delete("/v1/bandits/shelf")
    assert shelf.get("/v1/overview").json()["bandits"] == []
    shelf.put("/v1/bandits/shelf", json=BODY)
    [glance] = shelf.get("/v1/overview").json()["bandits"]
    assert (glance["rounds"], glance["arms"]) == (0, 2)


def test_the_newest_decisions_come_first(shelf):
    for number in range(60):
        chosen = shelf.post("/v1/bandits/shelf/decisions", json={"id": f"d{number}"}).json()[
            "chosen"
        ]
        if number % 2:
            item = {"decision": f"d{number}", "rewards": dict.fromkeys(chosen, 1.0)}
            shelf.post("/v1/bandits/shelf/feedback", json=item)
    shelf.delete("/v1/bandits/shelf/decisions/d58")
    found = shelf.get("/v1/bandits/shelf/decisions").json()["decisions"]
    assert [one["id"] for one in found] == [f"d{number}" for number in range(59, 9, -1)]
    assert [one["state"] for one in found[:3]] == ["told", "cancelled", "told"]
    assert found[0]["told"] == dict.fromkeys(found[0]["chosen"], 1.0)
    assert found[0]["awake"] == 3
    few = shelf.get("/v1/bandits/shelf/decisions?limit=3").json()["decisions"]
    assert few == found[:3]


def test_decisions_are_found_behind_much_else(shelf):
    """Much feedback may lie between a decision and the end of the log."""
    made = [
        shelf.post("/v1/bandits/shelf/decisions", json={"id": str(i)}).json() for i in range(40)
    ]
    items = [
        {"decision": one["id"], "rewards": {arm: 1.0}} for one in made for arm in one["chosen"]
    ]
    shelf.post("/v1/bandits/shelf/feedback", json={"items": items})
    with shelf.service.store.view() as view:
        found = newest_decisions(view, "shelf", 2).decisions
    assert [(one.id, len(one.told)) for one in found] == [("39", 2), ("38", 2)]


def test_reasons_can_be_asked_for_until_the_server_ends(serve, tmp_path):
    server = serve("--database", f"sqlite:///{tmp_path}/why.db")
    path = f"{server.url}/v1/bandits/shelf"
    httpx.put(path, json=BODY)
    made = httpx.post(f"{path}/decisions", json={}).json()
    seen = httpx.get(f"{path}/decisions/{made['id']}").json()
    assert [reason["chosen"] for reason in seen["reasons"]].count(True) == 1
    assert seen["reasons"][0]["probability"] == pytest.approx(0.5)
    server.stop()
    again = serve("--database", f"sqlite:///{tmp_path}/why.db")
    seen = httpx.get(f"{again.url}/v1/bandits/shelf/decisions/{made['id']}").json()
    assert seen["reasons"] is None


class Follower:
    """Reads a stream in a thread, until it ends."""

    def __init__(self, url, **more):
        self.events, self.ended, self.status = [], threading.Event(), None
        self._given = url, more
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        url, more = self._given
        try:
            with httpx.stream("GET", url, timeout=20, **more) as answer:
                self.status, self.headers = answer.status_code, answer.headers
                kind = ""
                for line in answer.iter_lines():
                    if line.startswith("event: "):
                        kind = line[7:]
                    elif line.startswith("data: "):
                        self.events.append((kind, json.loads(line[6:])))
        except httpx.HTTPError as error:
            self.events.append(("error", str(error)))
        self.ended.set()

    def wait(self, condition, seconds=10.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition(self.events):
                return True
            time.sleep(0.02)
        return False


def test_news_come_as_they_happen_and_nothing_twice(serve):
    server = serve("--database", "memory:")
    path = f"{server.url}/v1/bandits/shelf"
    httpx.put(path, json=BODY)
    follower = Follower(f"{server.url}/v1/live?bandit=shelf")
    assert follower.wait(lambda events: len(events) >= 2)
    assert [kind for kind, _ in follower.events][:2] == ["state", "decisions"]
    assert follower.headers["content-type"] == "text/event-stream"
    assert "no-store" in follower.headers["cache-control"]
    httpx.post(f"{path}/decisions", json={"id": "d-1"})
    assert follower.wait(
        lambda events: any(
            kind == "decisions" and [d["id"] for d in data["decisions"]] == ["d-1"]
            for kind, data in events
        )
    )
    assert follower.wait(
        lambda events: any(kind == "state" and data["rounds"] == 1 for kind, data in events)
    )
    time.sleep(2.5)
    assert [kind for kind, _ in follower.events].count("decisions") == 2
    code, seconds = server.stop()
    assert (code, follower.ended.wait(5)) == (0, True)
    assert seconds < 8.0


def test_a_stream_ends_when_the_key_is_revoked_or_the_bandit_is_gone(serve, evenhand_keys):
    server, (_, admin), (reader_id, reader), revoke = evenhand_keys
    headers = {"authorization": f"Bearer {admin}"}
    httpx.put(f"{server.url}/v1/bandits/shelf", json=BODY, headers=headers)
    watched = Follower(
        f"{server.url}/v1/live?bandit=shelf", headers={"authorization": f"Bearer {reader}"}
    )
    other = Follower(f"{server.url}/v1/live?bandit=shelf", headers=headers)
    assert watched.wait(lambda events: len(events) >= 2)
    assert other.wait(lambda events: len(events) >= 2)
    revoke(reader_id)
    assert watched.ended.wait(5)
    assert not other.ended.is_set()
    httpx.delete(f"{server.url}/v1/bandits/shelf", headers=headers)
    assert other.ended.wait(5)
    refused = Follower(f"{server.url}/v1/live")
    assert refused.ended.wait(5)
    assert refused.status == 401


def test_a_bandit_that_there_is_not_cannot_be_watched(serve):
    server = serve("--database", "memory:")
    assert httpx.get(f"{server.url}/v1/live?bandit=none").status_code == 404
    assert httpx.head(f"{server.url}/v1/live").status_code == 200


def test_what_many_watch_is_worked_out_once_and_what_takes_long_less_often():
    worked_out = []

    class Reader:
        async def read(self, look):
            worked_out.append(time.monotonic())
            return look(None)

    def slow(view):
        start = time.thread_time()
        while time.thread_time() < start + 0.05:
            pass
        return 7

    async def run():
        live = live_module.LiveStreams(Reader())
        end = time.monotonic() + 1.6
        while time.monotonic() < end:
            bodies = [live._shared("state", "shelf", slow) for _ in range(20)]
            assert await asyncio.gather(*bodies) == [b"7"] * 20
            await asyncio.sleep(0.05)

    asyncio.run(run())
    assert len(worked_out) <= 2
    assert all(later - worked_out[0] >= 20 * 0.05 for later in worked_out[1:])


def test_too_many_watchers_are_turned_away_until_somebody_leaves(monkeypatch):
    class Reader:
        overview = OverviewCache()
        auth = Authenticator(loopback=True)

        async def read(self, look):
            with store.view() as view:
                return look(view)

    store = open_store("memory:")
    monkeypatch.setattr(live_module, "MOST_STREAMS", 1)
    call = ApiRequest({}, {}, b"", {b"host": b"localhost"})

    async def run():
        live = live_module.LiveStreams(Reader())
        stream = await live.open(call)
        first = stream.body_iterator
        assert await anext(first) == b'event: overview\ndata: {"bandits":[]}\n\n'
        with pytest.raises(ProblemError) as refused:
            await live.open(call)
        assert refused.value.status == 429
        await first.aclose()
        stream.close()
        assert (await live.open(call)).status_code == 200

    asyncio.run(run())


def test_an_error_in_mid_stream_ends_it_and_is_no_second_answer(app, monkeypatch, caplog):
    async def flow():
        yield b": first\n\n"
        raise RuntimeError("in mid-stream")

    async def watch(call):
        return live_module.EventStream(flow(), lambda: None)

    monkeypatch.setattr(app.service.live, "open", watch)
    answer = app.get("/v1/live")
    assert (answer.status_code, answer.text) == (200, ": first\n\n")
    assert "in mid-stream" in caplog.text


@pytest.mark.parametrize("name", ["%00", "a%20b", "%F0%9F%98%80", "x" * 300])
def test_what_can_be_nobodys_name_is_not_looked_for(app, name):
    assert app.get(f"/v1/live?bandit={name}").status_code == 404


def test_too_many_questions_at_once_are_turned_away(shelf, monkeypatch):
    monkeypatch.setattr(shelf.service.computer, "_waiting", 0)
    assert shelf.post("/v1/bandits/shelf/what-if", json={}).status_code == 429


def test_the_page_lets_nothing_in_but_its_own_files(app):
    page = app.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for path in ("/", "/page/app.js", "/docs"):
        assert app.get(path).headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    for file in read_files():
        assert app.get(f"/page/{file}").status_code == 200
    for word in ("<style", "style=", "<script>", "onclick", "http://", "https://"):
        assert word not in page.text
        assert word not in app.get("/docs").text


@pytest.mark.parametrize(
    "path", ["nothing.js", "../_service.py", "..%2f_service.py", "%2e%2e/_service.py", "vendor", ""]
)
def test_no_other_file_is_sent(app, path):
    assert app.get(f"/page/{path}").status_code == 404


def test_a_file_that_the_browser_has_is_not_sent_again(app):
    first = app.get("/page/app.js")
    again = app.get("/page/app.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert app.get("/page/app.js", headers={"if-none-match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("history?range=week", "range"),
        ("decisions?limit=0", "limit"),
        ("decisions?limit=1001", "limit"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(shelf, path, field):
    answer = shelf.get(f"/v1/bandits/shelf/{path}")
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_history_and_what_if_answer_over_http(shelf):
    history = shelf.get("/v1/bandits/shelf/history?range=all&arm=news&arm=sport").json()
    assert [arm["name"] for arm in history["arms"]] == ["news", "sport"]
    assert shelf.get("/v1/bandits/shelf/history?arm=").json()["arms"] == []
    answer = shelf.post("/v1/bandits/shelf/what-if", json={"floors": {"news": 0.5}}).json()
    assert answer["feasible"]
    assert answer["arms"][0]["floor"] == 0.5
    bad = shelf.post("/v1/bandits/shelf/what-if", json={"floors": {"news": 1.5}})
    assert (bad.status_code, bad.json()["value"]) == (422, 1.5)
    assert shelf.post("/v1/bandits/none/what-if", json={}).status_code == 404
