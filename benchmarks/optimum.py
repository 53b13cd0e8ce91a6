"""The exact optimum: how it grows, and how it compares with the brute-force program."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.row import Row, best_seconds
from evenhand.core.arrays import Floats
from evenhand.optimum import Awake, solve
from evenhand.optimum._joint import distinct, widest_mixture
from evenhand.optimum.feasibility import headroom
from tests.optimum.brute import all_sets, brute_force


def measure() -> list[Row]:
    """Return all rows of this suite."""
    return [*growth(), against_brute_force(), *joint()]


def instance(arms: int, plays: int, seed: int = 1) -> tuple[Floats, Floats, int, Awake]:
    rng = np.random.default_rng(seed)
    probabilities, values = rng.uniform(0.2, 1, arms), rng.uniform(size=arms)
    floors = rng.uniform(size=arms) * probabilities
    floors *= 0.9 * headroom(floors, probabilities, plays)
    return values, floors, plays, independent(probabilities)


def independent(probabilities: Floats) -> Awake:
    return Awake(probabilities, np.empty((0, 0), dtype=np.bool_), np.empty(0))


def seconds(arms: int, plays: int) -> float:
    given, names = instance(arms, plays), tuple(map(str, range(arms)))
    solve(*given, names)
    return best_seconds(lambda: solve(*given, names), 9)


def growth() -> list[Row]:
    small, large = seconds(10_000, 100), seconds(100_000, 100)
    return [
        Row("N = 10,000, m = 100: whole optimum", small, "s"),
        Row("N = 100,000, m = 100: whole optimum", large, "s", at_most=0.5),
        Row("N = 100,000 over N = 10,000", large / small, "x", at_most=15),
    ]


def against_brute_force() -> Row:
    values, floors, plays, awake = instance(10, 3)
    members, chances = all_sets(awake.probabilities)
    slow = best_seconds(lambda: brute_force(values, floors, plays, members, chances), 3)
    fast = best_seconds(lambda: solve(values, floors, plays, awake))
    return Row("N = 10, m = 3: HiGHS on program (2) over this", slow / fast, "x")


def joint() -> list[Row]:
    rows = []
    for arms, drawn, wish in (
        (10, 50_000, 60),
        (20, 50_000, 60),
        (40, 50_000, 60),
        (100, 20_000, 10),
    ):
        rng = np.random.default_rng(arms)
        members = rng.random((drawn, arms)) < rng.uniform(0.2, 0.9, arms)
        chances = rng.dirichlet(np.ones(len(members)))
        table = distinct(members, chances, 4)
        floors = rng.uniform(size=arms)
        floors *= 0.9 * widest_mixture(table, floors).value
        awake, values = Awake(np.empty(0), members, chances), rng.uniform(size=arms)
        time = best_seconds(partial(solve, values, floors, 4, awake), 1)
        what = f"joint table, N = {arms}, m = 4, {len(table.probabilities):,} sets"
        rows.append(Row(what, time, "s", at_most=wish))
    return rows
