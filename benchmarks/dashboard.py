"""The dashboard in a real Chromium: 200 arms, a day of history, and what it costs the decisions."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.row import Row
from benchmarks.service import CLIENTS, Running, create, server, state
from evenhand.service.engine.commands import Decide, RecordHistory
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.engine.history import DAY, DAY_STEP, HOUR, STEP_SECONDS
from evenhand.service.stores import open_store

ARMS = 200
OPENED = 7
UPDATES = 3_600
TURNS = 40
TURN_SECONDS = 1.0
QUIET_SECONDS = 10
HOUR_OF_UPDATES = """async ([name, count, warm]) => {
  const { BanditView } = await import(new URL("page/bandit.js", location.href));
  const state = await (await fetch(`v1/bandits/${name}/state`)).json();
  const list = await (await fetch(`v1/bandits/${name}/decisions`)).json();
  const view = new BanditView(name, new AbortController().signal);
  document.getElementById("main").replaceChildren(view.node);
  const rounds = async (n) => {
    for (let i = 0; i < n; i++) {
      state.at += 1; state.rounds += 7; state.decisions += 7; state.reward += 3;
      for (const arm of state.arms) {
        arm.rate = Math.random() / 50; arm.debt = Math.random(); arm.pending = i % 9;
      }
      view.state(structuredClone(state));
      list.decisions.forEach((decision, j) => { decision.id = `${state.rounds - j}`; });
      view.decisions(structuredClone(list));
      if (i % 10 === 0) await view.history.load();
    }
  };
  await rounds(warm);
  window.go = () => rounds(count);
}"""


def measure() -> list[Row]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        database = f"sqlite:///{folder}/watched.db"
        with server(database) as running:
            create(running, ARMS)
        fill(database)
        running = stack.enter_context(server(database))
        create(running, ARMS)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        stack.callback(browser.close)
        rows = [*page_rows(browser, running), *what_if_rows(running)]
    return [*rows, *cost_rows()]


def fill(database: str) -> None:
    """Let a day have passed: samples as the service takes them, and decisions in between."""
    now, store = time.time(), open_store(database)
    moment = [now]
    executor = CommandExecutor(store, now=lambda: moment[0])
    for ago in (*range(DAY, HOUR, -DAY_STEP), *range(HOUR, 0, -STEP_SECONDS)):
        moment[0] = now - ago
        executor.execute([Decide("bench", None, None, False), RecordHistory("bench", False)])
    store.close()


def page_rows(browser: Browser, running: Running) -> list[Row]:
    """Measure how soon there is something to see, how long an update takes, and what remains."""
    url = f"{running.url}/#/bandits/bench"
    paints, complete = [], []
    for _ in range(OPENED):
        context = browser.new_context(viewport={"width": 1_280, "height": 900})
        page = context.new_page()
        page.goto(url)
        expect(page.locator(".arms tbody tr")).to_have_count(ARMS)
        expect(page.locator(".chart canvas")).to_have_count(3)
        complete.append(page.evaluate("performance.now()"))
        name = "'first-contentful-paint'"
        paints.append(page.evaluate(f"performance.getEntriesByName({name})[0].startTime"))
        context.close()
    page = browser.new_page()
    page.goto(url)
    expect(page.locator(".arms tbody tr")).to_have_count(ARMS)
    updates = [one_update(page, running) for _ in range(20)]
    grown, nodes = growth(page)
    page.close()
    return [
        Row(
            "first paint, 200 arms and a day of history", statistics.median(paints), "ms", None, 1e3
        ),
        Row("until arms and charts are drawn", statistics.median(complete), "ms", None, 1e3),
        Row("script of an update", statistics.median(updates), "ms", None, 50.0),
        Row("script of an update, at most", max(updates), "ms", None, 50.0),
        Row("memory of the page, from a minute of updates to an hour", grown, "MB", None, 2.0),
        Row("nodes of the page, likewise", nodes, "", None, 0.0),
    ]


def one_update(page: Page, running: Running) -> float:
    """Let something happen; return how long the page takes to show it, in milliseconds."""
    page.evaluate("performance.clearMeasures()")
    httpx.post(f"{running.url}/v1/bandits/bench/decisions", json={}).raise_for_status()
    while True:
        found = page.evaluate("performance.getEntriesByName('evenhand-update')[0]?.duration")
        if found is not None:
            return float(found)
        time.sleep(0.05)


def growth(page: Page) -> tuple[float, float]:
    """Return by how much a page grows in an hour of updates, as fast as they can be made."""
    session = page.context.new_cdp_session(page)

    def held() -> dict[str, float]:
        session.send("HeapProfiler.collectGarbage")
        found = session.send("Performance.getMetrics")["metrics"]
        return {one["name"]: one["value"] for one in found}

    session.send("Performance.enable")
    page.evaluate(HOUR_OF_UPDATES, ["bench", UPDATES - 60, 60])
    early = held()
    page.evaluate("window.go()")
    late = held()
    grown = (late["JSHeapUsedSize"] - early["JSHeapUsedSize"]) / 2**20
    return grown, late["Nodes"] - early["Nodes"]


def what_if_rows(running: Running) -> list[Row]:
    times = []
    with httpx.Client(base_url=running.url) as client:
        client.post("/v1/bandits/bench/what-if", json={})
        wait_for_compilers(running)
        for i in range(50):
            start = time.perf_counter()
            body = {"floors": {"arm-7": 0.01 + i / 1_000}}
            client.post("/v1/bandits/bench/what-if", json=body).raise_for_status()
            times.append(1e3 * (time.perf_counter() - start))
    return [Row("what-if at 200 arms", statistics.median(times), "ms", None, 20.0)]


def wait_for_compilers(running: Running) -> None:
    family = psutil.Process(running.process.pid)
    time.sleep(1.0)
    while family.children():
        time.sleep(0.2)
    time.sleep(3.0)


def cost_rows() -> list[Row]:
    """Measure decisions under a load that does not end, with a dashboard open by turns."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        running = stack.enter_context(server(f"sqlite:///{folder}/cost.db"))
        create(running, 10)
        quiet = busy(running)
        with watched(running):
            time.sleep(1.0)
            taken = busy(running) - quiet
        stack.enter_context(endless_load(running))
        found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
        for i in range(2 * TURNS):
            # Without, with, with, without: what drifts is the same for both.
            seen = i % 4 in (1, 2)
            with watched(running) if seen else nullcontext():
                time.sleep(0.5)
                found[seen].append(pace(running))
    pairs = list(zip(found[True], found[False], strict=True))
    rate = statistics.median(shown[0] / alone[0] for shown, alone in pairs)
    used = statistics.median(alone[1] / shown[1] for shown, alone in pairs)
    return [
        Row("decisions with a dashboard open over without", rate, "", 0.95),
        Row("by the server's processor time", used, "", 0.95),
        Row("what a dashboard takes of the server's processor", taken, "", None, 0.05),
    ]


def busy(running: Running) -> float:
    """Return which share of its time a server is busy with a decision a second."""
    process = psutil.Process(running.process.pid)
    before = sum(process.cpu_times()[:2])
    for _ in range(QUIET_SECONDS):
        httpx.post(f"{running.url}/v1/bandits/bench/decisions", json={}).raise_for_status()
        time.sleep(1.0)
    return float(sum(process.cpu_times()[:2]) - before) / QUIET_SECONDS


@contextmanager
def endless_load(running: Running) -> Iterator[None]:
    """Ask for decisions all the time."""
    command = [sys.executable, "-m", "benchmarks.load", str(running.port), "decision", str(CLIENTS)]
    generator = subprocess.Popen([*command, "3600"], stdout=subprocess.DEVNULL)
    try:
        time.sleep(3.0)
        yield
    finally:
        generator.kill()
        generator.wait()


def pace(running: Running) -> tuple[float, float]:
    """Return decisions a second, and what one of them costs the server's processors."""
    process = psutil.Process(running.process.pid)
    before, used = state(running), sum(process.cpu_times()[:2])
    time.sleep(TURN_SECONDS)
    after, used_then = state(running), sum(process.cpu_times()[:2])
    made = after["decisions"] - before["decisions"]
    return made / (after["at"] - before["at"]), (used_then - used) / made


@contextmanager
def watched(running: Running) -> Iterator[None]:
    """Have somebody follow the bandit as the page does: the stream, and its history."""
    end = threading.Event()

    def follow() -> None:
        asked = 0.0
        with (
            httpx.Client(base_url=running.url, timeout=30) as client,
            client.stream("GET", "/v1/live?bandit=bench") as answer,
        ):
            for _ in answer.iter_raw():
                if end.is_set():
                    return
                if time.monotonic() - asked > 10.0:
                    asked = time.monotonic()
                    client.get("/v1/bandits/bench/history?range=hour&arm=arm-1&arm=arm-2")

    follower = threading.Thread(target=follow)
    follower.start()
    try:
        yield
    finally:
        end.set()
        httpx.post(f"{running.url}/v1/bandits/bench/decisions", json={})
        follower.join()
