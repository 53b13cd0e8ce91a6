"""What the study plays: random instances of many worlds, with every policy that is compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np

from evenhand.core.delay import Delay, Geometric
from evenhand.environment import Environment
from evenhand.generate import random_environment
from evenhand.lab.science._promised_worlds import PROMISED
from evenhand.lab.science._worlds import DRIFT, UNINFORMATIVE, WORLDS
from evenhand.policies import Policy, make_policy
from evenhand.sweeps import Grid

INDEPENDENT = "independent arms"
LATE_FEEDBACK = "feedback 50 rounds late"
MANY_ARMS = "many arms"
CONTEXTS = "contexts"
OURS, FORGETTING = "priced", "priced, forgetting"
LOGISTIC, NO_CONTEXTS = "priced, logistic", "priced, no contexts"
FIXED_ETAS = (1, 10, 50, 200)
SURPLUSES = ("inf", 30, 3)
VARIANTS = (
    FORGETTING,
    LOGISTIC,
    NO_CONTEXTS,
    *(f"priced η={eta}" for eta in FIXED_ETAS),
    *(f"priced surplus={surplus}" for surplus in SURPLUSES),
)
TIGHTNESS = (0.7, 0.97)
TIGHTNESS_WITH_CONTEXTS, FEATURES = (0.6, 0.9), 5
# With contexts, plain debts are compared at etas around the one that has the regret of `priced`.
ETAS_WITH_CONTEXTS = (10, 20, 35, 50, 70, 100, 200)
ETAS_WITH_PROMISES = (5, 10, 20, 35, 50, 100)
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
    def with_contexts(self) -> int:
        """How many instances have contexts."""
        return max(self.instances // 2, 1)

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
    """Return all policies compared, and `priced` at other etas and surpluses than its own.

    Where there are contexts, the belief of all that look at them is linear.
    """
    made = everybody(scope)
    etas = sorted({*ETAS_WITH_CONTEXTS, *ETAS_WITH_PROMISES})
    made |= {f"tscsf-b η={eta}": make_policy("tscsf-b", eta=eta) for eta in etas}
    made[LOGISTIC] = make_policy("priced", belief="logistic")
    made[NO_CONTEXTS] = make_policy("priced", belief="beta")
    made[FORGETTING] = make_policy("priced", half_life=scope.horizon / 20)
    return made


def everybody(scope: Scope) -> dict[str, Policy]:
    """Return the policies that are compared on independent arms."""
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


def instance_with_contexts(number: int) -> Environment:
    """Return a random instance: N 6 to 20, m 1 to 4, five features, floors at 60 to 90%.

    >>> len(instance_with_contexts(0).problem.features)
    5
    """
    rng = np.random.default_rng(number)
    arms, plays = int(rng.integers(6, 21)), int(rng.integers(1, 5))
    return random_environment(rng, arms, plays, TIGHTNESS_WITH_CONTEXTS, FEATURES)


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


def world_names() -> tuple[str, ...]:
    """Return the names of all worlds."""
    return tuple(_GAMES)


def games(scope: Scope, worlds: Collection[str] = ()) -> list[Game]:
    """Return all instances of the study, or those of some worlds."""
    return [game for name in _GAMES if not worlds or name in worlds for game in _GAMES[name](scope)]


def _independent(scope: Scope) -> Iterator[Game]:
    for horizon in scope.horizons:
        labels = tuple(everybody(scope)) if horizon == scope.horizon else ONE_OF_EACH
        for number in range(scope.for_long if horizon > scope.horizon else scope.instances):
            yield Game(INDEPENDENT, number, labels, instance(number), horizon)


def _dependent(name: str, scope: Scope) -> Iterator[Game]:
    labels = (*ONE_OF_EACH, FORGETTING) if name == DRIFT else ONE_OF_EACH
    for number in range(scope.of_each_world):
        nature = WORLDS[name](np.random.default_rng(number), scope.horizon)
        yield Game(name, number, labels, nature, scope.horizon)


def _crowds(scope: Scope) -> Iterator[Game]:
    horizon = max(scope.horizon // 10, CROWD[0])
    for number in range(scope.of_each_world):
        nature = random_environment(np.random.default_rng(number), *CROWD, TIGHTNESS)
        yield Game(MANY_ARMS, number, ONE_OF_EACH, nature, horizon)


def _with_contexts(scope: Scope) -> Iterator[Game]:
    debts = (f"tscsf-b η={eta}" for eta in ETAS_WITH_CONTEXTS)
    labels = (OURS, LOGISTIC, NO_CONTEXTS, *debts, "lfg η=100", "fair-learn")
    for number in range(scope.with_contexts):
        nature = instance_with_contexts(number)
        yield Game(CONTEXTS, number, labels, nature, scope.horizon)


def _promised(name: str, scope: Scope) -> Iterator[Game]:
    debts = (f"tscsf-b η={eta}" for eta in ETAS_WITH_PROMISES)
    labels = (OURS, *debts, "lfg η=100", "fair-learn", "pessimistic")
    for number in range(scope.with_contexts):
        nature = PROMISED[name](np.random.default_rng(number), scope.horizon)
        yield Game(name, number, labels, nature, scope.horizon)


def _uninformative(name: str, scope: Scope) -> Iterator[Game]:
    for number in range(scope.of_each_world):
        nature = UNINFORMATIVE[name](np.random.default_rng(number))
        yield Game(name, number, (OURS, LOGISTIC, NO_CONTEXTS), nature, scope.horizon)


def _late(scope: Scope) -> Iterator[Game]:
    for number in range(scope.of_each_world):
        yield Game(LATE_FEEDBACK, number, ONE_OF_EACH, instance(number), scope.horizon, LATE)


_GAMES: Mapping[str, Callable[[Scope], Iterator[Game]]] = {
    INDEPENDENT: _independent,
    **{name: partial(_dependent, name) for name in WORLDS},
    MANY_ARMS: _crowds,
    CONTEXTS: _with_contexts,
    **{name: partial(_uninformative, name) for name in UNINFORMATIVE},
    **{name: partial(_promised, name) for name in PROMISED},
    LATE_FEEDBACK: _late,
}


def grids_of(scope: Scope, played: Sequence[Game]) -> dict[str, tuple[Grid, list[Game]]]:
    """Return the study as grids, one for feedback at once and one for late feedback."""
    by_label, grids = policies(scope), {}
    for delay, group in groupby(played, key=lambda game: game.delay):
        own = list(group)
        grid = Grid(
            {game.name: game.environment for game in own},
            by_label,
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
