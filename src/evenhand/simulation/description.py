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
    """Return the settings of a simulation as plain data, for its provenance."""
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
        "policies": {
            label: {"name": policy.name, **plain(policy.parameters())}
            for label, policy in policies.items()
        },
        "horizon": horizon,
        "replications": replications,
        "seed": seed,
        "delay": {"geometric": delay.mean} if isinstance(delay, Geometric) else delay,
    }


def table_of(table: NDArray[Any]) -> dict[str, Any]:
    """Return a table as it is if it is small, and always its shape and a digest of its bytes."""
    if not table.size:
        return {}
    return {
        "shape": list(table.shape),
        "sha256": hashlib.sha256(table.tobytes()).hexdigest(),
        "table": table.astype(float).tolist() if len(table) <= MANY_SETS else None,
    }
