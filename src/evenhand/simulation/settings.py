"""A simulation as a file: the environment, the policies, the horizon, replications and seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.checks import known, number, table_list, whole
from evenhand.environment import Environment
from evenhand.errors import InputError
from evenhand.files import ENVIRONMENT_KEYS, environment_from, read_toml
from evenhand.policies import Policy, make_policy
from evenhand.simulation.delay import Delay, Geometric, as_wait
from evenhand.simulation.runner import check_horizon, check_labels

KEYS = (*ENVIRONMENT_KEYS, "horizon", "replications", "seed", "delay", "policies")


@dataclass(frozen=True)
class Settings:
    """What a file says, checked; ``policies`` is empty if it names none."""

    environment: Environment
    policies: Mapping[str, Policy]
    horizon: int | None
    replications: int
    seed: int
    delay: Delay

    @property
    def played(self) -> Environment:
        """The environment of the rounds that are played: a trace as far as the horizon."""
        horizon = self.horizon
        return self.environment if horizon is None else self.environment.of_rounds(horizon)

    @classmethod
    def load(cls, path: Path) -> Settings:
        """Read a TOML file; the README shows its keys."""
        table = read_toml(path)
        known(f"key in {path}", table, KEYS)
        environment = environment_from(table, path.parent)
        horizon = table.get("horizon")
        if horizon is not None:
            check_horizon(environment, horizon)
        return cls(
            environment,
            _policies(table.get("policies", [])),
            horizon,
            whole("replications", table.get("replications", 1), least=1),
            whole("seed", table.get("seed", 0), least=0),
            delay_from(table.get("delay", 0)),
        )


def _policies(tables: object) -> dict[str, Policy]:
    pairs = [_policy(dict(table)) for table in table_list("policies", tables)]
    check_labels([label for label, _ in pairs])
    return dict(pairs)


def _policy(table: dict[str, Any]) -> tuple[str, Policy]:
    if "name" not in table:
        raise InputError("each [[policies]] table must have a name")
    label = table.pop("label", None)
    policy = make_policy(table.pop("name"), **table)
    return (policy.label() if label is None else label), policy


def delay_from(given: object) -> Delay:
    """Return the delay that a file says: a whole number, or a table with ``geometric``."""
    if isinstance(given, Mapping):
        known("key of delay", given, ("geometric",))
        return Geometric(number("mean of a geometric delay", given.get("geometric"), "above 0"))
    return as_wait(given).fixed
