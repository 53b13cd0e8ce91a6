"""What was known before floors: sleeping experts, and Bernoulli bandits that never sleep."""

from __future__ import annotations

import math

import numpy as np

from evenhand.environment import Environment
from evenhand.lab.judging import Claim, RunSize
from evenhand.lab.measurement import Bound, Measurement
from evenhand.lab.science._laws import best_ordering, lai_robbins, neighbour_gaps
from evenhand.lab.science.checks import Source, Trial, TrialResults, check, horizon_of
from evenhand.policies import make_policy
from evenhand.problem import Problem

SLEEPY_MEANS = (0.9, 0.75, 0.6, 0.4, 0.2)
SLEEPY_CHANCES = (0.3, 0.5, 0.6, 0.8, 1.0)
SLEEPY_HORIZON = 100_000
COINS = {"two coins": (0.75, 0.5), "ten coins": (0.5,) + (0.4,) * 9}
COINS_HORIZON, EARLY = 200_000, 10
# In so many rounds the constant is approached from below.
SLOPE = Bound(0.5, 1.25)


def sleeping_experts(size: RunSize) -> Source:
    """Return a bandit whose arms sleep, without floors: regret against the best ordering."""
    rounds, name = horizon_of(size, SLEEPY_HORIZON), "sleeping"
    problem = Problem(len(SLEEPY_MEANS), plays=1)
    policies = {one: make_policy(one) for one in ("thompson", "ucb")}
    played = Trial(name, Environment(problem, SLEEPY_MEANS, SLEEPY_CHANCES), policies, rounds)
    best = best_ordering(SLEEPY_MEANS, SLEEPY_CHANCES)
    unit = neighbour_gaps(SLEEPY_MEANS)
    return Source(
        "sleeping",
        "Sleeping bandits without floors",
        "Kleinberg, Niculescu-Mizil, Sharma: Regret bounds for sleeping experts and bandits, "
        "Machine Learning 80, 2010",
        f"means {SLEEPY_MEANS}, availability {SLEEPY_CHANCES}, one play, T = {rounds:,}",
        (played,),
        (
            check(
                name,
                "the optimum is the best ordering's, all of them tried",
                Bound(best - 1e-9, best + 1e-9),
                lambda found: Measurement("optimum", found.optimum.without_floors),
            ),
            *(_ordered(name, label, unit, rounds) for label in policies),
        ),
    )


def _ordered(name: str, label: str, unit: float, rounds: int) -> Claim:
    def measure(found: TrialResults) -> Measurement:
        regret = found.total_regret(label)
        scale = unit * math.log(rounds)
        words = f"total regret of {label} over ln T times the sum of 1 / gaps"
        return Measurement(words, regret.value / scale, regret.margin / scale)

    says = f"{label}'s regret is of the order of ln T times the sum of 1 / gaps of neighbours"
    return check(name, says, Bound(0.0, 1.0), measure)


def bernoulli_bandits(size: RunSize) -> Source:
    """Return bandits without floors that never sleep: Thompson sampling is as good as can be."""
    rounds = horizon_of(size, COINS_HORIZON)
    policies = {"thompson": make_policy("thompson"), "priced": make_policy("priced")}
    trials, checks = [], []
    for name, means in COINS.items():
        problem = Problem(len(means), plays=1)
        trials.append(Trial(name, Environment(problem, means), policies, rounds))
        checks += [_slope(name, lai_robbins(means)), _same(name)]
    return Source(
        "bernoulli",
        "Classical Bernoulli bandits",
        "Lai, Robbins: Asymptotically efficient adaptive allocation rules, Advances in Applied "
        "Mathematics 6, 1985; Kaufmann, Korda, Munos: Thompson sampling: an asymptotically optimal "
        "finite-time analysis, ALT 2012; the ten coins: Chapelle, Li: An empirical evaluation of "
        "Thompson sampling, NIPS 2011",
        f"coins 0.75 and 0.5; one of 0.5 and nine of 0.4; always awake, one play, T = {rounds:,}",
        tuple(trials),
        tuple(checks),
    )


def _slope(name: str, constant: float) -> Claim:
    def measure(found: TrialResults) -> Measurement:
        results = found.results
        at = int(np.searchsorted(results.rounds, results.horizon // EARLY))
        spent = found.optimum.with_floors * results.rounds - found.expected("thompson")
        growth = (spent[:, -1] - spent[:, at]) / math.log(results.horizon / results.rounds[at])
        margin = results.quantile() * float(growth.std(ddof=1)) / math.sqrt(len(growth))
        words = "growth of regret with ln T over Lai and Robbins' constant"
        return Measurement(words, float(growth.mean()) / constant, margin / constant)

    says = f"{name}: from T / 10 to T regret grows by Lai and Robbins' {constant:.3f} times ln 10"
    return check(name, says, SLOPE, measure)


def _same(name: str) -> Claim:
    def measure(found: TrialResults) -> Measurement:
        apart = np.abs(found.expected("thompson") - found.expected("priced"))
        difference = float(apart.max())
        return Measurement("largest difference in reward, at any kept round", difference)

    says = f"{name}: without floors priced is Thompson sampling, to the bit"
    return check(name, says, Bound(0.0, 0.0), measure)
