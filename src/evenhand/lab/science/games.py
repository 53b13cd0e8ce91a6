"""What the study plays: random instances of many worlds, with every policy that is compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from evenhand.core.delay import Delay, Geometric
from evenhand.environment import Environment
from evenhand.generate import random_environment
from evenhand.lab.science._worlds import DRIFT, WORLDS
from evenhand.policies import Policy, make_policy
from evenhand.sweeps import Grid

INDEPENDENT = "independent arms"
LATE_FEEDBACK = "feedback 50 rounds late"
MANY_ARMS = "many arms"
OURS, FORGETTING = "priced", "priced, forgetting"
FIXED_ETAS = (1, 10, 50, 200)
SURPLUSES = ("inf", 30, 3)
VARIANTS = (
    FORGETTING,
    *(f"priced η={eta}" for eta in FIXED_ETAS),
    *(f"priced surplus={surplus}" for surplus in SURPLUSES),
)
TIGHTNESS = (0.7, 0.97)
CROWD, SHORTEST = (300, 5), 100
PARTS_OF_HORIZON = (40, 10, 4)
LATE = Geometric(50.0)
SEED = 1
ONE_OF_EACH = (
    OURS,
    "tscsf-b η=10",
    "tscsf-b η=paper",
    "lfg η=paper",
    "cl-sg",
    "fair-learn",
    "pessimistic",
    "ucb-lp",
    "simplex-mixture",
    "strict-rate",
)


@dataclass(frozen=True)
class Scope:
    """How large the study is; the defaults are the published ones."""

    instances: int = 40
    horizon: int = 20_000
    replications: int = 20

    @property
    def of_each_world(self) -> int:
        """How many instances there are of each world of other arms."""
        return max(self.instances // 4, 1)

    @property
    def for_long(self) -> int:
        """How many instances are played ten times as long."""
        return max(self.instances // 5, 1)

    @property
    def horizons(self) -> list[int]:
        """The horizons of independent arms, from a fortieth of the usual one to ten times it.

        >>> Scope().horizons
        [500, 2000, 5000, 20000, 200000]
        """
        shorter = {max(self.horizon // part, SHORTEST) for part in PARTS_OF_HORIZON}
        return sorted({*shorter, self.horizon, 10 * self.horizon})


def policies(scope: Scope) -> dict[str, Policy]:
    """Return all policies compared, and `priced` at other etas and surpluses than its own."""
    made = {OURS: make_policy("priced")}
    made |= {
        f"priced surplus={surplus}": make_policy("priced", surplus=surplus) for surplus in SURPLUSES
    }
    made |= {f"priced η={eta}": make_policy("priced", eta=eta) for eta in FIXED_ETAS}
    for name in ("tscsf-b", "lfg"):
        made |= {f"{name} η={eta}": make_policy(name, eta=eta) for eta in (1, 10, 100, "paper")}
    for name in ("fair-learn", "pessimistic"):
        made |= {name: make_policy(name), f"{name} ucb": make_policy(name, base="ucb")}
    for name in ("ucb-lp", "simplex-mixture", "strict-rate", "cl-sg", "floor-first"):
        made[name] = make_policy(name)
    made[FORGETTING] = make_policy("priced", half_life=scope.horizon / 20)
    return made


def instance(number: int) -> Environment:
    """Return a random feasible instance: N 5 to 50, m 1 to N/3, floors at 70 to 97% of the limit.

    >>> instance(0).problem.plays >= 1
    True
    """
    rng = np.random.default_rng(number)
    arms = int(rng.integers(5, 51))
    plays = int(rng.integers(1, arms // 3 + 1))
    return random_environment(rng, arms, plays, TIGHTNESS)


class Game(NamedTuple):
    """An instance of a world at a horizon, and the policies that play it, by label."""

    world: str
    number: int
    labels: tuple[str, ...]
    environment: Environment
    horizon: int
    delay: Delay = 0

    @property
    def name(self) -> str:
        """What the instance is called."""
        return f"{self.world} {self.number + 1}, T = {self.horizon}"


def games(scope: Scope) -> list[Game]:
    """Return all instances of the study: independent arms first, then the other worlds."""
    return [*_independent(scope), *_other_worlds(scope), *_crowds(scope), *_late(scope)]


def _independent(scope: Scope) -> Iterator[Game]:
    everybody = tuple(label for label in policies(scope) if label != FORGETTING)
    for horizon in scope.horizons:
        labels = everybody if horizon == scope.horizon else ONE_OF_EACH
        for number in range(scope.for_long if horizon > scope.horizon else scope.instances):
            yield Game(INDEPENDENT, number, labels, instance(number), horizon)


def _other_worlds(scope: Scope) -> Iterator[Game]:
    for name, world in WORLDS.items():
        labels = (*ONE_OF_EACH, FORGETTING) if name == DRIFT else ONE_OF_EACH
        for number in range(scope.of_each_world):
            nature = world(np.random.default_rng(number), scope.horizon)
            yield Game(name, number, labels, nature, scope.horizon)


def _crowds(scope: Scope) -> Iterator[Game]:
    horizon = max(scope.horizon // 10, CROWD[0])
    for number in range(scope.of_each_world):
        nature = random_environment(np.random.default_rng(number), *CROWD, TIGHTNESS)
        yield Game(MANY_ARMS, number, ONE_OF_EACH, nature, horizon)


def _late(scope: Scope) -> Iterator[Game]:
    for number in range(scope.of_each_world):
        yield Game(LATE_FEEDBACK, number, ONE_OF_EACH, instance(number), scope.horizon, LATE)


def grids_of(scope: Scope, played: Sequence[Game]) -> dict[str, tuple[Grid, list[Game]]]:
    """Return the study as grids, one for feedback at once and one for late feedback."""
    everybody, grids = policies(scope), {}
    for delay, group in groupby(played, key=lambda game: game.delay):
        own = list(group)
        grid = Grid(
            {game.name: game.environment for game in own},
            everybody,
            sorted({game.horizon for game in own}),
            scope.replications,
            SEED,
            delay,
            limits={
                game.name: {"policies": list(game.labels), "horizons": [game.horizon]}
                for game in own
            },
        )
        grids["late" if delay else "at-once"] = grid, own
    return grids
