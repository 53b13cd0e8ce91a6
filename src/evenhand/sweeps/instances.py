"""The instances of a sweep: given as arms or files, or generated from a few numbers.

An instance travels to workers: a given one as bytes, a generated one as the numbers it is made of.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evenhand.benchmark import Yardsticks, find_yardsticks
from evenhand.checks import NAME_RULE, different, fail, is_name, known, number, table_list, whole
from evenhand.environment import Environment
from evenhand.errors import InputError
from evenhand.files import ENVIRONMENT_KEYS, environment_from
from evenhand.generate import random_environment
from evenhand.plain import written
from evenhand.simulation import Settings
from evenhand.simulation.description import describe_environment

MANY_SEEDS = 1_000_000
GENERATE_KEYS = ("arms", "plays", "tightness", "seeds")


@dataclass(frozen=True)
class Given:
    """An environment that the file describes, or another file that it names."""

    name: str
    arms: int
    plays: int
    pickled: bytes = field(repr=False)

    @classmethod
    def of(cls, name: str, environment: Environment) -> Given:
        """Wrap an environment."""
        problem = environment.problem
        return cls(name, len(problem.arms), problem.plays, pickle.dumps(environment))

    def build(self) -> Environment:
        """Return the environment."""
        environment: Environment = pickle.loads(self.pickled)
        return environment

    @property
    def weight(self) -> int:
        """How many bytes travel with a task."""
        return len(self.pickled)

    def describe(self) -> dict[str, Any]:
        """Return the environment as plain data."""
        return describe_environment(self.build())


@dataclass(frozen=True)
class Generated:
    """A random environment, made where it is needed; the seed decides all of it.

    >>> Generated("random", arms=10, plays=3, tightness=0.9, seed=7).build()
    Environment(10 arms, 3 plays, Independent, Bernoulli)
    """

    name: str
    arms: int
    plays: int
    tightness: float
    seed: int

    def build(self) -> Environment:
        """Draw the environment."""
        rng = np.random.default_rng(self.seed)
        return random_environment(rng, self.arms, self.plays, self.tightness)

    @property
    def weight(self) -> int:
        """How many bytes travel with a task: next to none."""
        return 0

    def describe(self) -> dict[str, Any]:
        """Return the numbers it is made of."""
        return {key: value for key, value in asdict(self).items() if key != "name"}


Instance: TypeAlias = Given | Generated


class Prepared(NamedTuple):
    """An instance ready to be played, and what its regret is measured against."""

    environment: Environment
    yardsticks: Yardsticks


def prepare(instance: Instance, horizon: int) -> Prepared:
    """Build an instance and solve it, once in a process for many tasks.

    Only a trace depends on the horizon: it counts as far as it is played.
    """
    environment = build(instance)
    longest = environment.longest_horizon
    return solved(instance, None if longest is None else min(horizon, longest))


@lru_cache(maxsize=8)
def build(instance: Instance) -> Environment:
    """Build an instance."""
    return instance.build()


@lru_cache(maxsize=8)
def solved(instance: Instance, horizon: int | None) -> Prepared:
    """Return an instance, or the first rounds of its trace, with its optimum."""
    environment = build(instance)
    if horizon is not None:
        environment = environment.of_rounds(horizon)
    return Prepared(environment, find_yardsticks(environment))


def read_instances(tables: object, folder: Path) -> tuple[Instance, ...]:
    """Read the ``[[instances]]`` of a sweep: arms, a list of files, or a generator each."""
    given = table_list("instances", tables)
    found = [instance for table in given for instance in _read(table, folder)]
    different("instances", (instance.name for instance in found))
    return tuple(found)


def _read(table: Mapping[str, Any], folder: Path) -> list[Instance]:
    if "files" in table:
        known("key of [[instances]] with files", table, ("files",))
        files = as_list("files of instances", table["files"])
        return [_from_file(folder, name) for name in files]
    keys = ("name", "generate") if "generate" in table else ("name", *ENVIRONMENT_KEYS)
    known("key of [[instances]]", table, ("files", "generate", *keys))
    name = table.get("name")
    if not is_name(name):
        fail("name of an instance", NAME_RULE, name)
    if "generate" in table:
        known("key of [[instances]] with generate", table, keys)
        return _generated(str(name), table["generate"])
    try:
        return [Given.of(str(name), environment_from(table, folder))]
    except InputError as error:
        raise InputError(f"instance {name!r}: {error}") from None


def _from_file(folder: Path, name: object) -> Instance:
    if not isinstance(name, str):
        fail("a file of instances", "the name of a file", name)
    path = folder / name
    try:
        return Given.of(path.stem, Settings.load(path).environment)
    except InputError as error:
        raise InputError(f"instance {path.stem!r}: {error}") from None


def _generated(name: str, table: object) -> list[Instance]:
    """Cross the generator's lists; names tell the values of those with more than one."""
    if not isinstance(table, Mapping):
        fail(f"generate of instance {name!r}", "a table", table)
    known(f"key of generate of instance {name!r}", table, GENERATE_KEYS)
    for key in GENERATE_KEYS:
        if key not in table:
            raise InputError(f"generate of instance {name!r} must have a value for {key!r}")
    arms, plays = (
        [whole(f"{key} to generate", x, least=1) for x in as_list(f"{key} to generate", table[key])]
        for key in ("arms", "plays")
    )
    tightness = [
        number("tightness to generate", x)
        for x in as_list("tightness to generate", table["tightness"])
    ]
    made: list[Instance] = []
    lists: dict[str, list[Any]] = {
        "arms": arms,
        "plays": plays,
        "tightness": tightness,
        "seed": _seeds(table["seeds"]),
    }
    for values in product(*lists.values()):
        pairs = zip(lists.items(), values, strict=True)
        parts = [f"{key}={written(value)}" for (key, options), value in pairs if len(options) > 1]
        made.append(Generated(" ".join([name, *parts]), *values))
    return made


def _seeds(given: object) -> list[int]:
    """Return a list of seeds; a number says how many, counted from 0."""
    if isinstance(given, list):
        return [whole("seed to generate", seed, least=0) for seed in as_list("seeds", given)]
    count = whole("seeds to generate", given, least=1)
    if count > MANY_SEEDS:
        fail("seeds to generate", f"at most {MANY_SEEDS:,}", count)
    return list(range(count))


def as_list(thing: str, given: object) -> list[Any]:
    """Return the values of a list that is not empty; a single value stands for itself."""
    values = given if isinstance(given, list) else [given]
    if not values:
        fail(thing, "at least one value", "none")
    return values
