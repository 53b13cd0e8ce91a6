"""Checks against other sources: the trials that a source describes, and claims about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.core.arrays import Floats
from evenhand.environment import Environment
from evenhand.lab.judging import Claim, Measured, Rule, RunSize, Verdict, judge
from evenhand.lab.measurement import Bound, Measurement
from evenhand.optimum import Optimum
from evenhand.optimum.environment import find_optimum
from evenhand.policies import Policy
from evenhand.results import Results
from evenhand.sweeps import Grid, SweepResults

SEED = 31_415
QUICK_PART = 10
QUICK_NOTE = "quick look: 10 replications, a tenth of the rounds; tolerances are for the full size"


@dataclass(frozen=True)
class Trial:
    """An instance that a source describes, and the policies that play it."""

    name: str
    environment: Environment
    policies: Mapping[str, Policy]
    horizon: int


class TrialResults:
    """The exact optimum of a trial, and its results."""

    def __init__(self, trial: Trial, results: Results) -> None:
        self.trial, self.results = trial, results
        self.optimum: Optimum = find_optimum(trial.environment)

    def total_regret(self, label: str) -> Measurement:
        """Return ``T R(T)`` with its 95% margin."""
        regret, rounds = self.regret(label), self.results.horizon
        return Measurement(f"total {regret.words}", rounds * regret.value, rounds * regret.margin)

    def regret(self, label: str) -> Measurement:
        """Return ``R(T)`` with its 95% margin."""
        curve = self.results.regret(label)
        margin = float(curve.high[-1] - curve.mean[-1])
        return Measurement(f"regret of {label}", float(curve.mean[-1]), margin)

    def expected(self, label: str) -> Floats:
        """Return a policy's expected reward so far, by replication and kept round."""
        rows: Floats = self.results.expected[self.results.labels.index(label)]
        return rows


@dataclass(frozen=True)
class Source:
    """A publication or a law: its trials, and the claims about them."""

    id: str
    title: str
    reference: str
    setting: str
    trials: tuple[Trial, ...]
    claims: tuple[Claim, ...]


def check(
    trial: str, says: str, bound: Bound, measure: Callable[[TrialResults], Measurement]
) -> Claim:
    """Return the claim that one number of a trial is in a bound, the stated tolerance."""
    rule = Rule(
        "The number is {bound}",
        bound,
        lambda evidence, variant: Measured([measure(evidence[trial])]),
    )
    return Claim(f"{trial}: {says}", f"trial {trial}", says, rule, (trial,))


def horizon_of(size: RunSize, published: int) -> int:
    """Return how many of the published rounds to play."""
    return int(size.pick(full=published, quick=published // QUICK_PART))


def grid_of(sources: Sequence[Source], size: RunSize) -> Grid:
    """Return the trials of all sources as one grid."""
    trials = [trial for source in sources for trial in source.trials]
    return Grid(
        {trial.name: trial.environment for trial in trials},
        {label: policy for trial in trials for label, policy in trial.policies.items()},
        sorted({trial.horizon for trial in trials}),
        size.replications,
        SEED,
        limits={
            trial.name: {"policies": list(trial.policies), "horizons": [trial.horizon]}
            for trial in trials
        },
    )


def judge_source(source: Source, played: SweepResults) -> tuple[Verdict, ...]:
    """Return the verdict on every claim of a source."""
    evidence = {
        trial.name: TrialResults(trial, played.results(trial.name, trial.horizon))
        for trial in source.trials
    }
    return tuple(judge(claim, evidence) for claim in source.claims)
