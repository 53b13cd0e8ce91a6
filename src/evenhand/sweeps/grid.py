"""What a sweep consists of: instances x policies x horizons, each cell with its replications."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.checks import (
    NAME_RULE,
    as_list,
    check_known,
    check_whole,
    fail,
    is_name,
    located,
)
from evenhand.core.delay import Delay, check_delay
from evenhand.environment import Environment
from evenhand.files.describe import describe_anytime, describe_delay, describe_policies
from evenhand.files.grid import Source, describe_instance, read_grid
from evenhand.files.simulation import check_checkpoints
from evenhand.generate import Generated
from evenhand.policies import Policy, label_policies
from evenhand.results import Anytime
from evenhand.results.anytime import USUAL, check_anytime
from evenhand.simulation.run import check_learns
from evenhand.sweeps._instances import Instance, PickledEnvironment
from evenhand.sweeps.cells import CellId, Limit, Numbering

FEW_CHECKPOINTS = (10, 50)


class Cell(NamedTuple):
    """One policy in one instance for one horizon."""

    cell_id: CellId
    instance: Instance
    policy: Policy

    @property
    def number(self) -> int:
        """Its number in the grid."""
        return self.cell_id.number

    @property
    def horizon(self) -> int:
        """Its number of rounds."""
        return self.cell_id.horizon


@dataclass(frozen=True, eq=False, repr=False)
class Grid:
    """All cells of a sweep: every instance with every policy and horizon, unless limited.

    A *run* is one replication of one cell. What it gives depends on its cell, the seed and its
    replication alone.

    Parameters
    ----------
    instances
        Environments by name, or :class:`~evenhand.Generated` ones, drawn where they are needed.
    policies
        Policies or registered names; a mapping gives them labels.
    horizons
        One number of rounds, or several.
    replications, seed, delay
        As for :func:`~evenhand.simulate`.
    checkpoints
        At how many of the first and of the later rounds totals are kept; ``(100, 400)`` is what a
        simulation keeps.
    limits
        For instances that are not to be played with everything, by name: a mapping with
        ``policies`` (labels), ``horizons`` of their own, or both.
    anytime
        What the figures of every moment are measured against.

    Examples
    --------
    >>> from evenhand import Generated
    >>> grid = Grid({"random": Generated(10, 3, 0.9, seed=7)}, ["priced", "lfg"], [1_000, 2_000])
    >>> grid.cells
    4
    """

    instances: tuple[Instance, ...]
    policies: Mapping[str, Policy]
    horizons: tuple[int, ...]
    replications: int
    seed: int
    delay: Delay
    checkpoints: tuple[int, int]
    anytime: Anytime
    numbering: Numbering
    _sources: Mapping[str, Source]
    _limits: Mapping[str, Limit]

    def __init__(
        self,
        instances: Mapping[str, Source],
        policies: Mapping[str, Policy | str] | Sequence[Policy | str],
        horizons: int | Sequence[int],
        replications: int = 1,
        seed: int = 0,
        delay: Delay = 0,
        *,
        checkpoints: tuple[int, int] | None = None,
        limits: Mapping[str, Mapping[str, Any]] | None = None,
        anytime: Anytime = USUAL,
    ) -> None:
        everybody = label_policies(policies)
        every = _check_horizons(horizons)
        for name, value in (
            ("instances", _check_instances(instances)),
            ("policies", everybody),
            ("horizons", every),
            ("replications", check_whole("replications", replications, least=1)),
            ("seed", check_whole("seed", seed, least=0)),
            ("delay", check_delay(delay)),
            (
                "checkpoints",
                check_checkpoints(FEW_CHECKPOINTS if checkpoints is None else checkpoints),
            ),
            ("anytime", check_anytime(anytime)),
            ("_sources", dict(instances)),
        ):
            object.__setattr__(self, name, value)
        everything = Limit(tuple(everybody), every)
        if limits is not None and not isinstance(limits, Mapping):
            fail("limits", "a mapping from instances to their policies and horizons", limits)
        checked = {
            name: _check_limit(name, given, everything) for name, given in (limits or {}).items()
        }
        check_known("instance", checked, self._sources)
        numbering = Numbering([instance.name for instance in self.instances], everything, checked)
        object.__setattr__(self, "numbering", numbering)
        object.__setattr__(self, "_limits", checked)
        self._check_cells()

    @classmethod
    def load(cls, path: Path | str) -> Grid:
        """Read a TOML file, of a grid or of a simulation; the README shows the keys."""
        given = read_grid(Path(path))._asdict()
        return cls(**given)

    def __repr__(self) -> str:
        return f"Grid({self.cells:,} cells, {self.runs:,} runs)"

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.numbering.count

    @property
    def runs(self) -> int:
        """The number of runs of all cells."""
        return self.cells * self.replications

    @property
    def rounds(self) -> int:
        """The number of rounds of all runs."""
        return self.numbering.rounds * self.replications

    def cell(self, number: int) -> Cell:
        """Return a cell by its number, counted from 0."""
        if check_whole("number of a cell", number, least=0) >= self.cells:
            fail("number of a cell", f"below {self.cells}", number)
        cell_id = self.numbering.cell_id(number)
        return Cell(cell_id, self._by_name[cell_id.instance], self.policies[cell_id.label])

    @cached_property
    def _by_name(self) -> dict[str, Instance]:
        return {instance.name: instance for instance in self.instances}

    @cached_property
    def digest(self) -> str:
        """A digest of everything that results depend on."""
        return settings_digest(self.describe())

    def describe(self) -> dict[str, Any]:
        """Return everything that results depend on, as the file of a grid would say it."""
        return {
            "instances": [self._describe_instance(name) for name in self._sources],
            "policies": describe_policies(self.policies),
            "horizons": list(self.horizons),
            "replications": self.replications,
            "seed": self.seed,
            "delay": describe_delay(self.delay),
            "checkpoints": list(self.checkpoints),
            "anytime": describe_anytime(self.anytime),
        }

    def _describe_instance(self, name: str) -> dict[str, Any]:
        limit = self._limits.get(name)
        own = {} if limit is None else {key: list(value) for key, value in limit._asdict().items()}
        return {**describe_instance(name, self._sources[name]), **own}

    def _check_cells(self) -> None:
        """Raise for a horizon longer than a trace or too short for the figures, and for a policy.

        One that knows nature's means plays no instance with contexts.
        """
        for name, source in self._sources.items():
            labels, horizons = self.numbering.limit(name)
            with located(f"instance {name!r}"):
                self.anytime.settings_for(min(horizons))
                if isinstance(source, Environment):
                    source.check_horizon(max(horizons))
                    contexts = bool(source.problem.features)
                else:
                    contexts = source.features > 0
                for label in labels:
                    check_learns(self.policies[label], contexts=contexts)


def settings_digest(settings: Mapping[str, Any]) -> str:
    """Return a digest of a described grid, the same from Python and from the JSON of its folder."""
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()


def _check_instances(given: object) -> tuple[Instance, ...]:
    if not isinstance(given, Mapping) or not given:
        fail("instances of a grid", "a mapping from names to environments, at least one", given)
    found = []
    for name, source in given.items():
        if not is_name(name):
            fail("name of an instance", NAME_RULE, name)
        if isinstance(source, Environment):
            found.append(Instance(name, PickledEnvironment.of(source)))
        elif isinstance(source, Generated):
            found.append(Instance(name, source))
        else:
            fail(f"instance {name!r}", "an Environment or Generated", source)
    return tuple(found)


def _check_horizons(given: object) -> tuple[int, ...]:
    values = as_list("horizons", given)
    horizons = tuple(check_whole("horizon", value, least=1) for value in values)
    if len(set(horizons)) < len(horizons):
        fail("horizons", "different", list(horizons))
    return horizons


def _check_limit(name: str, given: object, everything: Limit) -> Limit:
    if not isinstance(given, Mapping):
        fail(f"limit of instance {name!r}", "a mapping with policies and horizons", given)
    check_known(f"limit of instance {name!r}", given, Limit._fields)
    labels = as_list(
        f"policies of instance {name!r}", given.get("policies", list(everything.policies))
    )
    check_known(f"policy label of instance {name!r}", labels, everything.policies)
    horizons = given.get("horizons", list(everything.horizons))
    return Limit(tuple(dict.fromkeys(labels)), _check_horizons(horizons))
