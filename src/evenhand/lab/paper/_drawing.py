"""The paper's figures, drawn from the saved results alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand import figures
from evenhand.figures import LINE_STYLES, Line, Scaling
from evenhand.lab.paper._evidence import Evidence
from evenhand.lab.paper.settings import (
    FORMS,
    NAMES,
    PANELS,
    label_of,
    note_of,
    tightness_horizons,
    title_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS = {"setting1-eta1000": "floors-setting1", "setting2-paper": "floors-setting2"}


class DrawnFigure(NamedTuple):
    """A figure on disk (its SVG; the PNG stands beside it) and what it shows."""

    path: Path
    caption: str


def draw(folder: Path, evidence: Evidence) -> list[DrawnFigure]:
    """Draw every figure whose cells have been measured."""
    return [*_panels(folder, evidence), *_bars(folder, evidence), *_tightness(folder, evidence)]


def lines() -> list[Line]:
    """Return TSCSF-B and LFG with both forms of the debt, as they are drawn everywhere."""
    return [
        Line(label_of(name, debt), label_of(name, debt), name, LINE_STYLES[debt])
        for name in NAMES
        for debt in FORMS
    ]


def _panels(folder: Path, evidence: Evidence) -> list[DrawnFigure]:
    drawn = []
    for panel in PANELS:
        if panel in evidence.results:
            title, note = title_of(panel), note_of(evidence.size)
            figure = figures.regret_panel(evidence.results[panel], lines(), title, note)
            caption = f"{title}: time-averaged regret, mean and 95% interval of replications"
            drawn.append(_keep(figure, folder / f"regret-{panel}", caption, note))
    return drawn


def _bars(folder: Path, evidence: Evidence) -> list[DrawnFigure]:
    drawn = []
    for panel, name in BARS.items():
        if panel in evidence.results:
            title, note = title_of(panel), note_of(evidence.size)
            figure = figures.floor_bars(evidence.results[panel], lines(), title, note)
            caption = f"{title}: fraction of rounds in which each arm was played, and its floor"
            drawn.append(_keep(figure, folder / name, caption, note))
    return drawn


def _tightness(folder: Path, evidence: Evidence) -> list[DrawnFigure]:
    horizons = tightness_horizons(evidence.size)
    if not all(f"tightness-{horizon}" in evidence.results for horizon in horizons):
        return []
    series = []
    for name, words in NAMES.items():
        bound = np.array([value for _, value in evidence.tightness(name)])
        series.append(Scaling(f"{words}, bound", name, bound, ":", "s"))
        for debt in FORMS:
            label = label_of(name, debt)
            regret = [_last_regret(evidence, horizon, label) for horizon in horizons]
            series.append(Scaling(label, name, np.array(regret), LINE_STYLES[debt], "o"))
    title, note = "Setting 2, η = √(NT / (m ln T))", note_of(evidence.size)
    figure = figures.scaling_plot(np.array(horizons), series, title, note)
    caption = "Upper bounds and measured time-averaged regret over the horizon, setting 2"
    return [_keep(figure, folder / "tightness", caption, note)]


def _last_regret(evidence: Evidence, horizon: int, label: str) -> float:
    curve = evidence.results[f"tightness-{horizon}"].regret(label)
    return float(curve.mean[-1]) if curve.mean.size else math.nan


def _keep(figure: Figure, stem: Path, caption: str, note: str) -> DrawnFigure:
    _, svg = figures.save(figure, stem)
    return DrawnFigure(svg, caption + (f" ({note})" if note else ""))
