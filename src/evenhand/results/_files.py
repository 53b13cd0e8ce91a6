"""Results as a folder of sealed files: long tables, and where they came from."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.extras import load
from evenhand.core.forms import Form
from evenhand.core.sealed import (
    ARMS_FILE,
    PROMISES_FILE,
    PROVENANCE_FILE,
    ROUNDS_FILE,
    check_seal,
    open_json,
    sealed_json,
    sealed_parquet,
)
from evenhand.core.storage import claimed, write_set
from evenhand.errors import InputError
from evenhand.promise_rows import AT_LEAST, AT_MOST
from evenhand.results.anytime import BY_ARM, AnytimeSettings, Moments
from evenhand.results.promises import PromiseMoments, RowFacts

FORM = Form("evenhand results", 1)

if TYPE_CHECKING:
    import polars

    from evenhand.results._results import Results


def write_results(results: Results, folder: Path, *, overwrite: bool) -> None:
    """Write all tables and their provenance, all of them or none."""
    heading = {
        **FORM.write({}),
        "policies": dict(zip(results.labels, results.policies, strict=True)),
        "with_floors": results.with_floors,
        "without_floors": results.without_floors,
        "optimum_error": results.optimum_error,
        "optima": None if results.optima is None else results.optima.tolist(),
        "marks": results.marks._asdict(),
        "seconds": results.seconds,
        **results.provenance,
    }
    tables = {ROUNDS_FILE: rounds_table(results), ARMS_FILE: arms_table(results)}
    if results.rows.names:
        tables[PROMISES_FILE] = promises_table(results)
    files = {name: sealed_parquet(table, heading) for name, table in tables.items()}
    seals = {name: check_seal(content) for name, content in files.items()}
    files[PROVENANCE_FILE] = sealed_json({**heading, "tables": seals})
    with claimed(folder, overwrite=overwrite):
        write_set(folder, files)


def read_results(folder: Path) -> dict[str, Any]:
    """Return the fields of results; files that are damaged or not of one set are refused."""
    pl = load("polars")
    reading = PROVENANCE_FILE
    try:
        heading = FORM.read(open_json((folder / PROVENANCE_FILE).read_bytes()))
        tables = []
        for reading, seal in heading.pop("tables").items():
            content = (folder / reading).read_bytes()
            if check_seal(content) != seal:
                raise ValueError(f"it is not the one that {PROVENANCE_FILE} vouches for")
            tables.append(pl.read_parquet(io.BytesIO(content)))
        return _fields(heading, *tables)
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{str(folder)!r} must hold undamaged results: {reading}: {reason}"
        ) from None


def _fields(heading: dict[str, Any], *tables: Any) -> dict[str, Any]:
    """Put tables and their heading together again."""
    policies = heading.pop("policies")
    optima, marks = heading.pop("optima"), heading.pop("marks")
    return {
        **from_tables(len(policies), *tables),
        "labels": tuple(policies),
        "policies": tuple(policies.values()),
        "with_floors": heading.pop("with_floors"),
        "without_floors": heading.pop("without_floors"),
        "optimum_error": heading.pop("optimum_error", 0.0),
        "seconds": heading.pop("seconds"),
        "optima": None if optima is None else np.array(optima),
        "marks": AnytimeSettings(**marks),
        "provenance": heading,
    }


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


def promises_table(results: Results) -> polars.DataFrame:
    """Return one line per policy, replication and side of a promise beyond floors."""
    facts, kept = results.rows, results.kept
    shape = (len(results.labels), results.replications, len(facts.names))
    runs = shape[0] * shape[1]
    sides = ["at_least" if sign == AT_LEAST else "at_most" for sign in facts.signs]
    rates = kept.amounts / results.horizon
    table: polars.DataFrame = load("polars").DataFrame(
        {
            **_who(results, shape),
            "promise": np.tile(facts.names, runs),
            "of": np.tile(["reward" if reward else "plays" for reward in facts.rewards], runs),
            "side": np.tile(sides, runs),
            "bound": np.tile(facts.bounds, runs),
            "rate": rates.ravel(),
            "missed": facts.misses(kept.amounts, results.horizon).ravel(),
            **{name: getattr(kept, name).ravel() for name in PromiseMoments._fields},
        }
    )
    return table


def _who(results: Results, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the columns that say which policy and replication a line is of."""
    return {
        "policy": np.repeat(results.labels, shape[1] * shape[2]),
        "replication": np.tile(np.repeat(np.arange(shape[1]), shape[2]), shape[0]),
    }


def from_tables(
    policies: int,
    rounds: polars.DataFrame,
    arms: polars.DataFrame,
    promises: polars.DataFrame | None = None,
) -> dict[str, Any]:
    """Return the fields of results that are in their tables."""
    wide = (policies, rounds["replication"].n_unique(), -1)

    def column(table: polars.DataFrame, name: str) -> Any:
        return table[name].to_numpy().reshape(wide)

    beyond: dict[str, Any] = {}
    if promises is not None:
        first = {name: column(promises, name)[0, 0].tolist() for name in ("promise", "side", "of")}
        beyond["rows"] = RowFacts(
            tuple(first["promise"]),
            tuple(AT_LEAST if side == "at_least" else AT_MOST for side in first["side"]),
            tuple(column(promises, "bound")[0, 0].tolist()),
            tuple(unit == "reward" for unit in first["of"]),
        )
        kept = (column(promises, name) for name in PromiseMoments._fields)
        beyond["kept"] = PromiseMoments(*kept)
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
        **beyond,
    }
