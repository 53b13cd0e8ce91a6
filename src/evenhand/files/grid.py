"""A grid as a file: instances, policies, horizons, replications and seed.

The file of a simulation is a grid, too: of one instance, which has the name of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from evenhand.core.checks import (
    NAME_RULE,
    as_list,
    check_different,
    check_known,
    check_tables,
    check_whole,
    fail,
    is_name,
)
from evenhand.core.delay import Delay
from evenhand.core.plain import format_value
from evenhand.environment import Environment
from evenhand.errors import InputError
from evenhand.files._environment import ENVIRONMENT_KEYS, environment_from, read_toml
from evenhand.files.describe import describe_environment
from evenhand.files.simulation import SHARED_KEYS, Settings, shared_from
from evenhand.generate import Generated
from evenhand.policies.policy import Policy
from evenhand.results import Anytime

LIMIT_KEYS = ("policies", "horizons")
MANY_SEEDS = 1_000_000
GENERATE_KEYS = ("arms", "plays", "tightness", "seeds")
OPTIONAL_KEYS = ("features",)
Source: TypeAlias = Environment | Generated


class GridTables(NamedTuple):
    """What the file of a grid says, for the grid to check."""

    instances: dict[str, Source]
    policies: dict[str, Policy]
    horizons: list[Any]
    replications: int
    seed: int
    delay: Delay
    checkpoints: Any
    limits: dict[str, dict[str, Any]]
    anytime: Anytime


def read_grid(path: Path) -> GridTables:
    """Read the file of a grid or of a simulation; the README shows the keys."""
    table = read_toml(path)
    if "arms" in table:
        check_known(f"key in {path}", table, (*ENVIRONMENT_KEYS, *SHARED_KEYS))
        own = {key: table[key] for key in ENVIRONMENT_KEYS if key in table}
        shared = {key: table[key] for key in SHARED_KEYS if key in table}
        table = {**shared, "instances": [{"name": path.stem, **own}]}
    check_known(f"key in {path}", table, ("instances", *SHARED_KEYS))
    for key in ("instances", "policies"):
        if not table.get(key):
            raise InputError(f"{path} must have {key}: without any the grid is empty")
    return grid_from(table, path.parent)


def grid_from(table: Mapping[str, Any], folder: Path) -> GridTables:
    """Return what a parsed file says; other files that it names are looked for in the folder."""
    pairs: list[tuple[str, Source]] = []
    limits: dict[str, dict[str, Any]] = {}
    for entry in check_tables("instances", table["instances"]):
        found = _instances(entry, folder)
        own = {key: entry[key] for key in LIMIT_KEYS if key in entry}
        pairs += found
        limits |= {name: own for name, _ in found if own}
    check_different("instances", (name for name, _ in pairs))
    instances, shared = dict(pairs), shared_from(table)
    return GridTables(
        instances=instances,
        limits=limits,
        **{**shared._asdict(), "horizons": shared.horizons or _own_horizon(instances)},
    )


def describe_instance(name: str, source: Source) -> dict[str, Any]:
    """Return an instance as the ``[[instances]]`` table that it is read from.

    >>> describe_instance("random", Generated(10, 3, 0.9, seed=7))["generate"]["seeds"]
    [7]
    """
    if isinstance(source, Environment):
        return {"name": name, **describe_environment(source)}
    numbers = asdict(source)
    seeds = [numbers.pop("seed")]
    if not source.features:
        del numbers["features"]
    return {"name": name, "generate": {**numbers, "seeds": seeds}}


def _own_horizon(instances: Mapping[str, Source]) -> list[int]:
    """Return the length of the trace, if that is the one instance."""
    traces = [source for source in instances.values() if isinstance(source, Environment)]
    if len(instances) == len(traces) == 1:
        return [traces[0].check_horizon(None)]
    raise InputError("horizons must be given: without any the grid is empty")


def _instances(table: Mapping[str, Any], folder: Path) -> list[tuple[str, Source]]:
    """Return the instances of one table: arms, a list of files, or a generator."""
    if "files" in table:
        check_known("key of [[instances]] with files", table, ("files", *LIMIT_KEYS))
        files = as_list("files of instances", table["files"])
        return [_from_file(folder, name) for name in files]
    keys = ("name", "generate") if "generate" in table else ("name", *ENVIRONMENT_KEYS)
    check_known("key of [[instances]]", table, ("files", "generate", *keys, *LIMIT_KEYS))
    name = table.get("name")
    if not is_name(name):
        fail("name of an instance", NAME_RULE, name)
    if "generate" in table:
        check_known("key of [[instances]] with generate", table, (*keys, *LIMIT_KEYS))
        return _generated(str(name), table["generate"])
    try:
        return [(str(name), environment_from(table, folder))]
    except InputError as error:
        raise InputError(f"instance {name!r}: {error}") from None


def _from_file(folder: Path, name: object) -> tuple[str, Source]:
    if not isinstance(name, str):
        fail("a file of instances", "the name of a file", name)
    path = folder / name
    try:
        return path.stem, Settings.load(path).environment
    except InputError as error:
        raise InputError(f"instance {path.stem!r}: {error}") from None


def _generated(name: str, table: object) -> list[tuple[str, Source]]:
    """Cross the generator's lists; names tell the values of those with more than one."""
    if not isinstance(table, Mapping):
        fail(f"generate of instance {name!r}", "a table", table)
    allowed = (*GENERATE_KEYS, *OPTIONAL_KEYS)
    check_known(f"key of generate of instance {name!r}", table, allowed)
    for key in GENERATE_KEYS:
        if key not in table:
            raise InputError(f"generate of instance {name!r} must have a value for {key!r}")
    lists: dict[str, list[Any]] = {
        **{key: as_list(f"{key} to generate", table[key]) for key in GENERATE_KEYS[:-1]},
        "seed": _seeds(table["seeds"]),
        **{key: as_list(f"{key} to generate", table[key]) for key in OPTIONAL_KEYS if key in table},
    }
    made: list[tuple[str, Source]] = []
    for values in product(*lists.values()):
        pairs = zip(lists.items(), values, strict=True)
        parts = [f"{key}={format_value(value)}" for (key, all_), value in pairs if len(all_) > 1]
        made.append((" ".join([name, *parts]), Generated(**dict(zip(lists, values, strict=True)))))
    return made


def _seeds(given: object) -> list[Any]:
    """Return a list of seeds; a number says how many, counted from 0."""
    if isinstance(given, list):
        return as_list("seeds", given)
    count = check_whole("seeds to generate", given, least=1)
    if count > MANY_SEEDS:
        fail("seeds to generate", f"at most {MANY_SEEDS:,}", count)
    return list(range(count))
