"""Li, Liu, Ji: the setting in which LFG was published, which is the paper's setting 1."""

from __future__ import annotations

from itertools import pairwise

from evenhand.lab.judging import Claim, RunSize
from evenhand.lab.measurement import Bound, Measurement
from evenhand.lab.paper.settings import SETTING_1
from evenhand.lab.science.checks import Source, Trial, TrialResults, check, horizon_of
from evenhand.optimum import lfg_bound
from evenhand.policies import make_policy

REFERENCE = (
    "Li, Liu, Ji: Combinatorial Sleeping Bandits with Fairness Constraints, INFOCOM 2019; the "
    "paper's setting 1"
)
HORIZON, NAME = 100_000, "li"
ETAS = (1.0, 10.0, 100.0)
OPTIMUM = 1.038
SHORTFALL = 0.001


def label(eta: float) -> str:
    """Return what LFG is called here.

    >>> label(10.0)
    'lfg eta=10'
    """
    return f"lfg eta={eta:g}"


def own_setting(size: RunSize) -> Source:
    """Return LFG in its own setting: feasible for any eta, and the less regret the larger it is."""
    rounds, arms = horizon_of(size, HORIZON), len(SETTING_1.means)
    policies = {label(eta): make_policy("lfg", eta=eta) for eta in ETAS}
    played = Trial(NAME, SETTING_1.environment(), policies, rounds)
    checks = [
        check(
            NAME,
            f"the optimum is {OPTIMUM}",
            Bound(OPTIMUM - 1e-9, OPTIMUM + 1e-9),
            lambda found: Measurement("optimum", found.optimum.with_floors),
        )
    ]
    for eta in ETAS:
        most = lfg_bound(arms, SETTING_1.plays, rounds, eta)
        checks += [_kept(eta), _bounded(eta, most)]
    checks += [_less(low, high) for low, high in pairwise(ETAS)]
    return Source(
        "li",
        "LFG in its own setting",
        REFERENCE,
        f"means {SETTING_1.means}, availability {SETTING_1.availability}, floors "
        f"{SETTING_1.floors}, {SETTING_1.plays} plays, T = {rounds:,}",
        (played,),
        tuple(checks),
    )


def _kept(eta: float) -> Claim:
    return check(
        NAME,
        f"eta = {eta:g}: every floor is kept in the long run",
        Bound(0.0, SHORTFALL),
        lambda found: Measurement(
            f"worst shortfall of {label(eta)}", found.results.worst_shortfall(label(eta)).mean
        ),
    )


def _bounded(eta: float, most: float) -> Claim:
    return check(
        NAME,
        f"eta = {eta:g}: regret is below the published bound",
        Bound(-most, most),
        lambda found: found.regret(label(eta)),
    )


def _less(low: float, high: float) -> Claim:
    def measure(found: TrialResults) -> Measurement:
        more, less = found.regret(label(low)), found.regret(label(high))
        words = f"regret at eta = {low:g} minus that at {high:g}"
        return Measurement(words, more.value - less.value, more.margin + less.margin)

    return check(NAME, f"regret is less at eta = {high:g} than at {low:g}", Bound(low=0.0), measure)
