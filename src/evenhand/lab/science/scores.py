"""What came of the study: a score for each policy and instance, their means, and who wins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from evenhand.lab.science.games import INDEPENDENT, OURS, VARIANTS, Game
from evenhand.optimum.environment import find_optimum
from evenhand.policies import Policy
from evenhand.policies.families import WithEta
from evenhand.policies.policy import PolicySetup
from evenhand.results import Results
from evenhand.sweeps import SweepResults

# What a row has the mean and the largest of.
LARGEST = ("shortfall", "regret")
MEANS = (*LARGEST, "all_kept", "largest_debt_after", "share_behind", "worst_window_shortfall")


class Score(NamedTuple):
    """One policy on one instance; regret is in parts of the optimum."""

    world: str
    horizon: int
    label: str
    instance: int
    shortfall: float
    regret: float
    all_kept: float
    largest_debt: float
    largest_debt_after: float
    share_behind: float
    longest_gap: float
    worst_window_shortfall: float
    predicted: float | None


class Row(NamedTuple):
    """One policy over all instances of a world at a horizon: means, and the largest."""

    world: str
    horizon: int
    label: str
    instances: int
    shortfall: float
    largest_shortfall: float
    regret: float
    largest_regret: float
    all_kept: float
    largest_debt_after: float
    share_behind: float
    worst_window_shortfall: float
    predicted: float | None

    @property
    def lacking(self) -> float:
        """The plays that the worst arm lacks at the horizon."""
        return self.shortfall * self.horizon


class Rival(NamedTuple):
    """A policy that is better than `priced` in one and no worse in the other; clearly or not."""

    label: str
    clear: bool

    def __str__(self) -> str:
        return self.label if self.clear else f"{self.label} (within chance)"


class Winner(NamedTuple):
    """Who wins in a world at a horizon.

    Attributes
    ----------
    keeper
        Who misses floors least.
    winner
        Who has the least regret of those that miss floors by at most one play more.
    ours
        `priced`.
    better
        Who is better than `priced` in both, in the mean over instances.
    """

    keeper: Row
    winner: Row
    ours: Row
    better: tuple[Rival, ...]


def scores_of(
    played: Sequence[Game], policies: Mapping[str, Policy], found: SweepResults
) -> list[Score]:
    """Return how every policy did on every instance."""
    scores = []
    for game in played:
        results = found.results(game.name, game.horizon)
        scores += [_score(game, label, policies[label], results) for label in game.labels]
    return scores


def _score(game: Game, label: str, policy: Policy, results: Results) -> Score:
    moments, optimum = results.anytime(label), results.with_floors
    predicted = None
    if game.world == INDEPENDENT and isinstance(policy, WithEta) and policy.name == "tscsf-b":
        dearest = float(find_optimum(game.environment).prices.max())
        situation = PolicySetup(game.environment.problem, results.horizon)
        predicted = policy.eta_for(situation) * dearest / results.horizon
    return Score(
        game.world,
        game.horizon,
        label,
        game.number,
        results.worst_miss(label).mean,
        float(results.regret(label).mean[-1]) / (optimum or math.nan),
        results.all_kept(label),
        moments.largest_debt,
        moments.largest_debt_after,
        moments.share_behind,
        max(moments.longest_gap.values()),
        moments.worst_window_shortfall,
        predicted,
    )


def summarise(scores: Sequence[Score]) -> list[Row]:
    """Return one row per world, horizon and policy, in the order of the comparison."""
    rows = []
    for (world, horizon, label), own in _grouped(scores).items():
        predicted = [score.predicted for score in own if score.predicted is not None]
        means = {name: _mean([getattr(score, name) for score in own]) for name in MEANS}
        largest = {
            f"largest_{name}": max(getattr(score, name) for score in own) for name in LARGEST
        }
        estimate = _mean(predicted) if predicted else None
        rows.append(Row(world, horizon, label, len(own), **means, **largest, predicted=estimate))
    return rows


def winners(scores: Sequence[Score]) -> list[Winner]:
    """Return who wins where."""
    by_policy, found = _grouped(scores), []
    for world, group in groupby(summarise(scores), key=lambda row: (row.world, row.horizon)):
        rows = list(group)
        ours = next(row for row in rows if row.label == OURS)
        keeper = min(rows, key=lambda row: row.shortfall)
        close = [row for row in rows if row.lacking <= keeper.lacking + 1.0]
        better = tuple(
            Rival(row.label, _clearly(by_policy[*world, row.label], by_policy[*world, OURS]))
            for row in rows
            if row.label not in (OURS, *VARIANTS)
            and row.shortfall <= ours.shortfall
            and row.regret <= ours.regret
            and (row.shortfall, row.regret) != (ours.shortfall, ours.regret)
        )
        found.append(Winner(keeper, min(close, key=lambda row: row.regret), ours, better))
    return found


def _clearly(rival: Sequence[Score], ours: Sequence[Score]) -> bool:
    """Say whether a rival is better in both by more than the differences between instances."""
    return all(
        _clear([getattr(b, name) - getattr(a, name) for a, b in zip(rival, ours, strict=True)])
        for name in ("shortfall", "regret")
    )


def _clear(gains: Sequence[float]) -> bool:
    """Say whether a mean gain over instances is more than chance, by Student's 95% interval.

    >>> _clear([0.1, 0.2, 0.15]), _clear([0.1, -0.2, 0.15]), _clear([0.1])
    (True, False, False)
    """
    if len(gains) < 2:
        return False
    error = float(np.std(gains, ddof=1)) / math.sqrt(len(gains))
    return float(np.mean(gains)) > float(stdtrit(len(gains) - 1, 0.975)) * error


def _grouped(scores: Sequence[Score]) -> dict[tuple[str, int, str], list[Score]]:
    groups: dict[tuple[str, int, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.world, score.horizon, score.label), []).append(score)
    return groups


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
