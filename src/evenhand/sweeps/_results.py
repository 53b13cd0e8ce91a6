"""What a sweep has found: the results of its cells, from the parts on disk."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.checks import brief, check_known, check_whole
from evenhand.core.extras import load
from evenhand.core.provenance import version_differences
from evenhand.errors import InputError
from evenhand.files.simulation import anytime_from
from evenhand.results import Results
from evenhand.results.anytime import RUN_COLUMNS
from evenhand.sweeps._parts import InstanceRuns, StoredPart, part_schema, read_lines, schema
from evenhand.sweeps._summary import FOUND, cell_columns, found_columns, parameter_columns
from evenhand.sweeps.cells import CellId, numbering_of
from evenhand.sweeps.folder import ABOUT, in_order, named_parts, read_about, read_failures
from evenhand.sweeps.grid import settings_digest

if TYPE_CHECKING:
    import polars


class SweepResults:
    """The cells of a sweep, complete or not; everything is read from its folder.

    Examples
    --------
    ::

        found = SweepResults("out")
        found.summary()                             # a polars DataFrame, one line a cell
        found.results("setting 1", horizon=20_000)  # as from simulate()
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder: Path | None = Path(folder)
        self._set_up(read_about(self.folder), named_parts(self.folder), None)

    @classmethod
    def in_memory(
        cls, about: dict[str, Any], parts: Sequence[StoredPart], failures: Sequence[dict[str, Any]]
    ) -> SweepResults:
        """Return what a sweep without a folder has found."""
        found = cls.__new__(cls)
        found.folder = None
        found._set_up(about, parts, list(failures))
        return found

    def _set_up(
        self,
        about: dict[str, Any],
        parts: Iterable[StoredPart],
        failures: list[dict[str, Any]] | None,
    ) -> None:
        """Check what a sweep says of itself, and put its parts in order."""
        self.about, self._failures = about, failures
        try:
            settings = about["settings"]
            self._described = _tables(settings["instances"], "name")
            self.policies = _tables(settings["policies"], "label")
            self._names = {label: str(table["name"]) for label, table in self.policies.items()}
            self.horizons = [check_whole("horizon", h, least=1) for h in settings["horizons"]]
            self.replications = check_whole("replications", settings["replications"], least=1)
            self._numbering = numbering_of(settings)
            self._anytime = anytime_from(settings["anytime"])
            if not self.cells:
                raise ValueError("it has no cells")
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(
                f"{self._where} must hold a sweep: {ABOUT} is damaged: "
                f"{type(error).__name__}: {error}"
            ) from None
        self._parts = in_order(parts, self.cells * self.replications)
        # Neighbouring instances want the same parts.
        self._read = lru_cache(maxsize=4)(
            partial(_read, digest=settings_digest(settings), replications=self.replications)
        )

    @property
    def _where(self) -> str:
        return "memory" if self.folder is None else repr(str(self.folder))

    def __repr__(self) -> str:
        done = f"{self.runs_done:,} of {self.cells * self.replications:,} runs"
        return f"SweepResults({self._where}: {self.cells:,} cells, {done})"

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self._numbering.count

    @property
    def measured_against(self) -> str:
        """What the figures of every moment are measured against, in words."""
        burn_in, tolerance, window = astuple(self._anytime)
        first = "1,000 rounds or a tenth of T" if burn_in is None else f"{burn_in:,} rounds"
        last = "a tenth of T" if window is None else f"{window:,} rounds"
        return f"burn-in {first}, tolerance {tolerance:g} plays, window {last}"

    @property
    def instances(self) -> list[str]:
        """The names of the instances."""
        return list(self._described)

    @cached_property
    def runs_done(self) -> int:
        """How many runs have been written, of ``cells * replications``."""
        return sum(len(part.runs) for part in self._parts)

    @property
    def complete(self) -> bool:
        """Whether every run has been written."""
        return self.runs_done == self.cells * self.replications

    @property
    def versions(self) -> list[dict[str, Any]]:
        """What has played this sweep; several if a resume with any version was asked for."""
        return [self.about["matching"], *self.about.get("also", [])]

    @property
    def version_note(self) -> str:
        """Which versions resumed what others began; empty if none did."""
        first, *others = self.versions
        told = [", ".join(version_differences(first, other)) for other in others]
        return f"played by different versions of the code: {'; '.join(told)}" if told else ""

    def is_complete(self, instance: str, horizon: int) -> bool:
        """Say whether all cells of an instance at a horizon have all their runs."""
        cells = [
            cell_id for cell_id in self._numbering.cell_ids(instance) if cell_id.horizon == horizon
        ]
        return bool(cells) and all(self._covered(cell_id.number) for cell_id in cells)

    def _covered(self, cell: int) -> bool:
        """Say whether the parts hold all runs of a cell."""
        wanted = range(cell * self.replications, (cell + 1) * self.replications)
        first = bisect_left(self._parts, wanted.start, key=_last_run)
        stop = bisect_left(self._parts, wanted.stop, key=_first_run)
        held = sum(
            min(part.runs.stop, wanted.stop) - max(part.runs.start, wanted.start)
            for part in self._parts[first:stop]
        )
        return held == len(wanted)

    @property
    def failures(self) -> list[dict[str, Any]]:
        """What was given up, when the sweep last ended."""
        if self._failures is not None:
            return self._failures
        return [] if self.folder is None else read_failures(self.folder)

    def results(self, instance: str, horizon: int) -> Results:
        """Return the results of an instance, for all policies whose cells are complete."""
        check_known("instance", [instance], self.instances)
        horizons = self._numbering.limit(instance).horizons
        if horizon not in horizons:
            raise InputError(f"horizon must be one of {list(horizons)}, got {brief(horizon)}")
        runs = InstanceRuns(self._lines_of(instance))
        cell_ids = [
            cell_id
            for cell_id in self._numbering.cell_ids(instance)
            if cell_id.horizon == horizon and len(runs.of(cell_id.number)) == self.replications
        ]
        if not cell_ids:
            raise InputError(f"instance {instance!r} must have a complete cell at T={horizon}")
        return self._put_together(runs, cell_ids)

    def summary(self) -> polars.DataFrame:
        """Return one line for each cell that has a run: its settings, and what came of it.

        A margin is half of a 95% interval of the mean; ``shortfall_bulk`` is what 95% of the runs'
        worst shortfalls stay within, and ``worst_excess`` by how much upper bounds were exceeded.
        Regret is null where no policy could keep the promises. A parameter is a number if it is one
        for all policies, else a text. ``code`` is a digest of all versions that played the cell;
        several if a resume was forced.
        """
        return self._summary

    @cached_property
    def _summary(self) -> polars.DataFrame:
        pl = load("polars")
        lines = [line for instance in self.instances for line in self._lines(instance)]
        if not lines:
            raise InputError(f"{self._where} must hold at least one finished part")
        numbers = dict.fromkeys(("tightness", *FOUND), pl.Float64)
        table: polars.DataFrame = pl.DataFrame(
            lines, schema_overrides={**numbers, "instance_seed": pl.Int64}, infer_schema_length=None
        )
        return table

    def runs(self, instance: str | None = None) -> polars.DataFrame:
        """Return one line for each run, of one instance or of all, in the order of the grid."""
        return self._lines_of(instance).select(list(schema()))

    def _lines_of(self, instance: str | None) -> polars.DataFrame:
        """Return the lines of the parts, of one instance or of all."""
        pl, wanted = load("polars"), range(self.cells)
        if instance is not None:
            check_known("instance", [instance], self.instances)
            wanted = self._numbering.of(instance)
        first = bisect_left(self._parts, wanted.start * self.replications, key=_last_run)
        stop = bisect_left(self._parts, wanted.stop * self.replications, key=_first_run)
        inside = pl.col("cell").is_between(wanted.start, wanted.stop - 1)
        tables = [self._read(part).filter(inside) for part in self._parts[first:stop]]
        none = pl.DataFrame(schema={**part_schema(), "code": pl.String})
        table: polars.DataFrame = pl.concat([none, *tables])
        return table

    @cached_property
    def _parameters(self) -> dict[str, dict[str, Any]]:
        return parameter_columns(self.policies)

    def _lines(self, instance: str) -> Iterator[dict[str, Any]]:
        """Yield the summary's lines of an instance."""
        runs = InstanceRuns(self._lines_of(instance))
        for cell_id in self._numbering.cell_ids(instance):
            if runs.of(cell_id.number):
                results = self._put_together(runs, [cell_id])
                yield {
                    **cell_columns(cell_id, self._described[cell_id.instance], results),
                    **self._parameters[cell_id.label],
                    "horizon": cell_id.horizon,
                    **found_columns(results, cell_id.label),
                    "code": runs.code(cell_id.number),
                }

    def _put_together(self, runs: InstanceRuns, cell_ids: Sequence[CellId]) -> Results:
        """Return cells of one instance and horizon as results, as from a simulation."""
        number = cell_ids[0].number
        facts, first = runs.facts(number), runs.of(number).start

        columns = {
            name: np.array([runs.values(name, cell_id.number) for cell_id in cell_ids])
            for name in RUN_COLUMNS
        }
        return Results.of_columns(
            columns,
            arms=facts.arms,
            floors=facts.floors,
            means=facts.means,
            labels=tuple(cell_id.label for cell_id in cell_ids),
            policies=tuple(self._names[cell_id.label] for cell_id in cell_ids),
            rounds=facts.rounds,
            with_floors=runs.table["with_floors"][first],
            without_floors=runs.table["without_floors"][first],
            optimum_error=runs.table["optimum_error"][first],
            seconds=float("nan"),
            provenance=self.about,
            optima=facts.optima,
            marks=self._anytime.settings_for(cell_ids[0].horizon),
            rows=facts.rows,
        )


def _tables(given: Any, key: str) -> dict[str, dict[str, Any]]:
    """Return a list of tables by what one of their keys says."""
    if not isinstance(given, list) or not all(isinstance(table, dict) for table in given):
        raise TypeError("instances and policies must be lists of tables")
    return {table[key]: table for table in given}


def _read(part: StoredPart, digest: str, replications: int) -> polars.DataFrame:
    """Read a part; anything but those runs of this grid, undamaged, is refused."""
    try:
        return read_lines(part.content(), part.runs, digest, replications)
    except (InputError, OSError) as error:
        raise InputError(
            f"{part} must be an undamaged part of this sweep: {error}; "
            "resumed, the sweep plays it again"
        ) from None


def _first_run(part: StoredPart) -> int:
    return part.runs.start


def _last_run(part: StoredPart) -> int:
    return part.runs.stop - 1
