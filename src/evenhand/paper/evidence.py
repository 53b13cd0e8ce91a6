"""What was measured, in the terms that claims are made in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.benchmark import find_optimum
from evenhand.bounds import lfg_bound, paper_eta, tscsf_b_bound
from evenhand.optimum import Optimum
from evenhand.paper.settings import SETTING_2, Plan, Setting, label_of
from evenhand.results import Curve, Results


class Pairing(NamedTuple):
    """Which form of the debt each of the two algorithms uses."""

    words: str
    tscsf_b: str
    lfg: str

    def label(self, name: str) -> str:
        """Return the label of an algorithm in the results."""
        return label_of(name, self.tscsf_b if name == "tscsf-b" else self.lfg)


PUBLISHED = Pairing("as published", "cumulative", "reflected")
OTHERS = (
    Pairing("both reflected", "reflected", "reflected"),
    Pairing("both cumulative", "cumulative", "cumulative"),
)


class Figure(NamedTuple):
    """A measured number with half the width of its 95% interval (0 if it is exact)."""

    words: str
    value: float
    margin: float = 0.0

    def __str__(self) -> str:
        if self.margin:
            return f"{self.words} {self.value:.5f} ± {self.margin:.5f}"
        large = abs(self.value) >= 1_000
        return f"{self.words} {self.value:,.0f}" if large else f"{self.words} {self.value:.4g}"


@dataclass(frozen=True)
class Evidence:
    """The results of all finished cells by id, the plan they belong to, and the movies' summary."""

    plan: Plan
    results: Mapping[str, Results]
    movies: Mapping[str, Any] | None = None

    def curve(self, cell: str, pairing: Pairing, name: str) -> Curve:
        """Return an algorithm's time-averaged regret."""
        return self.results[cell].regret(pairing.label(name))

    def regret(self, cell: str, pairing: Pairing, name: str, at: int | None = None) -> Figure:
        """Return an algorithm's regret at a round (the nearest one kept), the last by default."""
        curve = self.curve(cell, pairing, name)
        place = -1 if at is None else int(np.argmin(np.abs(curve.rounds - at)))
        words = f"{pairing.label(name)}:"
        margin = float(curve.high[place] - curve.mean[place])
        return Figure(words, float(curve.mean[place]), margin)

    def gap(self, cell: str, pairing: Pairing, suffix: str = "") -> Figure:
        """Return how much lower TSCSF-B's regret is, paired by replication: one world for both."""
        results = self.results[cell]
        labels = [pairing.label(name) + suffix for name in ("tscsf-b", "lfg")]
        index = [results.labels.index(label) for label in labels]
        better, worse = (results.expected[i, :, -1] / results.horizon for i in index)
        paired = better - worse
        margin = paired.std(ddof=1) / np.sqrt(paired.size) * results.quantile()
        return Figure(f"{cell}, LFG - TSCSF-B:", float(paired.mean()), float(margin))

    def optimum(self, setting: Setting) -> Optimum:
        """Return the exact optimum of a setting."""
        return find_optimum(setting.environment())

    def tightness(self, name: str) -> list[tuple[int, float]]:
        """Return the horizons of the tightness experiment with the algorithm's bound."""
        bound = tscsf_b_bound if name == "tscsf-b" else lfg_bound
        arms, plays = len(SETTING_2.means), SETTING_2.plays
        return [(t, bound(arms, plays, t, paper_eta(arms, plays, t))) for t in self.plan.horizons]
