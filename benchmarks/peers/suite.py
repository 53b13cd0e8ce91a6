"""All libraries on the same instances: microseconds a decision, and the reward beside them."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.adapters import LEARNERS
from benchmarks.row import Row, best_seconds
from evenhand import Environment, Problem, make_policy
from evenhand.lab.paper.settings import SETTING_1, SETTING_2
from evenhand.simulation.kernel import run_compiled
from evenhand.simulation.run import Run, checkpoints, new_control, streams

ROOT = Path(__file__).parents[2]
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
OURS, LOOP = "evenhand", "numpy"
PEERS = tuple(name for name in LEARNERS if name not in (OURS, LOOP))
SECONDS, ROUNDS = 4.0, 20_000
FASTER = 500.0
TURNS = 3


class Instance(NamedTuple):
    """A problem without floors: what every library can be made to do."""

    words: str
    plays: int
    means: tuple[float, ...]
    availability: tuple[float, ...]

    @property
    def of_the_paper(self) -> bool:
        """Whether it is one of the paper's settings."""
        return self.words.startswith("setting")


def instances() -> list[Instance]:
    """Return the paper's settings, and random ones of four sizes."""
    found = [
        Instance(f"setting {number}", setting.plays, setting.means, setting.availability)
        for number, setting in ((1, SETTING_1), (2, SETTING_2))
    ]
    for arms, plays in ((10, 3), (100, 10), (1_000, 10), (10_000, 10)):
        rng = np.random.default_rng(arms)
        means = tuple(rng.uniform(0.05, 0.95, arms).tolist())
        found.append(Instance(f"N = {arms:,}, m = {plays}", plays, means, (0.8,) * arms))
    return found


def decision_of(words: str, name: str) -> str:
    """Return what the row of a library's time is called."""
    return f"{words}: {name}, a decision and its feedback"


def reward_of(words: str, name: str) -> str:
    """Return what the row of a library's reward is called."""
    return f"{words}: {name}, reward over the best"


def whole_of(words: str, name: str) -> str:
    """Return what the row of a whole simulated round with a library is called."""
    return f"{words}: {name}, a simulated round with the world around it"


def round_of(words: str) -> str:
    """Return what the row of the simulator's time is called."""
    return f"{words}: evenhand's simulator, a round"


def measure() -> list[Row]:
    """Return a row for each library and instance, then the simulator against the fastest peer."""
    rows = []
    for instance in instances():
        found = {name: played(name, instance) for name in LEARNERS}
        rows += list(rows_of(instance, found))
    return rows


def rows_of(instance: Instance, found: dict[str, dict[str, Any]]) -> Iterator[Row]:
    """Yield what came of an instance."""
    words = instance.words
    for name, own in found.items():
        if "error" in own:
            yield Row(f"{words}: {name} failed: {own['error'][:60]}", float("nan"))
            continue
        yield Row(decision_of(words, name), own["microseconds"], "us")
        yield Row(whole_of(words, name), own["round"], "us")
        yield Row(reward_of(words, name), own["reward"] / own["best"])
    known = {name: own for name, own in found.items() if "error" not in own}
    decide, whole = (fastest_of(known, key) for key in ("microseconds", "round"))
    yield Row(
        f"{words}: fastest peer ({decide}) over ask + tell",
        known[decide]["microseconds"] / known[OURS]["microseconds"],
        "x",
        at_least=1.0,
    )
    simulated = simulator(instance)
    yield Row(round_of(words), simulated, "us")
    yield Row(
        f"{words}: a round with the fastest peer ({whole}) over one of the simulator",
        known[whole]["round"] / simulated,
        "x",
        at_least=FASTER if instance.of_the_paper else None,
    )


def fastest_of(known: dict[str, dict[str, Any]], key: str) -> str:
    """Return the peer that takes least of a time."""
    return min((name for name in PEERS if name in known), key=lambda name: known[name][key])


def played(name: str, instance: Instance) -> dict[str, Any]:
    """Return the quickest of several turns of a library, each in a process of its own."""
    turns = [_played(name, instance) for _ in range(TURNS)]
    return min(turns, key=lambda own: own.get("microseconds", math.inf))


def _played(name: str, instance: Instance) -> dict[str, Any]:
    python = sys.executable if name in (OURS, LOOP) else str(PEERS_PYTHON)
    world = {
        "means": instance.means,
        "availability": instance.availability,
        "plays": instance.plays,
        "seed": 1,
    }
    given = {"world": world, "name": name, "seconds": SECONDS / TURNS, "rounds": ROUNDS}
    done = subprocess.run(
        [python, "-m", "benchmarks.peers.worker"],
        cwd=ROOT,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def simulator(instance: Instance) -> float:
    """Return the microseconds of a round of `thompson` in the compiled simulator."""
    problem = Problem(len(instance.means), instance.plays)
    environment = Environment(problem, instance.means, instance.availability)
    horizon = max(200, 3_000_000 // len(instance.means) // 10)
    run = Run(environment, make_policy("thompson"), horizon, checkpoints(horizon))
    run_compiled(run, streams(1, 0), new_control())
    seconds = best_seconds(lambda: run_compiled(run, streams(1, 0), new_control()), TURNS)
    return seconds / horizon * 1e6
