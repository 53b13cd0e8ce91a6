"""A table of arms as plain data, in snapshots and in the configuration of a served bandit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.core.schema import from_lists, to_lists
from evenhand.learner.arm_table import ArmClock, ArmTable, make_table
from evenhand.problem import Problem

MOMENTS = ("joined", "since", "promised")
# What few problems have.
BEYOND = ("features", "priors", "ceilings", "promises", "allow_impossible")


def table_columns(table: ArmTable) -> dict[str, Any]:
    """Return a table as lists by name."""
    problem, arrays = table.problem, table.arrays
    return {
        "arms": list(problem.arms),
        "plays": problem.plays,
        "weights": problem.weights.tolist(),
        "floors": problem.floors.tolist(),
        **({"features": problem.features.plain()} if problem.features else {}),
        **({"priors": problem.priors} if problem.priors else {}),
        **_promises(problem),
        **{name: getattr(arrays, name).tolist() for name in (*MOMENTS, "paused")},
        "clock": to_lists(table.clock),
    }


def _promises(problem: Problem) -> dict[str, Any]:
    """Return what is promised beyond floors, if anything is."""
    found: dict[str, Any] = {}
    if (problem.ceilings < 1.0).any():
        found["ceilings"] = problem.ceilings.tolist()
    if problem.promises:
        found["promises"] = [promise.plain() for promise in problem.promises]
    if problem.allow_impossible:
        found["allow_impossible"] = True
    return found


def table_from(columns: Mapping[str, Any]) -> ArmTable:
    """Return the table that columns describe."""
    given = (columns[key] for key in ("arms", "plays", "weights", "floors"))
    arms, plays, weights, floors = given
    beyond = {key: columns[key] for key in BEYOND if key in columns}
    problem = Problem.of_arms_left(arms, plays, weights, floors, **beyond)
    arrays, count = problem.arrays._asdict(), len(problem.arms)
    for name in (*MOMENTS, "paused"):
        array = np.array(columns[name], dtype=arrays[name].dtype)
        if array.shape != (count,) or array.tolist() != columns[name]:
            raise ValueError(f"{name} must be {count} numbers of their type")
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{name} must be made of finite numbers")
        arrays[name] = array
    clock = from_lists(ArmClock, columns["clock"], count)
    return make_table(problem, problem.arrays._replace(**arrays), clock)
