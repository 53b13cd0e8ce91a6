"""The paper's program (2) as it stands: all awake sets, all choices, by HiGHS."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from evenhand import InfeasibleFloors
from evenhand.core.arrays import Floats, Masks
from evenhand.optimum import Awake, solve


def all_sets(probabilities: Floats) -> tuple[Masks, Floats]:
    """Return every awake set of independent arms as a row, with its probability."""
    arms = len(probabilities)
    members = (np.arange(2**arms)[:, None] >> np.arange(arms)) & 1 == 1
    return members, np.where(members, probabilities, 1 - np.asarray(probabilities)).prod(axis=1)


def brute_force(
    values: Floats, floors: Floats, plays: int, members: Masks, chances: Floats
) -> float | None:
    """Return the optimal value of program (2), or None if the floors are infeasible.

    One variable q_S(A) for every set S that occurs and every choice A of at most ``plays`` of it.
    """
    gains: list[float] = []
    rows: list[int] = []
    columns: list[int] = []
    entries: list[float] = []
    owners: list[int] = []
    for number, (row, chance) in enumerate(zip(members, chances, strict=True)):
        if chance == 0.0:
            continue
        awake = np.flatnonzero(row)
        for size in range(min(plays, awake.size) + 1):
            for choice in combinations(awake, size):
                column = len(gains)
                gains.append(chance * sum(values[i] for i in choice))
                owners.append(number)
                rows += map(int, choice)
                columns += [column] * size
                entries += [chance] * size
    shape = (len(values), len(gains))
    played = coo_matrix((entries, (rows, columns)), shape=shape).tocsr()
    sets = sorted(set(owners))
    one = coo_matrix(
        (np.ones(len(gains)), (np.searchsorted(sets, owners), range(len(gains)))),
        shape=(len(sets), len(gains)),
    ).tocsr()
    solved = linprog(
        -np.array(gains),
        A_ub=-played,
        b_ub=-np.asarray(floors),
        A_eq=one,
        b_eq=np.ones(len(sets)),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return -solved.fun if solved.status == 0 else None


def limit_of(values: Floats, floors: Floats, plays: int, awake: Awake) -> float:
    """Return what all floors could be scaled by, whether they fit or not."""
    try:
        return solve(values, floors, plays, awake).floor_headroom
    except InfeasibleFloors as error:
        return error.floor_headroom
