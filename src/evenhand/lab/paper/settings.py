"""The paper's evaluation as frozen data with stable ids.

Huang, Xu, Hu, Wang, Pan: Thompson Sampling for Combinatorial Semi-bandits with Sleeping Arms and
Long-Term Fairness Constraints, Section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from evenhand.environment import Environment
from evenhand.lab.judging import RunSize
from evenhand.policies import Policy, make_policy
from evenhand.policies.families import Eta
from evenhand.problem import Problem
from evenhand.simulation.run import MANY_CHECKPOINTS
from evenhand.sweeps import Grid

SEED = 20_200_714
FORMS = ("cumulative", "reflected")
ETA_MARK = ", η = "
NAMES = {"tscsf-b": "TSCSF-B", "lfg": "LFG"}


@dataclass(frozen=True)
class Setting:
    """One of the paper's two instances."""

    id: str
    plays: int
    means: tuple[float, ...]
    availability: tuple[float, ...]
    floors: tuple[float, ...]

    def environment(self) -> Environment:
        """Return it as an environment with Bernoulli rewards and independent availability."""
        problem = Problem(len(self.means), self.plays, floors=self.floors)
        return Environment(problem, self.means, self.availability)


@dataclass(frozen=True)
class Experiment:
    """A setting at one eta, for one horizon or several, under a stable id."""

    id: str
    title: str
    setting: Setting
    eta: Eta
    horizons: tuple[int, ...]

    def cell(self, horizon: int) -> str:
        """Return the id of a cell: that of the experiment, with the horizon if it has several."""
        return self.id if len(self.horizons) == 1 else f"{self.id}-{horizon}"

    def policies(self) -> dict[str, Policy]:
        """Return TSCSF-B and LFG, each with both forms of the debt."""
        return {
            f"{label_of(name, debt)}{ETA_MARK}{self.eta}": make_policy(
                name, eta=self.eta, debt=debt
            )
            for name in NAMES
            for debt in FORMS
        }


def horizon_of(size: RunSize) -> int:
    """Return the rounds of every run but those of the tightness experiment."""
    return int(size.pick(full=20_000, quick=4_000))


def tightness_horizons(size: RunSize) -> tuple[int, ...]:
    """Return the horizons of the tightness experiment."""
    full = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
    found: tuple[int, ...] = size.pick(full=full, quick=(1_000, 2_000, 4_000))
    return found


def note_of(size: RunSize) -> str:
    """Return what every output of a quick look says."""
    return str(size.pick(full="", quick="quick look: 10 replications, T = 4,000"))


SETTING_1 = Setting("setting1", 2, (0.4, 0.5, 0.7), (0.9, 0.8, 0.7), (0.5, 0.6, 0.4))
SETTING_2 = Setting(
    "setting2",
    3,
    (0.52, 0.51, 0.49, 0.48, 0.7, 0.8),
    (0.7, 0.6, 0.7, 0.8, 0.7, 0.6),
    (0.4, 0.45, 0.3, 0.45, 0.3, 0.4),
)
ETAS: dict[str, tuple[Setting, Eta]] = {
    "setting1-eta1": (SETTING_1, 1.0),
    "setting1-eta10": (SETTING_1, 10.0),
    "setting1-eta1000": (SETTING_1, 1000.0),
    "setting1-inf": (SETTING_1, math.inf),
    "setting2-paper": (SETTING_2, "paper"),
    "setting2-inf": (SETTING_2, math.inf),
}
PANELS = tuple(ETAS)


def label_of(name: str, debt: str) -> str:
    """Return the label of a learner in the results.

    >>> label_of("tscsf-b", "reflected")
    'TSCSF-B, reflected'
    """
    return f"{NAMES[name]}, {debt}"


def experiments(size: RunSize) -> dict[str, Experiment]:
    """Return all experiments by id.

    >>> list(experiments(RunSize()))[-2:]
    ['setting2-inf', 'tightness']
    """
    found = {
        id_: Experiment(id_, title_of(id_), setting, eta, (horizon_of(size),))
        for id_, (setting, eta) in ETAS.items()
    }
    title = "Tightness of the bounds, setting 2"
    found["tightness"] = Experiment(
        "tightness", title, SETTING_2, "paper", tightness_horizons(size)
    )
    return found


def grid_of(size: RunSize) -> Grid:
    """Return all experiments as one grid: each is an instance, with its own policies."""
    found = experiments(size).values()
    return Grid(
        {experiment.id: experiment.setting.environment() for experiment in found},
        {label: policy for each in found for label, policy in each.policies().items()},
        horizon_of(size),
        size.replications,
        SEED,
        checkpoints=MANY_CHECKPOINTS,
        limits={
            each.id: {"policies": list(each.policies()), "horizons": list(each.horizons)}
            for each in found
        },
    )


def title_of(panel: str) -> str:
    """Return the title of a panel.

    >>> title_of("setting1-eta1000")
    'Setting 1, η = 1000'
    """
    setting, eta = ETAS[panel]
    words = "√(NT / (m ln T))" if eta == "paper" else "∞" if eta == math.inf else f"{eta:g}"
    return f"{setting.id.replace('setting', 'Setting ')}, η = {words}"
