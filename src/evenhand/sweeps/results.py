"""What a sweep has found: the results of its cells, from the parts on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.checks import known
from evenhand.errors import InputError
from evenhand.extras import load
from evenhand.results import Results
from evenhand.storage import write_whole
from evenhand.sweeps.folder import FAILURES, SUMMARY, parts, read_about
from evenhand.sweeps.instances import Generated
from evenhand.sweeps.tasks import kept_rounds, schema

if TYPE_CHECKING:
    import polars


class Place(NamedTuple):
    """Where a cell stands in the grid."""

    number: int
    instance: str
    label: str
    horizon: int


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
        self.folder = Path(folder)
        self.about = read_about(self.folder)
        try:
            grid = self.about["grid"]
            self.instances: dict[str, dict[str, Any]] = grid["instances"]
            self.policies: dict[str, dict[str, Any]] = grid["policies"]
            self.horizons: list[int] = grid["horizons"]
            self.replications: int = grid["replications"]
        except (KeyError, TypeError) as error:
            raise InputError(f"{str(self.folder)!r} must hold a sweep: no {error}") from None

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.instances) * len(self.policies) * len(self.horizons)

    @cached_property
    def runs_done(self) -> int:
        """How many runs have been written, of ``cells * replications``."""
        return sum(len(part.runs) for part in parts(self.folder))

    @property
    def complete(self) -> bool:
        """Whether every run has been written."""
        return self.runs_done == self.cells * self.replications

    @property
    def failures(self) -> list[dict[str, Any]]:
        """What was given up, when the sweep last ended."""
        path = self.folder / FAILURES
        found: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
        return found

    def results(self, instance: str, horizon: int) -> Results:
        """Return the results of an instance, for all policies whose cells are complete."""
        known("instance", [instance], self.instances)
        if horizon not in self.horizons:
            raise InputError(f"horizon must be one of {self.horizons}, got {horizon!r}")
        table = self.runs(instance)
        found = [place for place in self._places(instance) if place.horizon == horizon]
        rows = [(place, _of_cell(table, place)) for place in found]
        whole = [(place, own) for place, own in rows if len(own) == self.replications]
        if not whole:
            raise InputError(f"instance {instance!r} must have a complete cell at T={horizon}")
        return self._put_together(instance, *zip(*whole, strict=True))

    def summary(self) -> polars.DataFrame:
        """Return one line for each cell that has a run: its settings, and what came of it."""
        pl = load("polars")
        lines = [line for instance in self.instances for line in self._lines(instance)]
        if not lines:
            raise InputError(f"{str(self.folder)!r} must hold at least one finished part")
        table: polars.DataFrame = pl.DataFrame(lines, infer_schema_length=None)
        return table

    def save_summary(self) -> None:
        """Write the summary beside the parts."""
        write_whole(self.folder / SUMMARY, partial(self.summary().write_parquet))

    def runs(self, instance: str | None = None) -> polars.DataFrame:
        """Return one line for each run, of one instance or of all, in the order of the grid."""
        pl, step = load("polars"), self._runs_of_instance
        wanted = range(self.cells * self.replications)
        if instance is not None:
            first = list(self.instances).index(instance) * step
            wanted = range(first, first + step)
        paths = [
            part.path
            for part in parts(self.folder)
            if part.runs.start < wanted.stop and wanted.start < part.runs.stop
        ]
        try:
            read = pl.read_parquet(paths) if paths else pl.DataFrame(schema=schema())
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{str(self.folder)!r} must hold undamaged parts: {error}") from None
        run = pl.col("cell") * self.replications + pl.col("replication")
        table: polars.DataFrame = read.filter(run.is_between(wanted.start, wanted.stop - 1))
        return table.sort("cell", "replication")

    @property
    def _runs_of_instance(self) -> int:
        return len(self.policies) * len(self.horizons) * self.replications

    def _places(self, instance: str) -> Iterator[Place]:
        """Yield the cells of an instance in the order of the grid."""
        number = list(self.instances).index(instance) * len(self.policies) * len(self.horizons)
        for label in self.policies:
            for horizon in self.horizons:
                yield Place(number, instance, label, horizon)
                number += 1

    def _lines(self, instance: str) -> Iterator[dict[str, Any]]:
        """Yield the summary's lines of an instance."""
        table = self.runs(instance)
        for place in self._places(instance):
            rows = _of_cell(table, place)
            if len(rows):
                results = self._put_together(instance, [place], [rows])
                yield {**self._settings(place), **_found(results, place.label)}

    def _settings(self, place: Place) -> dict[str, Any]:
        """Return what a cell is, with a column for every parameter of any policy."""
        about = self.instances[place.instance]
        parameters = {key: None for policy in self.policies.values() for key in policy}
        own = {key: _written(value) for key, value in self.policies[place.label].items()}
        arms = about["arms"]
        return {
            "cell": place.number,
            "instance": place.instance,
            "arms": arms if isinstance(arms, int) else len(arms),
            "plays": about["plays"],
            "tightness": about.get("tightness"),
            "label": place.label,
            "policy": own.pop("name"),
            **{key: own.get(key) for key in parameters if key != "name"},
            "horizon": place.horizon,
        }

    def _put_together(
        self, instance: str, places: Sequence[Place], tables: Sequence[polars.DataFrame]
    ) -> Results:
        """Return cells of one instance and horizon as results, as from a simulation."""
        about, first = self.instances[instance], tables[0]
        arms, floors = _arms_and_floors(about)
        shape = (len(places), len(first), -1)
        stacked = {
            name: np.concatenate([table[name].explode().to_numpy() for table in tables])
            for name in ("expected", "realised", "played", "estimates")
        }
        return Results(
            arms=arms,
            floors=floors,
            labels=tuple(place.label for place in places),
            policies=tuple(self.policies[place.label]["name"] for place in places),
            rounds=kept_rounds(places[0].horizon),
            **{name: values.reshape(shape) for name, values in stacked.items()},
            with_floors=first["with_floors"][0],
            without_floors=first["without_floors"][0],
            seconds=float("nan"),
            provenance=self.about,
        )


def _written(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _of_cell(table: polars.DataFrame, place: Place) -> polars.DataFrame:
    return table.filter(load("polars").col("cell") == place.number)


def _arms_and_floors(about: dict[str, Any]) -> tuple[tuple[str, ...], Any]:
    """Return the names and floors of an instance's arms; generated ones are drawn again."""
    if isinstance(about["arms"], list):
        return tuple(about["arms"]), np.array(about["floors"])
    problem = Generated("", **about).build().problem
    return problem.arms, problem.floors


def _found(results: Results, label: str) -> dict[str, Any]:
    """Return what came of a cell; a margin is half of a 95% interval."""
    shortfall, feasible = results.worst_shortfall(label), results.with_floors is not None
    several = results.replications > 1
    return {
        "replications": results.replications,
        "reward": results.reward(label).mean,
        "regret": float(results.regret(label).mean[-1]) if feasible else None,
        "margin": results.margin(label) if several else None,
        "worst_shortfall": shortfall.mean,
        "shortfall_margin": shortfall.standard_error * results.quantile() if several else None,
        "all_kept": results.all_kept(label),
        "with_floors": results.with_floors,
        "without_floors": results.without_floors,
    }
