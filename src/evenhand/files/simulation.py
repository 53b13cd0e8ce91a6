"""A simulation as a file: the environment, the policies, the horizon, replications and seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from evenhand.core.checks import POSITIVE, check_known, check_number, check_whole, fail
from evenhand.core.delay import Delay, Geometric, as_wait
from evenhand.environment import Environment
from evenhand.files._environment import ENVIRONMENT_KEYS, environment_from, read_toml
from evenhand.files._policies import policies_from
from evenhand.policies.policy import Policy
from evenhand.results import Anytime
from evenhand.results.anytime import USUAL

KEYS = (*ENVIRONMENT_KEYS, "horizon", "replications", "seed", "delay", "anytime", "policies")


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
        check_known(f"key in {path}", table, KEYS)
        return cls.from_table(table, path.parent)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], folder: Path) -> Settings:
        """Read a parsed file; other files that it names are looked for in the folder."""
        environment = environment_from(table, folder)
        horizon = table.get("horizon")
        if horizon is not None:
            environment.check_horizon(horizon)
        return cls(
            environment,
            policies_from(table.get("policies", [])),
            horizon,
            check_whole("replications", table.get("replications", 1), least=1),
            check_whole("seed", table.get("seed", 0), least=0),
            delay_from(table.get("delay", 0)),
            anytime_from(table.get("anytime", {})),
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
