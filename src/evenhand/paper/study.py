"""Beyond the paper: a study of `priced` on random instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.benchmark import find_optimum
from evenhand.environment import Environment
from evenhand.errors import InputError
from evenhand.generate import random_environment
from evenhand.policies import Policy, make_policy
from evenhand.policies.base import Situation, WithEta
from evenhand.results import Results
from evenhand.simulation import simulate
from evenhand.simulation.progress import Progress

START, END = "<!-- study -->", "<!-- end of study -->"


@dataclass(frozen=True)
class Scope:
    """How large the study is; the defaults are the published ones."""

    instances: int = 40
    horizon: int = 20_000
    replications: int = 20


class Score(NamedTuple):
    """One policy on one instance."""

    label: str
    instance: int
    shortfall: float
    regret: float
    all_kept: float
    predicted: float | None


class Row(NamedTuple):
    """One policy over all instances; regret is in parts of the optimum."""

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


def instance(number: int) -> Environment:
    """Return a random feasible instance: N 5 to 50, m 1 to N/3, floors at 70 to 97% of the limit.

    >>> instance(0).problem.plays >= 1
    True
    """
    rng = np.random.default_rng(number)
    arms = int(rng.integers(5, 51))
    plays = int(rng.integers(1, arms // 3 + 1))
    return random_environment(rng, arms, plays, tightness=(0.7, 0.97))


def run_study(scope: Scope) -> list[Score]:
    """Run every policy on every instance."""
    compared = policies()
    each = len(compared) * scope.replications * scope.horizon
    scores = []
    with Progress("study", each * scope.instances) as bar:
        for number in range(scope.instances):
            environment = instance(number)
            results = simulate(
                environment,
                compared,
                horizon=scope.horizon,
                replications=scope.replications,
                seed=number,
                progress=bar.stage(f"instance {number + 1}", each, each * number),
            )
            scores += _scores(number, environment, compared, results)
    return scores


def _scores(
    number: int, environment: Environment, compared: dict[str, Policy], results: Results
) -> list[Score]:
    best = find_optimum(environment)
    dearest = float(best.prices.max())
    rows = []
    for label, policy in compared.items():
        predicted = None
        if isinstance(policy, WithEta) and policy.name == "tscsf-b":
            situation = Situation(environment.problem, results.horizon)
            predicted = policy.eta_for(situation) * dearest / results.horizon
        rows.append(
            Score(
                label,
                number,
                results.worst_shortfall(label).mean,
                float(results.regret(label).mean[-1]) / best.with_floors,
                results.all_kept(label),
                predicted,
            )
        )
    return rows


def summarise(scores: Sequence[Score]) -> list[Row]:
    """Return one row per policy, in the order of the comparison."""
    rows = []
    for label in dict.fromkeys(score.label for score in scores):
        own = [score for score in scores if score.label == label]
        predicted = [score.predicted for score in own if score.predicted is not None]
        rows.append(
            Row(
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
    """Return the table for the documentation."""
    lines = [
        f"{scope.instances} instances, T = {scope.horizon:,}, "
        f"{scope.replications} replications each.",
        "",
        "| policy | worst shortfall, mean | largest | R(T) / optimum, mean | largest | "
        "all floors kept | η price / T |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in summarise(scores):
        predicted = "" if row.predicted is None else f"{row.predicted:.5f}"
        lines.append(
            f"| {row.label} | {row.shortfall:.5f} | {row.largest_shortfall:.5f} | "
            f"{row.regret:.4f} | {row.largest_regret:.4f} | {row.all_kept:.0%} | {predicted} |"
        )
    return "\n".join(lines)


def inserted(page: Path, block: str) -> str:
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
