"""The dashboard as people use it: it tells what happens, and changes what they say."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.dashboard.conftest import Api
from tests.service.servers import Server

SECONDS = 15_000
TASTES = {"film": 0.0, "sport": 1.0, "arts": 0.9, "news": 0.2}
LOST = ("Failed to load resource", "net::ERR", "ERR_CONNECTION")


@pytest.fixture(autouse=True)
def patience():
    expect.set_options(timeout=SECONDS)


def bandit(page, name="shelf"):
    page.evaluate("(name) => { location.hash = `#/bandits/${encodeURIComponent(name)}`; }", name)
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    return page


def row(page, arm):
    return page.locator(".arms tbody tr", has=page.get_by_role("rowheader", name=arm, exact=True))


def slide(page, arm, points):
    page.get_by_label("Arm", exact=True).select_option(arm)
    page.get_by_label("Floor", exact=True).fill(str(points))


def test_a_server_without_bandits_says_how_to_make_one(api, open_page):
    page = open_page(api.url)
    expect(page.get_by_text("There is no bandit yet")).to_be_visible()
    api.create()
    expect(page.get_by_role("link", name="shelf")).to_be_visible()
    expect(page.get_by_text("There is no bandit yet")).to_be_hidden()


def test_numbers_change_without_a_reload(api, open_page):
    api.create()
    page = open_page(api.url)
    expect(page.locator("#status")).to_have_text("live")
    expect(page.locator(".bandit .words")).to_have_text("3 floors kept")
    page.get_by_role("link", name="shelf").click()
    expect(page.get_by_text("0 rounds")).to_be_visible()
    page.evaluate("window.same = true")
    api.play(40)
    expect(page.get_by_text("40 rounds")).to_be_visible()
    expect(row(page, "news").locator("td").first).to_contain_text("of 30.0%")
    expect(row(page, "news").locator(".standing")).to_contain_text("kept")
    state = {arm["name"]: arm for arm in api.state()["arms"]}
    rate = f"{100 * state['news']['rate']:.1f}% of 30.0%"
    expect(row(page, "news")).to_contain_text(rate)
    expect(row(page, "sport").locator(".standing")).to_have_text("no floor")
    assert page.evaluate("window.same")


def test_an_arm_that_is_behind_is_so_in_words_and_first(api, open_page):
    api.create()
    api.play(30, awake=["arts", "sport"])
    page = bandit(open_page(api.url))
    expect(row(page, "news").locator(".standing")).to_have_text("9 plays behind")
    assert page.locator(".arms tbody tr th").first.text_content() == "news"
    expect(row(page, "news")).to_have_attribute("data-standing", "behind")


def test_a_floor_that_cannot_be_kept_is_explained_by_its_certificate(api, open_page):
    body = {"arms": [{"name": "rare", "floor": 0.5}, {"name": "often"}], "plays": 1}
    api.create(body=body)
    api.play(110, awake=["often"])
    page = open_page(api.url)
    expect(page.locator(".bandit .words")).to_have_text("1 cannot be kept")
    page.get_by_role("link", name="shelf").click()
    expect(page.get_by_role("alert")).to_contain_text("'rare' is promised 0.5 plays a round")
    expect(row(page, "rare").locator(".standing")).to_contain_text("cannot be kept")


def test_prices_and_intervals_are_said_in_words(api, open_page):
    api.create()
    api.play(80, rewards=TASTES)
    page = bandit(open_page(api.url))
    state = {arm["name"]: arm for arm in api.state()["arms"]}
    assert state["film"]["price"] > 0
    expect(row(page, "film").locator(".price")).to_have_text(
        re.compile(r"^raising this floor by one point costs 0\.00\d+ reward a round$")
    )
    expect(row(page, "film")).to_contain_text(re.compile(r"0\.\d+ \(0\.0\d+ to 0\.\d+\)"))


def test_a_slider_shows_what_a_floor_would_cost(api, open_page):
    api.create()
    api.play(80, rewards=TASTES)
    page = bandit(open_page(api.url))
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("The best that could be had")
    expect(page.get_by_role("button", name="Apply")).to_be_disabled()
    slide(page, "film", 20)
    answer = api.http.post("/v1/bandits/shelf/what-if", json={"floors": {"film": 0.2}}).json()
    cost = answer["reward_now"] - answer["reward"]
    assert cost > 0
    expect(verdict).to_contain_text(f"This would cost {float(f'{cost:.2g}')} reward a round")
    expect(page.locator(".changes")).to_have_text("film: 10.0% to 20.0%")
    for arm in ("film", "news", "sport"):
        slide(page, arm, 90)
    expect(verdict).to_contain_text("The floors cannot all be kept: arms 'news', 'arts'")
    expect(verdict).to_have_attribute("data-kind", "bad")
    page.get_by_role("button", name="Put back").click()
    expect(verdict).to_have_attribute("data-kind", "good")
    expect(page.locator(".changes li")).to_have_count(0)
    assert [arm["floor"] for arm in api.state()["arms"]] == [0.3, 0.2, 0.0, 0.1]


def test_the_slider_is_dragged_with_the_mouse(api, open_page):
    api.create()
    api.play(10)
    page = bandit(open_page(api.url))
    expect(page.locator(".verdict")).to_contain_text("The best that could be had")
    slider = page.get_by_label("Floor", exact=True)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.3 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], middle, steps=8)
    page.mouse.up()
    assert 48 <= float(slider.input_value()) <= 52
    expect(page.locator(".changes")).to_contain_text("news: 30.0% to")


def test_a_floor_is_applied_after_a_word_of_what_it_costs(api, open_page):
    api.create()
    api.play(80, rewards=TASTES)
    page = bandit(open_page(api.url))
    slide(page, "film", 15.5)
    slide(page, "news", 25)
    expect(page.locator(".changes li")).to_have_count(2)
    page.get_by_role("button", name="Apply").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("film: 10.0% to 15.5%")
    expect(dialog).to_contain_text(re.compile(r"This would (cost|gain) 0\.\d+ reward a round"))
    dialog.get_by_role("button", name="Leave them").click()
    assert [arm["floor"] for arm in api.state()["arms"]] == [0.3, 0.2, 0.0, 0.1]
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("button", name="Change the floors").click()
    expect(page.locator(".verdict")).to_contain_text("Applied")
    assert [arm["floor"] for arm in api.state()["arms"]] == [0.25, 0.2, 0.0, 0.155]
    expect(row(page, "film")).to_contain_text("of 15.5%")


def test_a_server_that_is_lost_and_regained(open_page, tmp_path):
    database = f"sqlite:///{tmp_path}/lost.db"
    first = Server("--database", database)
    api = Api(first)
    api.create()
    api.play(3)
    page = bandit(open_page(api.url, allow=LOST))
    expect(page.get_by_text("3 rounds")).to_be_visible()
    first.kill()
    expect(page.locator("#status")).to_have_text("no answer from the server, trying again")
    expect(page.get_by_text("3 rounds")).to_be_visible()
    second = Server("--database", database, port=first.port)
    expect(page.locator("#status")).to_have_text("live")
    api.play(2)
    expect(page.get_by_text("5 rounds")).to_be_visible()
    api.http.close()
    second.kill()


def test_where_streams_do_not_get_through_the_page_asks(api, open_page):
    api.create()
    page = open_page(api.url, allow=LOST)
    page.route("**/v1/live*", lambda route: route.abort())
    page.reload()
    bandit(page)
    expect(page.locator("#status")).to_have_text("live, by asking every two seconds")
    api.play(4)
    expect(page.get_by_text("4 rounds")).to_be_visible()
    expect(page.locator(".decisions li")).to_have_count(4)


def test_a_refused_stream_is_replaced_by_asking(api, open_page):
    api.create()
    page = open_page(api.url, allow=LOST)
    page.route("**/v1/live*", lambda route: route.fulfill(status=429, body="{}"))
    page.reload()
    expect(page.locator("#status")).to_have_text("live, by asking every two seconds")
    expect(page.get_by_role("link", name="shelf")).to_be_visible()


def test_tiles_tell_the_pace_of_the_last_minute(api, open_page):
    api.create()
    page = bandit(open_page(api.url))
    tile = page.locator(".tile", has_text="Decisions a minute").locator("dd")
    expect(tile).to_have_text("0")
    api.play(30)
    expect(page.locator(".tile", has_text="a round, since").locator("dd")).to_have_text("1")
    expect(tile).to_have_text(re.compile(r"^\d[\d,]*$"))
    pace = int(tile.text_content().replace(",", ""))
    assert 30 <= pace <= 30 * 60
    api.http.post("/v1/bandits/shelf/decisions", json={})
    pending = page.locator(".tile", has_text="awaiting feedback").locator("dd")
    expect(pending).to_have_text("2")


def test_a_view_that_was_left_asks_no_more(api, open_page):
    api.create()
    page = open_page("about:blank")
    page.clock.install()
    page.goto(api.url)
    bandit(page)
    expect(page.locator(".chart canvas")).to_have_count(3)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.fast_forward(10_500)
    expect(page.locator(".chart canvas")).to_have_count(3)
    page.wait_for_timeout(500)
    assert [url for url in asked if "/history" in url]
    page.get_by_role("link", name="Bandits", exact=True).click()
    expect(page.get_by_role("link", name="shelf")).to_be_visible()
    asked.clear()
    page.clock.fast_forward(10_500)
    page.wait_for_timeout(500)
    assert [url for url in asked if "/bandits/" in url] == []


def test_a_bandit_that_is_deleted_while_it_is_watched_is_gone(api, open_page):
    api.create()
    page = bandit(open_page(api.url, allow=LOST))
    expect(page.get_by_text("0 rounds")).to_be_visible()
    api.http.delete("/v1/bandits/shelf")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such bandit")
    api.create()
    expect(page.get_by_text("0 rounds")).to_be_visible()


def test_another_bandit_of_the_same_name_is_seen_as_another(api, open_page):
    api.create()
    api.play(10)
    page = bandit(open_page(api.url, allow=LOST))
    expect(page.get_by_text("10 rounds")).to_be_visible()
    api.http.delete("/v1/bandits/shelf")
    api.create(body={"arms": [{"name": "opera", "floor": 0.5}, {"name": "jazz"}], "plays": 1})
    api.play(2)
    expect(page.get_by_text("2 rounds")).to_be_visible()
    expect(page.locator(".legend").first).to_contain_text("opera")
    expect(page.locator(".legend").first).not_to_contain_text("news")


def test_a_picked_arm_that_retires_leaves_the_charts_and_the_floors_that_were_moved(api, open_page):
    api.create()
    api.play(5)
    # A what-if that is under way when the arm retires is answered with 404.
    page = bandit(open_page(api.url, allow=("404",)))
    expect(page.locator(".legend").first).to_contain_text("film")
    slide(page, "film", 40)
    expect(page.get_by_role("button", name="Apply")).to_be_enabled()
    api.http.delete("/v1/bandits/shelf/arms/film")
    expect(page.locator(".legend").first).not_to_contain_text("film")
    expect(page.locator(".changes li")).to_have_count(0)
    expect(page.get_by_role("button", name="Apply")).to_be_disabled()


def test_numbers_of_any_size_are_readable(api, open_page):
    arms = [{"name": "huge", "weight": 1e100, "floor": 0.2}, {"name": "tiny", "weight": 1e-7}]
    api.create(body={"arms": arms, "plays": 1})
    api.play(20)
    page = bandit(open_page(api.url, width=390))
    expect(page.locator(".verdict")).to_contain_text("e+")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_last_decisions_say_why(api, open_page):
    api.create()
    api.play(60)
    page = bandit(open_page(api.url))
    expect(page.locator(".decisions li")).to_have_count(50)
    first = page.locator(".decisions li").first
    expect(first).to_contain_text("Round 60")
    expect(first).to_contain_text("returned 0.5, 0.5")
    first.locator("summary").click()
    table = first.get_by_role("table")
    for head in ("Estimate", "Sample", "Debt", "Price", "Probability"):
        expect(table.get_by_role("columnheader", name=head)).to_be_visible()
    id_ = api.http.get("/v1/bandits/shelf/decisions?limit=1").json()["decisions"][0]["id"]
    reasons = api.http.get(f"/v1/bandits/shelf/decisions/{id_}").json()["reasons"]
    for reason in reasons:
        line = table.locator("tr", has=page.get_by_role("rowheader", name=reason["arm"]))
        expect(line).to_contain_text("yes" if reason["chosen"] else "no")
        expect(line).to_contain_text(f"{100 * reason['probability']:.1f}%")
    api.play(3)
    expect(page.get_by_text("63 rounds")).to_be_visible()
    expect(table).to_be_visible()
    page.get_by_label("Hold still").uncheck()
    expect(page.locator(".decisions li").first).to_contain_text("Round 63")


def test_charts_are_drawn_and_stand_before_tables(api, open_page):
    api.create()
    api.play(20)
    page = bandit(open_page(api.url))
    expect(page.locator(".chart canvas")).to_have_count(3)
    figure = page.locator(".chart").first
    figure.get_by_text("As a table").click()
    expect(figure.get_by_role("columnheader", name="news")).to_be_visible()
    expect(figure.locator("tbody tr").first).to_be_visible()
    row(page, "news").get_by_role("checkbox").uncheck()
    expect(figure.get_by_role("columnheader", name="news")).to_have_count(0)
    page.get_by_role("button", name="1 day").click()
    expect(page.get_by_role("button", name="1 day")).to_have_attribute("aria-pressed", "true")
    expect(figure.locator("tbody tr").first).to_be_visible()


def test_names_are_text_whatever_they_are(api, open_page):
    evil = "<img src=x onerror=alert(1)>"
    long = "\N{GRINNING FACE}" * 200
    arms = [{"name": evil, "floor": 0.2}, {"name": long}, {"name": "a/b?c#d%e&f\"g'h"}]
    api.create(body={"arms": arms, "plays": 1})
    api.play(12)
    for width in (390, 1_280):
        page = bandit(open_page(api.url, width=width))
        expect(row(page, evil)).to_be_visible()
        expect(row(page, long)).to_be_visible()
        page.locator(".decisions summary").first.click()
        expect(page.locator(".decisions table")).to_be_visible()
        assert page.locator("main img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    slide(page, evil, 40)
    expect(page.locator(".changes")).to_have_text(f"{evil}: 20.0% to 40.0%")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("button", name="Change the floors").click()
    expect(page.locator(".verdict")).to_contain_text("Applied")
    assert api.state()["arms"][0]["floor"] == 0.4


def test_a_bandit_that_there_is_not_is_said_not_to_be(api, open_page):
    page = open_page(f"{api.url}/#/bandits/none", allow=LOST)
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such bandit")
    page.get_by_role("link", name="All bandits").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bandits")


def test_arms_that_come_and_go_do_so_on_the_page(api, open_page):
    api.create()
    page = bandit(open_page(api.url))
    expect(page.locator(".arms tbody tr")).to_have_count(4)
    api.http.put("/v1/bandits/shelf/arms/opera", json={"floor": 0.05})
    expect(row(page, "opera")).to_be_visible()
    api.http.delete("/v1/bandits/shelf/arms/sport")
    expect(page.locator(".arms tbody tr")).to_have_count(4)
    expect(row(page, "sport")).to_have_count(0)
    api.http.patch("/v1/bandits/shelf/arms/news", json={"paused": True})
    expect(row(page, "news").locator(".standing")).to_have_text("paused")
