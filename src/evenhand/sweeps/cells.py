"""The numbering of a grid's cells: instances first, then their policies, then their horizons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class Limit(NamedTuple):
    """The policies and horizons that an instance is played with, where these are not all."""

    policies: tuple[str, ...]
    horizons: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many cells the instance has."""
        return len(self.policies) * len(self.horizons)


class CellId(NamedTuple):
    """The id of a cell: its number, and the instance, policy and horizon."""

    number: int
    instance: str
    label: str
    horizon: int

    def __str__(self) -> str:
        return f"{self.instance} | {self.label} | T={self.horizon}"


class Numbering:
    """Numbers cells, and runs, which are a cell's replications: cell by cell.

    >>> cells = Numbering(["x", "y"], Limit(("lfg", "ucb"), (10, 20)), {"y": Limit(("lfg",), (5,))})
    >>> cells.count, str(cells.cell_id(3)), str(cells.cell_id(4))
    (5, 'x | ucb | T=20', 'y | lfg | T=5')
    """

    def __init__(
        self, instances: Sequence[str], everything: Limit, limits: Mapping[str, Limit]
    ) -> None:
        self._instances = list(instances)
        self._everything = everything
        self._limits = dict(limits)
        sizes = np.full(len(self._instances), everything.cells, dtype=np.int64)
        self._position = {name: index for index, name in enumerate(self._instances)}
        for name, limit in self._limits.items():
            sizes[self._position[name]] = limit.cells
        self._ends = np.cumsum(sizes)

    @property
    def count(self) -> int:
        """The number of cells."""
        return int(self._ends[-1]) if self._instances else 0

    def limit(self, instance: str) -> Limit:
        """Return the policies and horizons that an instance is played with."""
        return self._limits.get(instance, self._everything)

    def of(self, instance: str) -> range:
        """Return the numbers of an instance's cells."""
        end = int(self._ends[self._position[instance]])
        return range(end - self.limit(instance).cells, end)

    def cell_id(self, number: int) -> CellId:
        """Return what a cell is."""
        index = int(np.searchsorted(self._ends, number, side="right"))
        instance = self._instances[index]
        limit = self.limit(instance)
        policy, horizon = divmod(number - self.of(instance).start, len(limit.horizons))
        return CellId(number, instance, limit.policies[policy], limit.horizons[horizon])

    def cell_ids(self, instance: str) -> Iterator[CellId]:
        """Yield the cells of an instance."""
        return map(self.cell_id, self.of(instance))

    @property
    def rounds(self) -> int:
        """The number of rounds of one replication of every cell."""
        extra = sum(_rounds(limit) - _rounds(self._everything) for limit in self._limits.values())
        return len(self._instances) * _rounds(self._everything) + extra


def _rounds(limit: Limit) -> int:
    return len(limit.policies) * sum(limit.horizons)


def numbering_of(settings: Mapping[str, Any]) -> Numbering:
    """Return the numbering of a described grid."""
    everything = Limit(_labels(settings), tuple(settings["horizons"]))
    limits = {
        entry["name"]: Limit(
            tuple(entry.get("policies", everything.policies)),
            tuple(entry.get("horizons", everything.horizons)),
        )
        for entry in settings["instances"]
        if "policies" in entry or "horizons" in entry
    }
    return Numbering([entry["name"] for entry in settings["instances"]], everything, limits)


def _labels(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entry["label"] for entry in settings["policies"])
