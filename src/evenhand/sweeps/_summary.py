"""The columns of a summary: what a cell is, its policy's parameters, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evenhand.core.plain import format_value
from evenhand.results import Results
from evenhand.sweeps.cells import CellId

# What came of a cell, and what it is; a parameter of a policy is told from these.
FOUND = [
    "reward",
    "regret",
    "margin",
    "worst_shortfall",
    "shortfall_bulk",
    "worst_excess",
    "all_kept",
    "largest_debt",
    "largest_debt_after",
    "share_behind",
    "longest_gap",
    "worst_window_shortfall",
    "with_floors",
    "without_floors",
]
COLUMNS = [
    "cell",
    "instance",
    "arms",
    "plays",
    "tightness",
    "instance_seed",
    "policy",
    "horizon",
    "replications",
    "code",
]


def cell_columns(cell_id: CellId, described: Mapping[str, Any], results: Results) -> dict[str, Any]:
    """Return what a cell is: its instance, as a grid describes it, and its policy."""
    drawn = described.get("generate", {})
    return {
        "cell": cell_id.number,
        "instance": cell_id.instance,
        "arms": len(results.arms),
        "plays": drawn.get("plays", described.get("plays")),
        "tightness": drawn.get("tightness"),
        "instance_seed": drawn["seeds"][0] if drawn else None,
        "label": cell_id.label,
        "policy": results.policies[results.labels.index(cell_id.label)],
    }


def parameter_columns(policies: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the parameters of each policy, null where it has none of that name.

    A parameter is a number if it is one for all policies, else a text. One that is called like
    another column is told from it.
    """
    names = dict.fromkeys(key for policy in policies.values() for key in policy)
    columns = {
        name: [policy.get(name) for policy in policies.values()]
        for name in names
        if name not in ("name", "label")
    }
    for values in columns.values():
        if any(isinstance(value, str) for value in values):
            values[:] = [None if value is None else format_value(value) for value in values]
    return {
        label: {
            f"{name} of policy" if name in (*COLUMNS, *FOUND) else name: values[index]
            for name, values in columns.items()
        }
        for index, label in enumerate(policies)
    }


def moment_columns(results: Results, label: str) -> tuple[float | None, ...]:
    """Return the figures of every moment, of the arm that waited longest."""
    found = results.anytime(label)
    return (
        found.largest_debt,
        found.largest_debt_after,
        found.share_behind,
        max(found.longest_gap.values()),
        found.worst_window_shortfall,
    )


def found_columns(results: Results, label: str) -> dict[str, Any]:
    """Return what came of a cell; the margin is half of the 95% interval of its regret."""
    shortfall, feasible = results.worst_shortfall(label), results.with_floors is not None
    several = results.replications > 1
    error = results.optimum_error if feasible else 0.0
    margin = math.hypot(results.margin(label), error * results.quantile())
    found = (
        results.reward(label).mean,
        float(results.regret(label).mean[-1]) if feasible else None,
        margin if several else None,
        shortfall.mean,
        shortfall.bulk,
        results.worst_excess(label).mean,
        results.all_kept(label),
        *moment_columns(results, label),
        results.with_floors,
        results.without_floors,
    )
    return {"replications": results.replications, **dict(zip(FOUND, found, strict=True))}
