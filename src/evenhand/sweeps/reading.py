"""Parts as arrays: the runs of an instance, from which those of each cell are cut."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand.arrays import Floats
from evenhand.errors import InputError
from evenhand.extras import load
from evenhand.sweeps.folder import PartFile, check_part
from evenhand.sweeps.instances import Generated
from evenhand.sweeps.tasks import schema

if TYPE_CHECKING:
    import polars

LISTS = ("expected", "realised", "played", "estimates")


class InstanceRuns:
    """The runs of one instance as flat arrays, from which each cell's are cut."""

    def __init__(self, about: dict[str, Any], table: polars.DataFrame) -> None:
        self.arms, self.floors = arms_and_floors(about)
        self.table = table
        self._cell = table["cell"].to_numpy()
        self._flat = {name: table[name].explode().to_numpy() for name in LISTS}
        self._ends = {
            name: np.cumsum([0, *table[name].list.len().to_list()], dtype=np.int64)
            for name in LISTS
        }

    def of(self, number: int) -> range:
        """Return the lines that belong to a cell."""
        start, stop = np.searchsorted(self._cell, [number, number + 1])
        return range(int(start), int(stop))

    def values(self, name: str, number: int) -> NDArray[Any]:
        """Return a column of lists for a cell: one row a run."""
        lines, ends = self.of(number), self._ends[name]
        flat = self._flat[name][ends[lines.start] : ends[lines.stop]]
        return flat.reshape(len(lines), -1)


def read_part(part: PartFile, digest: str, replications: int) -> polars.DataFrame:
    """Read a part; anything but those runs of this grid, undamaged, is refused."""
    pl = load("polars")
    try:
        content = part.path.read_bytes()
        check_part(part, content, digest)
        table: polars.DataFrame = pl.read_parquet(io.BytesIO(content)).select(list(schema()))
        runs = table["cell"] * replications + table["replication"]
        if runs.to_list() != list(part.runs):
            raise InputError("it holds other runs than it says")
        return table
    except (InputError, OSError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{str(part.path)!r} must be an undamaged part of this sweep: {error}; "
            "resumed, the sweep plays it again"
        ) from None


def check_arms(about: dict[str, Any]) -> None:
    """Complain about an instance whose arms could not be told: named ones, or those to be drawn."""
    if isinstance(about["arms"], list):
        if len(about["floors"]) != len(about["arms"]):
            raise ValueError("arms and floors are not as many")
    elif set(about) != {"arms", "plays", "tightness", "seed"}:
        raise ValueError(f"{sorted(about)} do not make an instance")


def arms_and_floors(about: dict[str, Any]) -> tuple[tuple[str, ...], Floats]:
    """Return the names and floors of an instance's arms; generated ones are drawn again."""
    if isinstance(about["arms"], list):
        return tuple(about["arms"]), np.array(about["floors"])
    problem = Generated("", **about).build().problem
    return problem.arms, problem.floors
