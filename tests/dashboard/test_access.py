"""Everybody gets in who should, and can use it: keys, keyboards, screen readers, small screens."""

from __future__ import annotations

import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.dashboard.conftest import BODY, Api
from tests.service.servers import Server

REFUSED = ("Failed to load resource",)


@pytest.fixture(autouse=True)
def patience():
    expect.set_options(timeout=15_000)


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A server that wants keys, with one to read and one for everything."""
    database = f"sqlite:///{tmp_path_factory.mktemp('locked')}/locked.db"

    def key(scope):
        command = [
            sys.executable,
            "-m",
            "evenhand",
            "db",
            "keys",
            "create",
            scope,
            "--scope",
            scope,
        ]
        done = subprocess.run(
            [*command, "--database", database], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    keys = {scope: key(scope) for scope in ("read", "admin")}
    server = Server("--database", database)
    api = Api(server, keys["admin"])
    api.create(body={**BODY, "plays": 1})
    api.play(20)
    yield server.url, keys
    api.http.close()
    server.kill()


def sign_in(page, key):
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def test_a_wrong_key_is_refused_and_a_right_one_opens(locked, open_page):
    url, keys = locked
    page = open_page(url, allow=REFUSED)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_label("API key")).to_be_focused()
    sign_in(page, "\N{LEFT DOUBLE QUOTATION MARK}abc")
    expect(page.get_by_role("alert")).to_contain_text("a key has letters")
    sign_in(page, "eh_wrong")
    expect(page.get_by_role("alert")).to_have_text("the API key is unknown or has been revoked")
    sign_in(page, keys["read"])
    expect(page.get_by_role("link", name="shelf")).to_be_visible()
    assert keys["read"] not in page.url
    assert page.evaluate("localStorage.length") == 0
    assert page.evaluate("document.cookie") == ""
    page.reload()
    expect(page.get_by_role("link", name="shelf")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_key_is_sent_in_a_header_and_in_no_address(locked, open_page):
    url, keys = locked
    page = open_page(url, allow=REFUSED)
    asked = []
    page.on("request", lambda request: asked.append((request.url, request.headers)))
    sign_in(page, keys["read"])
    expect(page.get_by_role("link", name="shelf")).to_be_visible()
    assert all(keys["read"] not in address for address, _ in asked)
    told = [headers for address, headers in asked if "/v1/live" in address]
    assert told[-1]["authorization"] == f"Bearer {keys['read']}"


def test_who_may_only_read_is_told_so_when_applying(locked, open_page):
    url, keys = locked
    page = open_page(f"{url}/#/bandits/shelf", allow=REFUSED)
    sign_in(page, keys["read"])
    page.get_by_label("Floor", exact=True).fill("35")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("button", name="Change the floors").click()
    expect(page.locator(".verdict")).to_contain_text("Not applied: the API key must have the scope")
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, keys["admin"])
    page.get_by_label("Floor", exact=True).fill("35")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("button", name="Change the floors").click()
    expect(page.locator(".verdict")).to_contain_text("Applied")


def test_all_of_it_works_by_the_keyboard(api, open_page):
    api.create()
    api.play(10)
    page = open_page(api.url)
    expect(page.get_by_role("link", name="shelf")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="shelf")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".arms tbody tr")).to_have_count(4)
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
        if page.evaluate("document.activeElement.id") == "what-if-floor":
            break
    page.keyboard.press("ArrowRight")
    expect(page.locator(".changes")).to_have_text("news: 30.0% to 30.5%")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Apply")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert "what-if-arm" in seen


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1_280, "light")])
def test_axe_finds_nothing_serious_on_any_view(width, scheme, locked, open_page, violations):
    url, keys = locked
    page = open_page(url, width=width, scheme=scheme, allow=REFUSED)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert violations(page) == []
    sign_in(page, "wrong")
    expect(page.get_by_role("alert")).not_to_be_empty()
    assert violations(page) == []
    sign_in(page, keys["admin"])
    expect(page.get_by_role("link", name="shelf")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="shelf").click()
    expect(page.locator(".decisions li").first).to_be_visible()
    for closed in page.locator(".chart summary, .card > details > summary").all():
        closed.click()
    page.locator(".decisions summary").first.click()
    expect(page.locator(".decisions table")).to_be_visible()
    assert violations(page) == []
    page.get_by_label("Floor", exact=True).fill("99")
    expect(page.locator(".verdict")).to_have_attribute("data-kind", "bad")
    assert violations(page) == []
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    page.goto(f"{url}/docs")
    assert violations(page) == []


@pytest.mark.parametrize("width", [390, 768, 1_280, 1_920])
def test_nothing_sticks_out_of_any_screen(width, api, open_page):
    api.create()
    api.create(name="another-bandit-with-a-name-that-is-as-long-as-names-of-bandits-may-be")
    api.play(20)
    page = open_page(api.url, width=width)
    expect(page.get_by_role("link", name="shelf")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("link", name="shelf").click()
    expect(page.locator(".chart canvas")).to_have_count(3)
    for closed in page.locator("summary").all()[:5]:
        closed.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
