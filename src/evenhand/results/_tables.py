"""Results as long tables, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.extras import load
from evenhand.results.anytime import BY_ARM, Moments

if TYPE_CHECKING:
    import polars

    from evenhand.results._results import Results


def rounds_table(results: Results) -> polars.DataFrame:
    """Return one line per policy, replication and kept round."""
    shape = results.expected.shape
    table: polars.DataFrame = load("polars").DataFrame(
        {
            **_who(results, shape),
            "round": np.tile(results.rounds, shape[0] * shape[1]),
            "expected": results.expected.ravel(),
            "realised": results.realised.ravel(),
            "behind": results.moments.behind.ravel(),
        }
    )
    return table


def arms_table(results: Results) -> polars.DataFrame:
    """Return one line per policy, replication and arm."""
    shape = results.played.shape
    runs = shape[0] * shape[1]
    kept = {name: getattr(results.moments, name).ravel() for name in BY_ARM}
    table: polars.DataFrame = load("polars").DataFrame(
        {
            **_who(results, shape),
            "arm": np.tile(results.arms, runs),
            "floor": np.tile(results.floors, runs),
            "mean": np.tile(results.means, runs),
            "played": results.played.ravel(),
            "rate": results.all_rates().ravel(),
            "estimate": results.estimates.ravel(),
            "shortfall": results.all_shortfalls().ravel(),
            **kept,
        }
    )
    return table


def _who(results: Results, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the columns that say which policy and replication a line is of."""
    return {
        "policy": np.repeat(results.labels, shape[1] * shape[2]),
        "replication": np.tile(np.repeat(np.arange(shape[1]), shape[2]), shape[0]),
    }


def from_tables(policies: int, rounds: polars.DataFrame, arms: polars.DataFrame) -> dict[str, Any]:
    """Return the fields of results that are in their two tables."""
    wide = (policies, rounds["replication"].n_unique(), -1)

    def column(table: polars.DataFrame, name: str) -> Any:
        return table[name].to_numpy().reshape(wide)

    by_arm = [column(arms, name) for name in BY_ARM]
    moments = Moments(column(rounds, "behind"), *by_arm)
    return {
        "arms": tuple(column(arms, "arm")[0, 0].tolist()),
        "floors": column(arms, "floor")[0, 0],
        "means": column(arms, "mean")[0, 0],
        "rounds": column(rounds, "round")[0, 0],
        "expected": column(rounds, "expected"),
        "realised": column(rounds, "realised"),
        "played": column(arms, "played"),
        "estimates": column(arms, "estimate"),
        "moments": moments,
    }
