"""The exact optimum: how it grows, and how it compares with the brute-force program."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.row import Row, best_seconds
from evenhand import Environment, Joint, Problem, Promise, find_optimum
from evenhand.core.arrays import Floats
from evenhand.optimum import Awake, solve
from evenhand.optimum._joint import distinct, widest_mixture
from evenhand.optimum.feasibility import headroom
from tests.optimum.brute import all_sets, brute_force


def measure() -> list[Row]:
    """Return all rows of this suite."""
    return [*growth(), against_brute_force(), *joint(), *promised()]


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


def promised() -> list[Row]:
    """Return how long the optimum with promises beyond floors takes."""
    what = "N = 10,000, m = 100, 200 groups, 1,000 ceilings"
    rows = [
        Row(what, best_seconds(partial(find_optimum, groups_and_ceilings()), 3), "s", at_most=2)
    ]
    what = "joint table, N = 100, m = 10, 20,000 sets, 20 rows"
    return [
        *rows,
        Row(what, best_seconds(partial(find_optimum, sets_and_rows()), 1), "s", at_most=20),
    ]


def groups_and_ceilings() -> Environment:
    rng, arms = np.random.default_rng(5), 10_000
    order = rng.permutation(arms)
    promises = [
        Promise([str(1 + i) for i in order[50 * g : 50 * g + 50]], at_least=rng.uniform(0.1, 0.45))
        for g in range(200)
    ]
    ceilings = np.ones(arms)
    ceilings[rng.choice(arms, 1_000, replace=False)] = rng.uniform(0.05, 0.4, 1_000)
    means, awake = rng.uniform(0.05, 0.95, arms), rng.uniform(0.3, 1, arms)
    return Environment(Problem(arms, 100, promises=promises, ceilings=ceilings), means, awake)


def sets_and_rows() -> Environment:
    rng, arms = np.random.default_rng(3), 100
    members = rng.random((20_000, arms)) < rng.uniform(0.3, 0.9, arms)
    promises = []
    for number in range(20):
        names = [str(1 + i) for i in rng.choice(arms, 15, replace=False)]
        bound = [{"at_least": 0.9}, {"at_most": 1.2}, {"exactly": 1.4}, {"at_least": 0.5}][
            number % 4
        ]
        of: Any = "reward" if number % 4 == 3 else "plays"
        promises.append(Promise(names, **bound, of=of, name=f"g{number}"))
    sets = Joint(members, np.full(20_000, 1 / 20_000).tolist())
    return Environment(Problem(arms, 10, promises=promises), rng.uniform(0.05, 0.95, arms), sets)
