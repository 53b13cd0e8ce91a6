"""The figures of the movie experiment, from its results alone."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from evenhand import figures
from evenhand.core.arrays import Floats
from evenhand.figures import LINE_STYLES, Line
from evenhand.lab.paper.settings import FORMS, NAMES
from evenhand.results import Results


def draw_movies(folder: Path, results: Results, note: str) -> list[tuple[Path, str]]:
    """Draw estimates, floors and regret at the first eta; return the SVG files with captions."""
    lines = movie_lines(results)
    beliefs = [
        (line, belief(results, line.label, optimistic=line.policy == "lfg").tolist())
        for line in lines
    ]
    shown = f" ({note})" if note else ""
    title = f"Movies, {lines[0].label.rpartition(', ')[2]}"
    drawn = {
        "movies-estimates": (
            figures.estimate_marks(results.arms, results.means.tolist(), beliefs, title, note),
            "Movies: what each algorithm acts on at the end (posterior mean, upper confidence "
            "bound) and the true mean reward",
        ),
        "movies-floors": (
            figures.floor_bars(results, lines, title, note),
            "Movies: fraction of users to whom each movie was recommended, and its floor",
        ),
    }
    if results.with_floors is not None:
        drawn["movies-regret"] = (
            figures.regret_panel(results, lines, title, note),
            "Movies: time-averaged regret against the exact optimum of the awake sets that occur",
        )
    return [
        (figures.save(figure, folder / name)[1], caption + shown)
        for name, (figure, caption) in drawn.items()
    ]


def movie_lines(results: Results) -> list[Line]:
    """Return the lines of the first eta, as they are drawn everywhere."""
    eta = results.labels[0].rpartition(", ")[2]
    return [
        Line(f"{words}, {debt}, {eta}", f"{words}, {debt}", name, LINE_STYLES[debt])
        for name, words in NAMES.items()
        for debt in FORMS
    ]


def belief(results: Results, label: str, *, optimistic: bool) -> Floats:
    """Return the posterior means at the end, or LFG's upper confidence bounds."""
    index = results.labels.index(label)
    means, played = results.estimates[index], results.played[index]
    if optimistic:
        count = np.maximum(played, 1)
        empirical = (means * (2.0 + played) - 1.0) / count
        radius = np.sqrt(1.5 * math.log(results.horizon + 1) / count)
        means = np.where(played > 0, np.minimum(1.0, empirical + radius), 1.0)
    mean: Floats = means.mean(axis=0)
    return mean
