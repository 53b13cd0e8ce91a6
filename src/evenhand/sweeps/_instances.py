"""The instances of a grid, as they are sent to workers and as they are played there.

A given one is sent as bytes, a generated one as the numbers it is made of.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from evenhand.core.arrays import Floats
from evenhand.environment import Environment
from evenhand.generate import Generated
from evenhand.optimum.environment import Best, best_up_to, find_best
from evenhand.simulation.run import checkpoints


@dataclass(frozen=True)
class PickledEnvironment:
    """A pickled environment."""

    arms: int
    pickled: bytes = field(repr=False)

    @classmethod
    def of(cls, environment: Environment) -> PickledEnvironment:
        """Wrap an environment."""
        return cls(len(environment.problem.arms), pickle.dumps(environment))

    def build(self) -> Environment:
        """Return the environment."""
        environment: Environment = pickle.loads(self.pickled)
        return environment


ShippedInstance: TypeAlias = PickledEnvironment | Generated


class Instance(NamedTuple):
    """An instance by name."""

    name: str
    source: ShippedInstance

    @property
    def arms(self) -> int:
        """How many arms it has."""
        return self.source.arms

    @property
    def weight(self) -> int:
        """How many bytes are sent with a task; none for a generated one."""
        return len(self.source.pickled) if isinstance(self.source, PickledEnvironment) else 0


class Prepared(NamedTuple):
    """An instance ready to be played, and what its regret is measured against.

    ``optima`` is Opt-F up to each kept round in a world that changes; None in one that does not.
    """

    environment: Environment
    best: Best
    optima: Floats | None = None


def prepare(source: ShippedInstance, horizon: int, kept: tuple[int, int]) -> Prepared:
    """Build an instance and solve it, once in a process for many tasks.

    Only a trace depends on the horizon: it counts as far as it is played; and only a world that
    changes depends on the rounds kept.
    """
    environment = build(source)
    if environment.changes:
        return solved_changes(source, horizon, kept)
    longest = environment.longest_horizon
    return solved(source, None if longest is None else min(horizon, longest))


@lru_cache(maxsize=8)
def build(source: ShippedInstance) -> Environment:
    """Build an instance."""
    return source.build()


@lru_cache(maxsize=8)
def solved(source: ShippedInstance, horizon: int | None) -> Prepared:
    """Return an instance, or the first rounds of its trace, with its optimum."""
    environment = build(source)
    if horizon is not None:
        environment = environment.of_rounds(horizon)
    return Prepared(environment, find_best(environment))


@lru_cache(maxsize=8)
def solved_changes(source: ShippedInstance, horizon: int, kept: tuple[int, int]) -> Prepared:
    """Return an instance that changes, with its optimum up to each kept round."""
    environment = build(source)
    return Prepared(environment, *best_up_to(environment, checkpoints(horizon, *kept)))
