"""What a sweep has found: the results of its cells, from the parts on disk."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.checks import brief, known, whole
from evenhand.errors import InputError
from evenhand.extras import load
from evenhand.plain import written
from evenhand.results import Results
from evenhand.sealed import sealed_parquet
from evenhand.storage import write_bytes
from evenhand.sweeps.folder import ABOUT, FAILURES, SUMMARY, PartFile, parts, read_about
from evenhand.sweeps.grid import settings_digest
from evenhand.sweeps.reading import LISTS, InstanceRuns, check_arms, read_part
from evenhand.sweeps.tasks import kept_rounds, schema

if TYPE_CHECKING:
    import polars

FOUND = (
    "reward",
    "regret",
    "margin",
    "worst_shortfall",
    "shortfall_bulk",
    "all_kept",
    "with_floors",
    "without_floors",
)


class Place(NamedTuple):
    """Where a cell stands in the grid."""

    number: int
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
            grid = self.about["settings"]
            self.instances = _tables(grid["instances"], "plays", "arms")
            self.policies = _tables(grid["policies"], "name")
            for about in self.instances.values():
                check_arms(about)
            self.horizons = [whole("horizon", given, least=1) for given in grid["horizons"]]
            self.replications = whole("replications", grid["replications"], least=1)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{str(self.folder)!r} must hold a sweep: {ABOUT} is damaged: "
                f"{type(error).__name__}: {error}"
            ) from None
        self._parts = parts(self.folder, self.cells * self.replications)
        # Neighbouring instances want the same parts.
        digest = settings_digest(self.about["settings"])
        self._read = lru_cache(maxsize=4)(
            partial(read_part, digest=digest, replications=self.replications)
        )

    def __repr__(self) -> str:
        done = f"{self.runs_done:,} of {self.cells * self.replications:,} runs"
        return f"SweepResults({str(self.folder)!r}: {self.cells:,} cells, {done})"

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.instances) * self._cells_each

    @cached_property
    def runs_done(self) -> int:
        """How many runs have been written, of ``cells * replications``."""
        return sum(len(part.runs) for part in self._parts)

    @property
    def complete(self) -> bool:
        """Whether every run has been written."""
        return self.runs_done == self.cells * self.replications

    @property
    def failures(self) -> list[dict[str, Any]]:
        """What was given up, when the sweep last ended."""
        path = self.folder / FAILURES
        try:
            found: list[dict[str, Any]] = json.loads(path.read_bytes()) if path.exists() else []
        except ValueError as error:
            raise InputError(f"{str(path)!r} must be undamaged: {error}") from None
        return found

    def results(self, instance: str, horizon: int) -> Results:
        """Return the results of an instance, for all policies whose cells are complete."""
        known("instance", [instance], self.instances)
        if horizon not in self.horizons:
            raise InputError(f"horizon must be one of {self.horizons}, got {brief(horizon)}")
        runs = InstanceRuns(self.instances[instance], self.runs(instance))
        places = [
            place
            for place in self._places(instance)
            if place.horizon == horizon and len(runs.of(place.number)) == self.replications
        ]
        if not places:
            raise InputError(f"instance {instance!r} must have a complete cell at T={horizon}")
        return self._put_together(runs, places)

    def summary(self) -> polars.DataFrame:
        """Return one line for each cell that has a run: its settings, and what came of it.

        A margin is half of a 95% interval of the mean; ``shortfall_bulk`` is what 95% of the runs'
        worst shortfalls stay within. Regret is null where no policy could keep
        the floors. A parameter is a number if it is one for all policies, else a text.
        """
        return self._summary

    @cached_property
    def _summary(self) -> polars.DataFrame:
        pl = load("polars")
        lines = [line for instance in self.instances for line in self._lines(instance)]
        if not lines:
            raise InputError(f"{str(self.folder)!r} must hold at least one finished part")
        numbers = dict.fromkeys(("tightness", *FOUND), pl.Float64)
        table: polars.DataFrame = pl.DataFrame(
            lines,
            schema_overrides={**numbers, "instance_seed": pl.Int64},
            infer_schema_length=None,
        )
        return table

    def save_summary(self) -> None:
        """Write the summary beside the parts, with where it came from."""
        write_bytes(self.folder / SUMMARY, sealed_parquet(self.summary(), self.about))

    def runs(self, instance: str | None = None) -> polars.DataFrame:
        """Return one line for each run, of one instance or of all, in the order of the grid."""
        pl, wanted = load("polars"), range(self.cells)
        if instance is not None:
            wanted = range(self._first[instance], self._first[instance] + self._cells_each)
        first = bisect_left(self._parts, wanted.start * self.replications, key=_last_run)
        stop = bisect_left(self._parts, wanted.stop * self.replications, key=_first_run)
        inside = pl.col("cell").is_between(wanted.start, wanted.stop - 1)
        tables = [self._read(part).filter(inside) for part in self._parts[first:stop]]
        table: polars.DataFrame = pl.concat([pl.DataFrame(schema=schema()), *tables])
        return table

    @property
    def _cells_each(self) -> int:
        return len(self.policies) * len(self.horizons)

    @cached_property
    def _first(self) -> dict[str, int]:
        """The number of each instance's first cell."""
        return {name: place * self._cells_each for place, name in enumerate(self.instances)}

    @cached_property
    def _parameters(self) -> dict[str, dict[str, Any]]:
        """The parameters of each policy, null where it has none of that name."""
        names = dict.fromkeys(key for policy in self.policies.values() for key in policy)
        columns = {
            name: [policy.get(name) for policy in self.policies.values()]
            for name in names
            if name != "name"
        }
        for values in columns.values():
            if any(isinstance(value, str) for value in values):
                values[:] = [None if value is None else written(value) for value in values]
        return {
            label: {name: values[place] for name, values in columns.items()}
            for place, label in enumerate(self.policies)
        }

    def _places(self, instance: str) -> Iterator[Place]:
        """Yield the cells of an instance in the order of the grid."""
        number = self._first[instance]
        for label in self.policies:
            for horizon in self.horizons:
                yield Place(number, label, horizon)
                number += 1

    def _lines(self, instance: str) -> Iterator[dict[str, Any]]:
        """Yield the summary's lines of an instance."""
        runs = InstanceRuns(self.instances[instance], self.runs(instance))
        for place in self._places(instance):
            if runs.of(place.number):
                results = self._put_together(runs, [place])
                yield {**self._settings(instance, place), **_found(results, place.label)}

    def _settings(self, instance: str, place: Place) -> dict[str, Any]:
        """Return what a cell is, with a column for every parameter of any policy."""
        about = self.instances[instance]
        arms = about["arms"]
        return {
            "cell": place.number,
            "instance": instance,
            "arms": arms if isinstance(arms, int) else len(arms),
            "plays": about["plays"],
            "tightness": about.get("tightness"),
            "instance_seed": about.get("seed"),
            "label": place.label,
            "policy": self.policies[place.label]["name"],
            **self._parameters[place.label],
            "horizon": place.horizon,
        }

    def _put_together(self, runs: InstanceRuns, places: Sequence[Place]) -> Results:
        """Return cells of one instance and horizon as results, as from a simulation."""
        first = runs.of(places[0].number).start
        values = {
            name: np.array([runs.values(name, place.number) for place in places]) for name in LISTS
        }
        return Results(
            arms=runs.arms,
            floors=runs.floors,
            labels=tuple(place.label for place in places),
            policies=tuple(self.policies[place.label]["name"] for place in places),
            rounds=kept_rounds(places[0].horizon),
            **values,
            with_floors=runs.table["with_floors"][first],
            without_floors=runs.table["without_floors"][first],
            seconds=float("nan"),
            provenance=self.about,
        )


def _tables(given: Any, *keys: str) -> dict[str, dict[str, Any]]:
    """Return named tables, each of which has these keys."""
    if not isinstance(given, dict):
        raise TypeError("instances and policies must be tables")
    tables: dict[str, dict[str, Any]] = given
    for name, table in tables.items():
        for key in keys:
            if key not in table:
                raise TypeError(f"{name} has no {key}")
    return tables


def _first_run(part: PartFile) -> int:
    return part.runs.start


def _last_run(part: PartFile) -> int:
    return part.runs.stop - 1


def _found(results: Results, label: str) -> dict[str, Any]:
    """Return what came of a cell; a margin is half of a 95% interval."""
    shortfall, feasible = results.worst_shortfall(label), results.with_floors is not None
    several = results.replications > 1
    found = (
        results.reward(label).mean,
        float(results.regret(label).mean[-1]) if feasible else None,
        results.margin(label) if several else None,
        shortfall.mean,
        shortfall.bulk,
        results.all_kept(label),
        results.with_floors,
        results.without_floors,
    )
    return {"replications": results.replications, **dict(zip(FOUND, found, strict=True))}
