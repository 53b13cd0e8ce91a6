"""A real server in a process of its own, and clients that keep account of what they were told."""

from __future__ import annotations

import math
import random
import signal
import subprocess
import sys
import threading
import time

import httpx

START_SECONDS = 30.0


class Server:
    """``evenhand serve`` at a free port, or at one that is given."""

    def __init__(self, *options, port=0, env=None, cwd=None, program="evenhand"):
        command = [sys.executable, "-m", program, "serve", "--port", str(port), *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, cwd=cwd
        )
        said = line = self.process.stdout.readline()
        while " at http" not in line:
            if not line:
                self.process.communicate()
                raise AssertionError(said)
            line = self.process.stdout.readline()
            said += line
        self.url = line.split(" at ")[-1].strip()
        self.port = int(self.url.rsplit(":", 1)[1])

    def kill(self):
        """Kill it, as a power cut would."""
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate()

    def stop(self, number=signal.SIGTERM):
        """Tell it to end; return its exit code and how long that took."""
        start = time.monotonic()
        self.process.send_signal(number)
        self.process.communicate(timeout=30)
        return self.process.returncode, time.monotonic() - start


class Account:
    """What clients were told has happened: it must be there for ever, exactly once."""

    def __init__(self):
        self.decisions: dict[str, list[str]] = {}
        self.feedback: dict[str, dict[str, float]] = {}
        self.statuses: set[int] = set()
        self._lock = threading.Lock()

    def decided(self, answer):
        with self._lock:
            assert answer["id"] not in self.decisions
            self.decisions[answer["id"]] = answer["chosen"]

    def told(self, decision, rewards):
        with self._lock:
            self.feedback[decision] = rewards

    def check(self, lines):
        """Compare with a bandit's log."""
        decided = [line for line in lines if line["event"] == "decision"]
        by_id = {line["decision"]: line["chosen"] for line in decided}
        assert len(by_id) == len(decided)
        assert {id_: by_id.get(id_) for id_ in self.decisions} == self.decisions
        told = [line for line in lines if line["event"] == "feedback"]
        rewards = {line["decision"]: line["rewards"] for line in told}
        assert len(rewards) == len(told)
        assert {id_: rewards.get(id_) for id_ in self.feedback} == self.feedback
        assert [line["cursor"] for line in lines] == list(range(1, len(lines) + 1))


def log_of(url, bandit="shelf"):
    """Return a bandit's whole log."""
    lines, after = [], 0
    while True:
        path = f"{url}/v1/bandits/{bandit}/log"
        answer = httpx.get(path, params={"after": after, "limit": 10_000}, timeout=30)
        page = [httpx.Response(200, content=text).json() for text in answer.text.splitlines()]
        if not page:
            return lines
        lines += page
        after = page[-1]["cursor"]


class Crowd:
    """Clients in threads, over servers that may come and go; without ``rate``, at full speed.

    Each asks under an id of its own, again and again until it is answered, and then tells what the
    arms returned, again and again until that is answered. ``rate`` is that of all rounds a second.
    """

    def __init__(self, urls, account, clients=8, seed=0, rate=math.inf):
        self._urls, self._account = urls, account
        self._pause = clients / rate
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(random.Random(1_000 * seed + i), i, seed))
            for i in range(clients)
        ]
        self.errors: list[BaseException] = []

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def stop(self):
        """Let everybody go home; what is not answered stays open."""
        self._stop.set()

    def __exit__(self, *error):
        self.stop()
        for thread in self._threads:
            thread.join(timeout=60)
        assert not any(thread.is_alive() for thread in self._threads)
        assert not self.errors, self.errors[0]

    def _run(self, rng, number, seed):
        made = 0
        try:
            with httpx.Client(timeout=10) as http:
                due = time.monotonic()
                while not self._stop.wait(due - time.monotonic()):
                    made += 1
                    self._round(http, rng, f"{seed}-{number}-{made}")
                    due = max(due + self._pause, time.monotonic() - self._pause)
        except BaseException as error:
            self.errors.append(error)

    def _round(self, http, rng, id_):
        answer = self._post(http, rng, "decisions", {"id": id_})
        if answer is None:
            return
        self._account.decided(answer)
        rewards = {arm: rng.choice([0.0, 0.25, 1.0]) for arm in answer["chosen"]}
        told = self._post(http, rng, "feedback", {"decision": id_, "rewards": rewards})
        if told is not None:
            assert told["results"][0]["outcome"] in ("applied", "duplicate")
            self._account.told(id_, rewards)

    def _post(self, http, rng, what, body):
        """Send until it is answered; None if the crowd goes home before."""
        while not self._stop.is_set():
            url = rng.choice(self._urls)
            try:
                answer = http.post(f"{url}/v1/bandits/shelf/{what}", json=body)
            except httpx.TransportError:
                time.sleep(0.02)
                continue
            self._account.statuses.add(answer.status_code)
            if answer.status_code in (200, 201):
                return answer.json()
            assert answer.status_code in (429, 503, 507), answer.text
            assert int(answer.headers["retry-after"]) >= 1
            time.sleep(0.05)
        return None
