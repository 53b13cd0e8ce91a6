"""What a sweep consists of: instances x policies x horizons, each cell with its replications."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.checks import fail, known, table_list, whole
from evenhand.errors import InputError
from evenhand.files import read_toml
from evenhand.policies import Policy, make_policy
from evenhand.simulation.delay import Delay
from evenhand.simulation.description import describe_delay, describe_policy
from evenhand.simulation.runner import check_horizon, check_labels
from evenhand.simulation.settings import delay_from
from evenhand.sweeps.instances import Given, Instance, as_list, read_instances

KEYS = ("instances", "policies", "horizons", "replications", "seed", "delay")


class Cell(NamedTuple):
    """One policy in one instance for one horizon."""

    number: int
    instance: Instance
    label: str
    policy: Policy
    horizon: int

    def __str__(self) -> str:
        return cell_name(self.instance.name, self.label, self.horizon)


@dataclass(frozen=True)
class Grid:
    """All cells of a sweep, numbered: instances first, then policies, then horizons.

    A *run* is one replication of one cell; runs are numbered too, cell by cell. What a run gives
    depends on its cell, the seed and its replication alone.
    """

    instances: tuple[Instance, ...]
    policies: Mapping[str, Policy]
    horizons: tuple[int, ...]
    replications: int
    seed: int
    delay: Delay = 0

    @classmethod
    def load(cls, path: Path | str) -> Grid:
        """Read a TOML file; the README shows its keys."""
        path = Path(path)
        table = read_toml(path)
        known(f"key in {path}", table, KEYS)
        for key in ("instances", "policies", "horizons"):
            if not table.get(key):
                raise InputError(f"{path} must have {key}: without any the grid is empty")
        horizons = [
            whole("horizon", given, least=1) for given in as_list("horizons", table["horizons"])
        ]
        instances = read_instances(table["instances"], path.parent)
        _check_horizons(instances, horizons)
        return cls(
            instances,
            _policies(table["policies"]),
            tuple(horizons),
            whole("replications", table.get("replications", 1), least=1),
            whole("seed", table.get("seed", 0), least=0),
            delay_from(table.get("delay", 0)),
        )

    def __post_init__(self) -> None:
        for name in ("instances", "policies", "horizons"):
            if not getattr(self, name):
                fail(f"{name} of a grid", "at least one", "none")
        if len(set(self.horizons)) < len(self.horizons):
            fail("horizons", "different", list(self.horizons))

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.instances) * len(self.policies) * len(self.horizons)

    @property
    def runs(self) -> int:
        """The number of runs of all cells."""
        return self.cells * self.replications

    @property
    def rounds(self) -> int:
        """The number of rounds of all runs."""
        pairs = len(self.instances) * len(self.policies)
        return pairs * sum(self.horizons) * self.replications

    def cell(self, number: int) -> Cell:
        """Return a cell by its number."""
        rest, horizon = divmod(number, len(self.horizons))
        instance, policy = divmod(rest, len(self.policies))
        label, made = self._labelled[policy]
        return Cell(number, self.instances[instance], label, made, self.horizons[horizon])

    @cached_property
    def _labelled(self) -> tuple[tuple[str, Policy], ...]:
        return tuple(self.policies.items())

    @cached_property
    def digest(self) -> str:
        """A digest of everything that results depend on."""
        return settings_digest(self.describe())

    def describe(self) -> dict[str, Any]:
        """Return everything that results depend on, as plain data."""
        return {
            "instances": {instance.name: instance.describe() for instance in self.instances},
            "policies": {label: describe_policy(policy) for label, policy in self.policies.items()},
            "horizons": list(self.horizons),
            "replications": self.replications,
            "seed": self.seed,
            "delay": describe_delay(self.delay),
        }


def settings_digest(settings: Mapping[str, Any]) -> str:
    """Return a digest of a described grid, the same from Python and from the JSON of its folder."""
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()


def cell_name(instance: str, label: str, horizon: int) -> str:
    """Return how a cell is called wherever it is shown."""
    return f"{instance} | {label} | T={horizon}"


def _check_horizons(instances: tuple[Instance, ...], horizons: list[int]) -> None:
    """Complain about a horizon that is longer than a trace."""
    for instance in instances:
        if isinstance(instance, Given):
            try:
                check_horizon(instance.build(), max(horizons))
            except InputError as error:
                raise InputError(f"instance {instance.name!r}: {error}") from None


def _policies(tables: object) -> dict[str, Policy]:
    """Cross each policy's lists of parameters."""
    pairs = [pair for table in table_list("policies", tables) for pair in _crossed(dict(table))]
    check_labels([label for label, _ in pairs])
    return dict(pairs)


def _crossed(table: dict[str, Any]) -> list[tuple[str, Policy]]:
    if "name" not in table:
        raise InputError("each [[policies]] table must have a name")
    name, label = table.pop("name"), table.pop("label", None)
    if label is not None:
        check_labels([label])
    lists = {key: as_list(f"{key} of policy {name!r}", given) for key, given in table.items()}
    swept = [key for key, values in lists.items() if len(values) > 1]
    pairs = []
    for values in product(*lists.values()):
        policy = make_policy(name, **dict(zip(lists, values, strict=True)))
        own = policy.label(also=swept)
        pairs.append((own if label is None else " ".join([label, *policy.shown(swept)]), policy))
    return pairs
