"""The settings of a simulation as plain data, for its provenance."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from evenhand.environment import Environment
from evenhand.policies import Policy, plain
from evenhand.simulation.delay import Delay, Geometric

MANY_SETS = 100


def describe(
    environment: Environment,
    policies: Mapping[str, Policy],
    horizon: int,
    replications: int,
    seed: int,
    delay: Delay,
) -> dict[str, Any]:
    """Return the settings of a simulation as plain data."""
    return {
        **describe_environment(environment),
        "policies": {label: describe_policy(policy) for label, policy in policies.items()},
        "horizon": horizon,
        "replications": replications,
        "seed": seed,
        "delay": describe_delay(delay),
    }


def describe_environment(environment: Environment) -> dict[str, Any]:
    """Return an environment as plain data."""
    problem, sets = environment.problem, environment.world.sets
    return {
        "arms": list(problem.arms),
        "plays": problem.plays,
        "weights": problem.weights.tolist(),
        "floors": problem.floors.tolist(),
        "means": environment.means.tolist(),
        "availability": {
            "kind": type(environment.availability).__name__.lower(),
            "probabilities": sets.probabilities.tolist(),
            **table_of(sets.members),
            "chances": sets.chances.tolist() if len(sets.chances) <= MANY_SETS else None,
        },
        "rewards": {
            "kind": type(environment.rewards).__name__.lower(),
            "concentration": environment.world.concentration,
            **table_of(environment.world.recorded),
        },
    }


def describe_policy(policy: Policy) -> dict[str, Any]:
    """Return a policy as plain data."""
    return {"name": policy.name, **plain(policy.parameters())}


def describe_delay(delay: Delay) -> object:
    """Return a delay as a file says it."""
    return {"geometric": delay.mean} if isinstance(delay, Geometric) else delay


def table_of(table: NDArray[Any]) -> dict[str, Any]:
    """Return a table as it is if it is small, and always its shape and a digest of its bytes."""
    if not table.size:
        return {}
    return {
        "shape": list(table.shape),
        "sha256": hashlib.sha256(table.tobytes()).hexdigest(),
        "table": table.astype(float).tolist() if len(table) <= MANY_SETS else None,
    }
