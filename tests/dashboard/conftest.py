"""A real browser on a real server: what the tests of the dashboard stand on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import sync_playwright

from tests.service.servers import Server

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text("utf-8")
BODY = {
    "arms": [
        {"name": "news", "floor": 0.3},
        {"name": "arts", "floor": 0.2},
        {"name": "sport"},
        {"name": "film", "floor": 0.1},
    ],
    "plays": 2,
}


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium; without one the tests are left out, but not where everything is tested."""
    if CHROMIUM is None:
        if os.environ.get("CI") == "true":
            pytest.fail("there is no chromium, and without one the dashboard is not tested")
        pytest.skip("there is no chromium: 'apt install chromium' brings one")
    # Playwright's event loop ends with the module: other tests want their own.
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


class Api:
    """A server and a bandit on it, driven over HTTP."""

    def __init__(self, server, key=None):
        self.server, self.url = server, server.url
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self.http = httpx.Client(base_url=server.url, headers=headers, timeout=20)

    def create(self, name="shelf", body=BODY):
        assert self.http.put(f"/v1/bandits/{name}", json=body).status_code == 201
        return name

    def play(self, rounds, name="shelf", awake=None, rewards=None):
        """Ask and tell so many times; arms return 0.5 unless it is said what."""
        for _ in range(rounds):
            body = {} if awake is None else {"awake": awake}
            made = self.http.post(f"/v1/bandits/{name}/decisions", json=body).json()
            told = {arm: (rewards or {}).get(arm, 0.5) for arm in made["chosen"]}
            item = {"decision": made["id"], "rewards": told}
            if made["chosen"]:
                self.http.post(f"/v1/bandits/{name}/feedback", json=item)

    def state(self, name="shelf"):
        return self.http.get(f"/v1/bandits/{name}/state").json()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that tests share: each makes bandits of its own."""
    started = Server("--database", f"sqlite:///{tmp_path_factory.mktemp('watched')}/watched.db")
    yield started
    started.kill()


@pytest.fixture
def api(server):
    """A server without bandits."""
    driven = Api(server)
    yield driven
    for name in driven.http.get("/v1/bandits").json()["bandits"]:
        driven.http.delete(f"/v1/bandits/{name}")
    driven.http.close()


@pytest.fixture
def open_page(browser):
    """Open pages; whatever they complain about fails the test."""
    contexts, complaints = [], []

    def open_(url, *, width=1_280, scheme="light", height=900, allow=()):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))

        def heard(message):
            allowed = any(part in message.text for part in allow)
            if message.type in ("error", "warning") and not allowed:
                complaints.append(message.text)

        page.on("console", heard)
        page.goto(url)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def violations():
    """Return what axe finds on a page: violations that are serious or worse."""

    def look(page):
        page.evaluate(AXE)
        found = page.evaluate("() => axe.run()")
        assert found["passes"]
        return [
            (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]][:3])
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]

    return look
