"""Baudry et al.: one play a round, every arm guaranteed a revenue."""

from __future__ import annotations

import math

import numpy as np

from evenhand.environment import Environment
from evenhand.lab.judging import Claim, RunSize
from evenhand.lab.measurement import Bound, Measurement
from evenhand.lab.science._laws import lai_robbins
from evenhand.lab.science.checks import Source, Trial, TrialResults, check, horizon_of
from evenhand.policies import make_policy
from evenhand.problem import Problem

REFERENCE = (
    "Baudry, Merlis, Molina, Richard, Perchet: Multi-armed bandits with guaranteed revenue per "
    "arm, AISTATS 2024"
)
HORIZON = 100_000
MEANS_5, REVENUES_5 = (0.335, 0.203, 0.241, 0.781, 0.617), (0.167, 0.067, 0.0, 0.0, 0.0)
OPTIMUM_5 = 0.367897
MEANS_1, LOOSENESS = (0.8, 0.9, 0.7), (0.0, 0.1, 0.5, 0.9)


def trial(name: str, means: tuple[float, ...], revenues: tuple[float, ...], rounds: int) -> Trial:
    """Return one of their instances: a revenue as a floor is the share of rounds that earns it."""
    floors = [revenue / mean for revenue, mean in zip(revenues, means, strict=True)]
    problem = Problem(len(means), plays=1, floors=floors)
    return Trial(name, Environment(problem, means), {"priced": make_policy("priced")}, rounds)


def revenue_lacking(name: str, revenues: tuple[float, ...], before: str = "") -> Claim:
    """Return the check that every arm earns its guaranteed revenue, within a play or two."""

    def measure(found: TrialResults) -> Measurement:
        index = found.results.labels.index("priced")
        earned = found.results.all_rates()[index] * found.trial.environment.means
        lacking = np.maximum(np.array(revenues) - earned, 0.0).max(axis=1)
        words = "revenue that the worst arm lacks in all rounds together"
        return Measurement(words, float(lacking.mean()) * found.results.horizon)

    says = f"{before}every arm has the revenue that it is guaranteed"
    return check(name, says, Bound(0.0, 1.0), measure)


def experiment_5(size: RunSize) -> Source:
    """Return experiment 5: two arms with guarantees that are not worth it, three without."""
    name, rounds = "baudry-5", horizon_of(size, HORIZON)
    played = trial(name, MEANS_5, REVENUES_5, rounds)
    most = lai_robbins([mean for mean, own in zip(MEANS_5, REVENUES_5, strict=True) if not own])
    return Source(
        "baudry-5",
        "Guaranteed revenue, experiment 5",
        REFERENCE,
        f"means {MEANS_5}, revenues {REVENUES_5}, one play, T = {rounds:,}",
        (played,),
        (
            check(
                name,
                f"the optimum is {OPTIMUM_5}",
                Bound(OPTIMUM_5 - 5e-7, OPTIMUM_5 + 5e-7),
                lambda found: Measurement("optimum", found.optimum.with_floors),
            ),
            revenue_lacking(name, REVENUES_5),
            check(
                name,
                "exploring costs no more than Lai and Robbins' constant of the arms without "
                "guarantee times ln T",
                Bound(-1.0, most * math.log(rounds)),
                lambda found: found.total_regret("priced"),
            ),
        ),
    )


def experiment_1(size: RunSize) -> Source:
    """Return experiment 1: the same guarantee for three arms, more and more loosely."""
    rounds = horizon_of(size, HORIZON)
    trials, checks = [], []
    for looseness in LOOSENESS:
        name = f"baudry-1-{looseness:g}"
        revenues = tuple(mean / 3 * (1 - looseness) for mean in MEANS_1)
        best = sum(revenues) + looseness * max(MEANS_1)
        most = lai_robbins(MEANS_1) * math.log(rounds)
        trials.append(trial(name, MEANS_1, revenues, rounds))
        checks += [
            check(
                name,
                f"g = {looseness:g}: the optimum is 0.8 (1 - g) + 0.9 g = {best:g}",
                Bound(best - 1e-9, best + 1e-9),
                lambda found: Measurement("optimum", found.optimum.with_floors),
            ),
            revenue_lacking(name, revenues, f"g = {looseness:g}: "),
            check(
                name,
                f"g = {looseness:g}: guarantees explore for nothing, so that regret stays below "
                "Lai and Robbins' constant times ln T",
                Bound(-1.0, most),
                lambda found: found.total_regret("priced"),
            ),
        ]
    return Source(
        "baudry-1",
        "Guaranteed revenue, experiment 1",
        REFERENCE,
        f"means {MEANS_1}, revenues mean / 3 x (1 - g), one play, T = {rounds:,}",
        tuple(trials),
        tuple(checks),
    )
