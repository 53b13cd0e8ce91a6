"""A simulation as a file: the environment, the policies, the horizon, replications and seed.

What a grid's file says beside its instances is the same, and is read here, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.checks import (
    POSITIVE,
    as_list,
    check_known,
    check_number,
    check_tables,
    check_whole,
    fail,
)
from evenhand.core.delay import Delay, Geometric, as_wait
from evenhand.environment import Environment
from evenhand.errors import InputError
from evenhand.files._environment import ENVIRONMENT_KEYS, environment_from, read_toml
from evenhand.policies.policy import Policy
from evenhand.policies.registry import check_labels, make_policy, surplus_of
from evenhand.results import Anytime
from evenhand.results.anytime import USUAL

SHARED_KEYS = (
    "horizon",
    "horizons",
    "policies",
    "replications",
    "seed",
    "delay",
    "checkpoints",
    "anytime",
)


class Shared(NamedTuple):
    """What the file of a simulation and that of a grid have in common.

    ``horizons`` is empty if the file names none, ``checkpoints`` None.
    """

    policies: dict[str, Policy]
    horizons: list[Any]
    replications: int
    seed: int
    delay: Delay
    checkpoints: Any
    anytime: Anytime


def shared_from(table: Mapping[str, Any]) -> Shared:
    """Read what a parsed file says beside environments."""
    if "horizon" in table and "horizons" in table:
        raise InputError("horizon and horizons must not both be given: they are the same")
    given = table.get("horizons", table.get("horizon"))
    return Shared(
        policies_from(table.get("policies", [])),
        [] if given is None else as_list("horizons", given),
        check_whole("replications", table.get("replications", 1), least=1),
        check_whole("seed", table.get("seed", 0), least=0),
        delay_from(table.get("delay", 0)),
        table.get("checkpoints"),
        anytime_from(table.get("anytime", {})),
    )


@dataclass(frozen=True)
class Settings:
    """What a file says, checked; ``policies`` is empty if it names none."""

    environment: Environment
    policies: Mapping[str, Policy]
    horizon: int | None
    replications: int
    seed: int
    delay: Delay
    anytime: Anytime = USUAL
    checkpoints: tuple[int, int] | None = None

    @property
    def played(self) -> Environment:
        """The environment of the rounds that are played: a trace as far as the horizon."""
        horizon = self.horizon
        return self.environment if horizon is None else self.environment.of_rounds(horizon)

    @classmethod
    def load(cls, path: Path | str) -> Settings:
        """Read a TOML file; the README shows its keys."""
        path = Path(path)
        table = read_toml(path)
        check_known(f"key in {path}", table, (*ENVIRONMENT_KEYS, *SHARED_KEYS))
        return cls.from_table(table, path.parent)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], folder: Path) -> Settings:
        """Read a parsed file; other files that it names are looked for in the folder."""
        environment, shared = environment_from(table, folder), shared_from(table)
        if len(shared.horizons) > 1:
            fail("horizons of a simulation", "one; several make a sweep", shared.horizons)
        horizon = shared.horizons[0] if shared.horizons else None
        if horizon is not None:
            environment.check_horizon(horizon)
        kept = None if shared.checkpoints is None else check_checkpoints(shared.checkpoints)
        numbers = shared.replications, shared.seed, shared.delay, shared.anytime
        return cls(environment, shared.policies, horizon, *numbers, kept)


def check_checkpoints(given: object) -> tuple[int, int]:
    """Return at how many of the first and of the later rounds totals are kept."""
    values = as_list("checkpoints", given)
    if len(values) != 2:
        fail("checkpoints", "two numbers, of first and of later rounds", given)
    first, later = values
    return (
        check_whole("first checkpoints", first, least=0),
        check_whole("later checkpoints", later, least=1),
    )


def delay_from(given: object) -> Delay:
    """Return the delay that a file says: a whole number, or a table with ``geometric``."""
    if isinstance(given, Mapping):
        check_known("key of delay", given, ("geometric",))
        mean = check_number("mean of a geometric delay", given.get("geometric"), POSITIVE)
        return Geometric(mean)
    return as_wait(given).fixed


def anytime_from(given: object) -> Anytime:
    """Return what a file says the figures of every moment are measured against."""
    if not isinstance(given, Mapping):
        fail("anytime", "a table", given)
    check_known("key of anytime", given, [field.name for field in fields(Anytime)])
    return Anytime(**given)


def policies_from(tables: object) -> dict[str, Policy]:
    """Return the policies of ``[[policies]]`` tables by label.

    A label tells the values of parameters that were given as a list of several.

    >>> list(policies_from([{"name": "lfg", "eta": [1, 10]}]))
    ['lfg eta=1', 'lfg eta=10']
    """
    given = check_tables("policies", tables)
    pairs = [pair for table in given for pair in _crossed(dict(table))]
    check_labels([label for label, _ in pairs])
    return dict(pairs)


def _crossed(table: dict[str, Any]) -> list[tuple[str, Policy]]:
    if "name" not in table:
        raise InputError("each [[policies]] table must have a name")
    name, label = table.pop("name"), table.pop("label", None)
    if label is not None:
        check_labels([label])
    if "debt" in table and "surplus" not in table:
        forms = as_list(f"debt of policy {name!r}", table.pop("debt"))
        table["surplus"] = [surplus_of(name, form) for form in forms]
    lists = {key: as_list(f"{key} of policy {name!r}", given) for key, given in table.items()}
    varied = [key for key, values in lists.items() if len(values) > 1]
    pairs = []
    for values in product(*lists.values()):
        policy = make_policy(name, **dict(zip(lists, values, strict=True)))
        own = policy.label(also=varied)
        words = own if label is None else " ".join([label, *policy.format_parameters(varied)])
        pairs.append((words, policy))
    return pairs
