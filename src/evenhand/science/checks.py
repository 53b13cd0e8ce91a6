"""Checks against other people's numbers: source, setting, what must come out, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evenhand.core.arrays import Floats
from evenhand.environment import Environment
from evenhand.optimum import Optimum
from evenhand.optimum.environment import find_optimum
from evenhand.paper.measurement import FAILS, HOLDS, UNDECIDED, Bound, Measurement
from evenhand.policies import Policy
from evenhand.results import Results
from evenhand.sweeps import Grid, SweepResults

SEED = 31_415


@dataclass(frozen=True)
class Effort:
    """How thoroughly to play; tolerances are stated for the full effort."""

    quick: bool = False

    @property
    def replications(self) -> int:
        """Independent repetitions of every run."""
        return 10 if self.quick else 100

    def horizon(self, published: int) -> int:
        """Return how many rounds to play of those that a source has."""
        return published // 10 if self.quick else published

    @property
    def note(self) -> str:
        """What every output of a first look says."""
        words = (
            "quick look: 10 replications, a tenth of the rounds; tolerances are not meant for it"
        )
        return words if self.quick else ""


@dataclass(frozen=True)
class Trial:
    """An instance that somebody else set, and the policies that play it."""

    name: str
    environment: Environment
    policies: Mapping[str, Policy]
    horizon: int


class Found:
    """What a trial gave: its exact optimum, and its results."""

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
class Check:
    """One thing that must come out of a trial.

    Attributes
    ----------
    trial
        The name of the trial.
    says
        What the source says, or the law that must hold.
    bound
        Where the measured number must be: the stated tolerance.
    measure
        How the number is had.
    """

    trial: str
    says: str
    bound: Bound
    measure: Callable[[Found], Measurement]


@dataclass(frozen=True)
class Source:
    """Somebody's problem: where it stands, its trials, and what must come of them."""

    id: str
    title: str
    reference: str
    setting: str
    trials: tuple[Trial, ...]
    checks: tuple[Check, ...]


class Verdict(NamedTuple):
    """A check, the number measured, and what follows."""

    source: Source
    check: Check
    measured: Measurement
    verdict: str

    @property
    def number(self) -> str:
        """What was measured: an exact number with as many digits as tolerances have."""
        measured = self.measured
        return measured.number if measured.margin else f"{measured.value:.7g}"

    def as_json(self) -> dict[str, Any]:
        """Return the row for machines."""
        bound = self.check.bound
        return {
            "source": self.source.id,
            "reference": self.source.reference,
            "setting": self.source.setting,
            "trial": self.check.trial,
            "says": self.check.says,
            "tolerance": {"low": bound.low, "high": bound.high, "words": str(bound)},
            "measured": self.measured._asdict(),
            "verdict": self.verdict,
        }


def grid_of(sources: Sequence[Source], effort: Effort) -> Grid:
    """Return the trials of all sources as one grid."""
    trials = [trial for source in sources for trial in source.trials]
    return Grid(
        {trial.name: trial.environment for trial in trials},
        {label: policy for trial in trials for label, policy in trial.policies.items()},
        sorted({trial.horizon for trial in trials}),
        effort.replications,
        SEED,
        limits={
            trial.name: {"policies": list(trial.policies), "horizons": [trial.horizon]}
            for trial in trials
        },
    )


def judge_sources(sources: Sequence[Source], played: SweepResults) -> list[Verdict]:
    """Return the verdict on every check, in order."""
    verdicts = []
    for source in sources:
        found = {
            trial.name: Found(trial, played.results(trial.name, trial.horizon))
            for trial in source.trials
        }
        for check in source.checks:
            measured = check.measure(found[check.trial])
            verdicts.append(Verdict(source, check, measured, check.bound.decide(measured)))
    return verdicts


def counted(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Return how many checks have which verdict."""
    return {
        word: sum(one.verdict == word for one in verdicts) for word in (HOLDS, UNDECIDED, FAILS)
    }
