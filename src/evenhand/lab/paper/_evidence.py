"""The results of the finished cells, as the rules of claims need them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.lab.judging import RunSize
from evenhand.lab.measurement import Measurement
from evenhand.lab.paper.settings import SETTING_2, Setting, label_of, tightness_horizons
from evenhand.optimum import Optimum
from evenhand.optimum.bounds import lfg_bound, paper_eta, tscsf_b_bound
from evenhand.optimum.environment import find_optimum
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


@dataclass(frozen=True)
class Evidence:
    """The results of all finished cells by id, the size of the runs, and the movies' summary."""

    size: RunSize
    results: Mapping[str, Results]
    movies: Mapping[str, Any] | None = None

    def curve(self, cell: str, pairing: Pairing, name: str) -> Curve:
        """Return an algorithm's time-averaged regret."""
        return self.results[cell].regret(pairing.label(name))

    def regret(self, cell: str, pairing: Pairing, name: str, at: int | None = None) -> Measurement:
        """Return an algorithm's regret at a round (the nearest one kept), the last by default."""
        curve = self.curve(cell, pairing, name)
        index = -1 if at is None else int(np.argmin(np.abs(curve.rounds - at)))
        words = f"{pairing.label(name)}:"
        margin = float(curve.high[index] - curve.mean[index])
        return Measurement(words, float(curve.mean[index]), margin)

    def gap(self, cell: str, pairing: Pairing, suffix: str = "") -> Measurement:
        """Return how much lower TSCSF-B's regret is, paired by replication: one world for both."""
        results = self.results[cell]
        labels = [pairing.label(name) + suffix for name in ("tscsf-b", "lfg")]
        index = [results.labels.index(label) for label in labels]
        better, worse = (results.expected[i, :, -1] / results.horizon for i in index)
        return self._mean(f"{cell}, LFG - TSCSF-B:", better - worse, results.quantile())

    def rate_above_floor(self, cell: str, label: str) -> Measurement:
        """Return how far the arm that lacks most is above its floor, on average."""
        results = self.results[cell]
        above = results.played[results.labels.index(label)] / results.horizon - results.floors
        worst = int(np.argmin(above.mean(axis=0)))
        words = f"{label}, arm {results.arms[worst]}: rate - floor"
        return self._mean(words, above[:, worst], results.quantile())

    @staticmethod
    def _mean(words: str, values: Floats, quantile: float) -> Measurement:
        """Return a mean over replications with its margin."""
        margin = values.std(ddof=1) / np.sqrt(values.size) * quantile if values.size > 1 else 0.0
        return Measurement(words, float(values.mean()), float(margin))

    def optimum(self, setting: Setting) -> Optimum:
        """Return the exact optimum of a setting."""
        return find_optimum(setting.environment())

    def tightness(self, name: str) -> list[tuple[int, float]]:
        """Return the horizons of the tightness experiment with the algorithm's bound."""
        bound = tscsf_b_bound if name == "tscsf-b" else lfg_bound
        arms, plays = len(SETTING_2.means), SETTING_2.plays
        return [
            (t, bound(arms, plays, t, paper_eta(arms, plays, t)))
            for t in tightness_horizons(self.size)
        ]
