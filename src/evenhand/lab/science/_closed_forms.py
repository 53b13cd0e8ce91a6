"""Corners of the problem where the answer can be written down."""

from __future__ import annotations

from evenhand.environment import Environment
from evenhand.lab.judging import Claim, RunSize
from evenhand.lab.measurement import Bound, Measurement
from evenhand.lab.science.checks import Source, Trial, TrialResults, check, horizon_of
from evenhand.policies import make_policy
from evenhand.problem import Problem

HORIZON = 20_000
ROUNDING = 1e-9
EARNED = 0.005
EVERYBODY = Environment(
    Problem(4, plays=4, weights=(1.0, 2.0, 0.5, 1.0), floors=(0.8, 0.2, 0.5, 0.0)),
    (0.3, 0.6, 0.9, 0.1),
    (0.9, 0.4, 0.6, 0.7),
)
AWAKE = Environment(
    Problem(5, plays=2, floors=(0.5, 0.25, 0.0, 0.0, 0.125)), (0.1, 0.3, 0.9, 0.7, 0.5)
)
ALONE = Environment(Problem(1, plays=1, floors=0.6), 0.7, 0.8)
ALIKE = Environment(Problem(6, plays=1, floors=0.1), 0.4, 0.3)
FORMS = {
    # Everybody who is awake is played: the sum of p w u.
    "as many plays as arms": (EVERYBODY, 0.9 * 0.3 + 0.4 * 2 * 0.6 + 0.6 * 0.5 * 0.9 + 0.7 * 0.1),
    # Everybody has its floor, the best has the whole of one play, the next best what is left.
    "all awake": (AWAKE, 0.5 * 0.1 + 0.25 * 0.3 + 0.125 * 0.5 + 1.0 * 0.9 + 0.125 * 0.7),
    # It is played whenever it is awake.
    "one arm": (ALONE, 0.8 * 0.7),
    # An arm is awake with probability 1 - (1 - p)^N, and all arms are alike.
    "arms that are alike": (ALIKE, 0.4 * (1.0 - 0.7**6)),
}


def closed_forms(size: RunSize) -> Source:
    """Return corners of the problem: as many plays as arms, all awake, one arm, arms alike."""
    rounds = horizon_of(size, HORIZON)
    policies = {"priced": make_policy("priced")}
    trials = [Trial(name, nature, policies, rounds) for name, (nature, _) in FORMS.items()]
    checks = [check for name, (_, best) in FORMS.items() for check in _corner(name, best)]
    return Source(
        "closed-forms",
        "Corners with a closed form",
        "Worked out by hand",
        f"as many plays as arms; all awake; one arm; arms that are alike; T = {rounds:,}",
        tuple(trials),
        tuple(checks),
    )


def _corner(name: str, best: float) -> tuple[Claim, ...]:
    return (
        check(
            name,
            f"{name}: the optimum is {best:.6g}",
            Bound(best - ROUNDING, best + ROUNDING),
            lambda found: Measurement("optimum", found.optimum.with_floors),
        ),
        check(name, f"{name}: priced earns it", Bound(-EARNED, EARNED), _regret),
    )


def _regret(found: TrialResults) -> Measurement:
    return found.regret("priced")
