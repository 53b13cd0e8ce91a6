"""The demo: alive in seconds, and nothing of it is left."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import httpx
import pytest

# The promise is ten seconds, of a machine that does nothing else.
ALIVE_SECONDS = 30.0


@pytest.fixture
def demo(tmp_path):
    """Start the demo; its files are to be nowhere but in a folder of its own."""
    started = []

    def start(*options):
        command = [sys.executable, "-m", "evenhand", "demo", *options]
        env = {"PATH": "", "TMPDIR": str(tmp_path)}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )
        started.append(process)
        line = process.stdout.readline()
        assert "open http://127.0.0.1:" in line, process.communicate()
        return process, line.split("open ")[1].split("/ and")[0]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def decided(url):
    bandits = httpx.get(f"{url}/v1/overview").json()["bandits"]
    return {bandit["name"]: bandit["rounds"] for bandit in bandits}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_is_alive_in_seconds_and_leaves_nothing_behind(number, demo, tmp_path):
    start = time.monotonic()
    process, url = demo("--port", "0")
    assert "<title>evenhand</title>" in httpx.get(url).text
    while len(decided(url)) < 2 or min(decided(url).values()) < 5:
        assert time.monotonic() - start < ALIVE_SECONDS
        time.sleep(0.1)
    assert set(decided(url)) == {"movie-shelf", "late-night"}
    assert len(list(tmp_path.iterdir())) == 1
    process.send_signal(number)
    _, complaints = process.communicate(timeout=15)
    assert process.returncode == 0
    assert complaints == ""
    assert list(tmp_path.iterdir()) == []


def test_visitors_say_what_they_liked(demo):
    _, url = demo("--port", "0")
    end = time.monotonic() + 20
    told = 0
    while told < 20 and time.monotonic() < end:
        time.sleep(0.3)
        answer = httpx.get(f"{url}/v1/bandits/movie-shelf/state")
        told = answer.json().get("told", 0)
    assert told >= 20
    state = answer.json()
    assert 0 < state["reward"] < told
    assert {arm["awake_rate"] for arm in state["arms"]} != {1.0}


def test_two_demos_find_two_ports(demo):
    assert demo()[1] != demo()[1]
