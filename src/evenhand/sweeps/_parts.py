"""Parts as tables: one line a run, and with a cell's first line what the cell needs to be read.

Nothing about a part is ever computed again: kept rounds, arms, floors, means and optimum are in it.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.arrays import Floats, Integers
from evenhand.core.extras import load
from evenhand.core.forms import Form
from evenhand.core.sealed import about_parquet
from evenhand.errors import InputError
from evenhand.results.anytime import RUN_COLUMNS
from evenhand.results.promises import PromiseMoments, RowFacts
from evenhand.simulation.run import Record
from evenhand.sweeps._instances import Prepared
from evenhand.sweeps._versions import short_digest

if TYPE_CHECKING:
    import polars

FORM = Form("evenhand part", 1)


class StoredPart(NamedTuple):
    """A part with the runs that it holds: in a file, or in memory."""

    runs: range
    location: Path | bytes

    def content(self) -> bytes:
        """Return what is in the file, or would be."""
        return self.location if isinstance(self.location, bytes) else self.location.read_bytes()

    def __str__(self) -> str:
        return "a part in memory" if isinstance(self.location, bytes) else repr(str(self.location))


class Facts(NamedTuple):
    """What all runs of a cell have in common; ``optima`` only in a world that changes."""

    rounds: Integers
    arms: tuple[str, ...]
    floors: Floats
    means: Floats
    optima: Floats | None
    rows: RowFacts


# The columns of the facts of a cell, those of the rows of promises last.
FACTS = ("rounds", "arms", "floors", "means", "optima", "promises", "signs", "bounds", "rewards")


def schema() -> dict[str, Any]:
    """Return the columns of a run: its totals and tallies as lists."""
    pl = load("polars")
    return {
        "cell": pl.Int64,
        "replication": pl.Int64,
        "with_floors": pl.Float64,
        "without_floors": pl.Float64,
        "optimum_error": pl.Float64,
        "expected": pl.List(pl.Float64),
        "realised": pl.List(pl.Float64),
        "played": pl.List(pl.Int64),
        "estimates": pl.List(pl.Float64),
        "behind": pl.List(pl.Int64),
        "largest_debts": pl.List(pl.Float64),
        "largest_debts_after": pl.List(pl.Float64),
        "longest_gaps": pl.List(pl.Int64),
        "window_shortfalls": pl.List(pl.Float64),
        **{name: pl.List(pl.Float64) for name in PromiseMoments._fields},
    }


def part_schema() -> dict[str, Any]:
    """Return the columns of a part: those of a run, and a cell's facts in its first line."""
    pl = load("polars")
    return {
        **schema(),
        "rounds": pl.List(pl.Int64),
        "arms": pl.List(pl.String),
        "floors": pl.List(pl.Float64),
        "means": pl.List(pl.Float64),
        "optima": pl.List(pl.Float64),
        "promises": pl.List(pl.String),
        "signs": pl.List(pl.Float64),
        "bounds": pl.List(pl.Float64),
        "rewards": pl.List(pl.Boolean),
    }


def line_of(
    cell: int, replication: int, prepared: Prepared, record: Record, rounds: Integers | None
) -> tuple[Any, ...]:
    """Return the line of a run; the rounds kept, and the other facts, with a cell's first one."""
    problem, means = prepared.environment.problem, prepared.environment.means
    facts: tuple[Any, ...] = (None,) * len(FACTS)
    if rounds is not None:
        of_arms = list(problem.arms), problem.floors.tolist(), means.tolist()
        optima = None if prepared.optima is None else prepared.optima.tolist()
        facts = rounds.tolist(), *of_arms, optima, *map(list, RowFacts.of(problem.rows))
    return cell, replication, *prepared.best, *record.columns(problem), *facts


def part_of(digest: str, runs: range) -> dict[str, Any]:
    """Return what a part says it is: the grid's digest, its runs, and how many lines it has."""
    return FORM.write({"grid": digest, "runs": [runs.start, runs.stop], "rows": len(runs)})


def check_part(content: bytes, runs: range, digest: str) -> dict[str, Any]:
    """Return the description of a part, or raise if it is damaged or of another grid."""
    about = FORM.read(about_parquet(content))
    wanted = FORM.read(part_of(digest, runs))
    wrong = [key for key, value in wanted.items() if about.get(key) != value]
    if wrong:
        raise InputError(f"it is of another sweep, or of other runs: {', '.join(wrong)} differ")
    return about


def read_lines(content: bytes, runs: range, digest: str, replications: int) -> polars.DataFrame:
    """Return the lines of a part that is what it should be, and which code has played them."""
    pl = load("polars")
    about = check_part(content, runs, digest)
    try:
        table: polars.DataFrame = pl.read_parquet(io.BytesIO(content))
    except pl.exceptions.PolarsError as error:
        raise InputError(f"it cannot be read: {error}") from None
    numbers = table["cell"] * replications + table["replication"]
    if numbers.to_list() != list(runs):
        raise InputError("it holds other runs than it says")
    if "optimum_error" not in table.columns:
        table = table.with_columns(optimum_error=pl.lit(0.0))
    if "promises" not in table.columns:
        missing = (*PromiseMoments._fields, *FACTS[-len(RowFacts._fields) :])
        kinds = part_schema()
        table = table.with_columns(**{name: pl.lit([], dtype=kinds[name]) for name in missing})
    table = table.select(*part_schema())
    return table.with_columns(code=pl.lit(short_digest(about["versions"])))


class InstanceRuns:
    """The runs of one instance as flat arrays, from which each cell's are cut."""

    def __init__(self, table: polars.DataFrame) -> None:
        self.table = table
        self._cell = table["cell"].to_numpy()
        self._code = table["code"].to_list()
        self._filled = np.flatnonzero(table["arms"].is_not_null().to_numpy())
        self._facts = table.select(FACTS).drop_nulls("arms").rows()
        self._flat = {name: table[name].explode().drop_nulls().to_numpy() for name in RUN_COLUMNS}
        self._ends = {
            name: np.cumsum([0, *table[name].list.len().to_list()], dtype=np.int64)
            for name in RUN_COLUMNS
        }

    def of(self, number: int) -> range:
        """Return the lines that belong to a cell."""
        start, stop = np.searchsorted(self._cell, [number, number + 1])
        return range(int(start), int(stop))

    def values(self, name: str, number: int) -> NDArray[Any]:
        """Return a column of lists for a cell: one row a run."""
        lines, ends = self.of(number), self._ends[name]
        flat = self._flat[name][ends[lines.start] : ends[lines.stop]]
        return flat.reshape(len(lines), len(flat) // max(len(lines), 1))

    def facts(self, number: int) -> Facts:
        """Return what all runs of a cell have in common."""
        rounds, arms, floors, means, optima, *rows = self._facts[
            np.searchsorted(self._filled, self.of(number).start)
        ]
        best = None if optima is None else np.array(optima)
        arrays = np.array(rounds), tuple(arms), np.array(floors), np.array(means)
        return Facts(*arrays, best, RowFacts(*(tuple(part or ()) for part in rows)))

    def code(self, number: int) -> str:
        """Return which code has played a cell's runs; several if a resume was forced."""
        lines = self.of(number)
        return "+".join(sorted(set(self._code[lines.start : lines.stop])))
