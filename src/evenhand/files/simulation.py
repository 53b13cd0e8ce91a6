"""A simulation as a file: the environment, the policies, the horizon, replications and seed.

What a grid's file says beside its instances is the same, and is read here, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.checks import (
    POSITIVE,
    as_list,
    check_known,
    check_number,
    check_whole,
    fail,
)
from evenhand.core.delay import Delay, Geometric, as_wait
from evenhand.environment import Environment
from evenhand.errors import InputError
from evenhand.files._environment import ENVIRONMENT_KEYS, environment_from, read_toml
from evenhand.files._policies import policies_from
from evenhand.policies.policy import Policy
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
    """Return at how many of the first and of the later rounds totals are kept, or complain."""
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
