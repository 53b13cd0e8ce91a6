"""By what measurement the constants of `priced` with contexts were chosen: a row a change.

``python -m benchmarks.tuning`` measures copies of the package in which one constant is another one,
each in a process of its own, and prints a table for ``docs/contexts.md``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand import find_optimum, make_policy, simulate
from evenhand.core.jit import compiled
from evenhand.core.schema import new
from evenhand.core.state import NoStatistics, State
from evenhand.lab.science._worlds import exclusive_arms, latent_states, shifts
from evenhand.lab.science.games import instance_with_contexts
from evenhand.policies import sampled_prices as prices

SOURCES = Path(__file__).parents[1] / "src" / "evenhand"
RING, PRICED = "policies/sampled_prices.py", "policies/priced.py"
FIRST_INSTANCE, INSTANCES, REPLICATIONS, HORIZON = 100, 12, 3, 20_000
# Refreshes from prices of 0 until they no longer move.
REFRESHES = 20


class Variant(NamedTuple):
    """What is changed: a constant of a file, or parameters of the policy."""

    words: str
    file: str = ""
    constant: str = ""
    value: str = ""
    parameters: tuple[tuple[str, Any], ...] = ()


VARIANTS = (
    Variant("as it is"),
    *(Variant(f"{int(n):,} pairs", RING, "RING", n) for n in ("256", "1_024", "4_096")),
    *(Variant(f"{n} passes", RING, "PASSES", n) for n in ("2", "20")),
    *(Variant(f"g = {g}", PRICED, "GROWS_WITH_CONTEXTS", g) for g in ("0.3", "3.0")),
    Variant("h = 100", PRICED, "KNOWN_PLAYS_WITH_CONTEXTS", "100.0"),
    *(Variant(f"{a} (1 - 2 / d) plays ahead", PRICED, "AHEAD", a) for a in ("0.0", "4.0")),
    *(Variant(f"width {w}", parameters=(("width", w),)) for w in (0.5, 2.0)),
    Variant("logistic", parameters=(("belief", "logistic"),)),
    *(
        Variant(f"logistic, width {w}", parameters=(("belief", "logistic"), ("width", w)))
        for w in (0.35, 1.4)
    ),
)


def main() -> None:
    """Print the table."""
    print("| | worst shortfall | regret / optimum | error of prices |\n|---|---|---|---|")
    for variant in VARIANTS:
        shortfall, regret, error = measured(variant)
        print(f"| {variant.words} | {shortfall:.5f} | {regret:.2%} | {error:.3f} |", flush=True)


def measured(variant: Variant) -> list[float]:
    """Return what a variant leads to, from a copy of the package."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "evenhand"
        shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if variant.file:
            path = copy / variant.file
            path.write_text(changed(path.read_text(encoding="utf-8"), variant), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.tuning", json.dumps(dict(variant.parameters))],
            env={**os.environ, "PYTHONPATH": folder},
            cwd=SOURCES.parents[1],
            capture_output=True,
            text=True,
            check=True,
        )
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def changed(text: str, variant: Variant) -> str:
    r"""Return a source text with another value of a constant.

    >>> changed("A, B = 1, 2\n", Variant("", constant="B", value="7"))
    'A, B = 1, 7\n'
    """
    [line] = re.findall(rf"^[A-Z_, ]*\b{variant.constant}\b[A-Z_, ]* = .*$", text, re.MULTILINE)
    names, values = (part.split(", ") for part in line.split(" = "))
    values[names.index(variant.constant)] = variant.value
    return text.replace(line, f"{', '.join(names)} = {', '.join(values)}")


def measure(parameters: dict[str, Any]) -> list[float]:
    """Return shortfall and regret of `priced` on random instances, and the error of its prices."""
    policy, found = {"priced": make_policy("priced", **parameters)}, []
    for number in range(FIRST_INSTANCE, FIRST_INSTANCE + INSTANCES):
        results = simulate(
            instance_with_contexts(number),
            policy,
            horizon=HORIZON,
            replications=REPLICATIONS,
            seed=7,
            progress=False,
        )
        assert results.with_floors is not None
        lost = float(results.regret("priced").mean[-1]) / results.with_floors
        found.append((results.worst_shortfall("priced").mean, lost))
    return [*np.mean(found, axis=0).tolist(), error_of_prices()]


def error_of_prices() -> float:
    """Return the largest difference from the prices of the exact optimum, its mean over worlds.

    Arms depend on each other, and their means are known: what is left is that of the sample.
    """
    solve, errors = compiled(prices.solve_sampled), []
    for number in range(18):
        world = (exclusive_arms, shifts, latent_states)[number % 3]
        nature, rng = world(np.random.default_rng(number // 3), 1), np.random.default_rng(number)
        arms, awake = len(nature.problem.arms), nature.awake
        memory, state = new(prices.SampledMemory, arms), new(State, arms)
        state.feedbacks[:], state.reward_sums[:] = 1e12, 1e12 * nature.means
        rows = rng.choice(len(awake.members), prices.RING, p=awake.set_probabilities)
        memory.present[:], memory.seen[0] = awake.members[rows], prices.RING
        given = nature.problem.arrays, NoStatistics(), memory, nature.problem.floors.copy()
        for _ in range(REFRESHES):
            solve(state, *given, np.inf)
        errors.append(np.abs(memory.prices - find_optimum(nature).prices).max())
    return float(np.mean(errors))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(json.loads(sys.argv[1]))))
    else:
        main()
