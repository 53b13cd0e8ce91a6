"""Beyond the paper: a study of `priced` on random instances, of independent arms and others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.environment import Environment
from evenhand.errors import InputError
from evenhand.generate import random_environment
from evenhand.optimum._environment import find_optimum
from evenhand.paper._worlds import WORLDS
from evenhand.policies import Policy, make_policy
from evenhand.policies._families import WithEta
from evenhand.policies._policy import Situation
from evenhand.results import Results
from evenhand.sweeps import Grid, SweepResults

INDEPENDENT = "independent arms"
MANY_ARMS = "many arms, a tenth of the rounds"
CROWD, SHORT = (300, 5), 10
SEED = 1
START, END = "<!-- study -->", "<!-- end of study -->"


@dataclass(frozen=True)
class Scope:
    """How large the study is; the defaults are the published ones."""

    instances: int = 40
    horizon: int = 20_000
    replications: int = 20

    @property
    def of_each_world(self) -> int:
        """How many instances there are of each world of dependent arms."""
        return max(self.instances // len(WORLDS), 1)


class Score(NamedTuple):
    """One policy on one instance."""

    world: str
    label: str
    instance: int
    shortfall: float
    regret: float
    all_kept: float
    predicted: float | None


class Row(NamedTuple):
    """One policy over all instances of a world; regret is in parts of the optimum."""

    world: str
    label: str
    shortfall: float
    largest_shortfall: float
    regret: float
    largest_regret: float
    all_kept: float
    predicted: float | None


def policies() -> dict[str, Policy]:
    """Return the policies compared, and `priced` at fixed etas to see whether eta matters."""
    made = [make_policy("priced")]
    made += [make_policy("priced", eta=eta) for eta in (1, 10, 50, 200)]
    for name in ("tscsf-b", "lfg"):
        made += [make_policy(name, eta=eta) for eta in (1, 10, 100, "paper")]
    made += [make_policy("cl-sg"), make_policy("floor-first")]
    labels = [f"{p.name} η={p.parameters().get('eta', 'none')}" for p in made]
    return dict(zip([label.replace(".0", "") for label in labels], made, strict=True))


def few_policies() -> dict[str, Policy]:
    """Return the policies compared in the other worlds."""
    few = (
        "priced η=anytime",
        "priced η=1",
        "tscsf-b η=10",
        "tscsf-b η=paper",
        "floor-first η=none",
    )
    return {label: policy for label, policy in policies().items() if label in few}


def instance(number: int) -> Environment:
    """Return a random feasible instance: N 5 to 50, m 1 to N/3, floors at 70 to 97% of the limit.

    >>> instance(0).problem.plays >= 1
    True
    """
    rng = np.random.default_rng(number)
    arms = int(rng.integers(5, 51))
    plays = int(rng.integers(1, arms // 3 + 1))
    return random_environment(rng, arms, plays, tightness=(0.7, 0.97))


class Game(NamedTuple):
    """An instance of a world, and the policies that play it."""

    world: str
    number: int
    policies: dict[str, Policy]
    environment: Environment
    horizon: int

    @property
    def name(self) -> str:
        """What the instance is called."""
        return f"{self.world} {self.number + 1}"


def games(scope: Scope) -> list[Game]:
    """Return all instances of the study: independent arms first, then the other worlds."""
    everybody, few = policies(), few_policies()
    made = [
        Game(INDEPENDENT, number, everybody, instance(number), scope.horizon)
        for number in range(scope.instances)
    ]
    for name, world in WORLDS.items():
        for number in range(scope.of_each_world):
            rng = np.random.default_rng(number)
            made.append(Game(name, number, few, world(rng, scope.horizon), scope.horizon))
    for number in range(scope.of_each_world):
        rng, horizon = np.random.default_rng(number), max(scope.horizon // SHORT, CROWD[0])
        crowd = random_environment(rng, *CROWD, tightness=(0.7, 0.97))
        made.append(Game(MANY_ARMS, number, few, crowd, horizon))
    return made


def grid_of(scope: Scope, played: Sequence[Game]) -> Grid:
    """Return the study as a grid."""
    return Grid(
        {game.name: game.environment for game in played},
        policies(),
        scope.horizon,
        scope.replications,
        SEED,
        limits={
            game.name: {"policies": list(game.policies), "horizons": [game.horizon]}
            for game in played
            if game.world != INDEPENDENT
        },
    )


def scores_of(played: Sequence[Game], found: SweepResults) -> list[Score]:
    """Return how every policy did on every instance."""
    rows = []
    for game in played:
        rows += _scores(game, found.results(game.name, game.horizon))
    return rows


def _scores(game: Game, results: Results) -> list[Score]:
    environment = game.environment
    best = find_optimum(environment)
    dearest = float(best.prices.max())
    rows = []
    for label, policy in game.policies.items():
        predicted = None
        if isinstance(policy, WithEta) and policy.name == "tscsf-b":
            situation = Situation(environment.problem, results.horizon)
            predicted = policy.eta_for(situation) * dearest / results.horizon
        rows.append(
            Score(
                game.world,
                label,
                game.number,
                results.worst_shortfall(label).mean,
                float(results.regret(label).mean[-1]) / best.with_floors,
                results.all_kept(label),
                predicted,
            )
        )
    return rows


def summarise(scores: Sequence[Score]) -> list[Row]:
    """Return one row per world and policy, in the order of the comparison."""
    rows = []
    for world, label in dict.fromkeys((score.world, score.label) for score in scores):
        own = [score for score in scores if (score.world, score.label) == (world, label)]
        predicted = [score.predicted for score in own if score.predicted is not None]
        rows.append(
            Row(
                world,
                label,
                float(np.mean([score.shortfall for score in own])),
                max(score.shortfall for score in own),
                float(np.mean([score.regret for score in own])),
                max(score.regret for score in own),
                float(np.mean([score.all_kept for score in own])),
                float(np.mean(predicted)) if predicted else None,
            )
        )
    return rows


def as_json(scope: Scope, scores: Sequence[Score]) -> dict[str, Any]:
    """Return everything as plain data."""
    return {
        "scope": asdict(scope),
        "policies": [row._asdict() for row in summarise(scores)],
        "scores": [score._asdict() for score in scores],
    }


def as_markdown(scope: Scope, scores: Sequence[Score]) -> str:
    """Return the tables for the documentation: independent arms, then the other worlds."""
    rows = summarise(scores)
    heads = ("worst shortfall, mean", "largest", "R(T) / optimum, mean", "largest", "floors kept")
    each = f"T = {scope.horizon:,}, {scope.replications} replications each"
    independent = [
        [row.label, *_numbers(row), "" if row.predicted is None else f"{row.predicted:.5f}"]
        for row in rows
        if row.world == INDEPENDENT
    ]
    others = [[row.world, row.label, *_numbers(row)] for row in rows if row.world != INDEPENDENT]
    return "\n".join(
        [
            f"Independent arms: {scope.instances} instances, {each}.",
            "",
            *_table(["policy", *heads, "η price / T"], independent),
            "",
            f"Other worlds: {scope.of_each_world} instances of each, {each}.",
            "",
            *_table(["world", "policy", *heads], others),
        ]
    )


def _numbers(row: Row) -> list[str]:
    return [
        f"{row.shortfall:.5f}",
        f"{row.largest_shortfall:.5f}",
        f"{row.regret:.4f}",
        f"{row.largest_regret:.4f}",
        f"{row.all_kept:.0%}",
    ]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def with_block(page: Path, block: str) -> str:
    """Return a page with the block between its two marks replaced."""
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"page must be readable text, got {str(page)!r}: {error}") from None
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise InputError(f"{page} must have the marks {START} and {END}")
    return f"{before}{START}\n{block}\n{END}{after}"
