"""Panels of one comparison: regret over time, rates beside floors, beliefs beside the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evenhand.core.extras import load
from evenhand.figures._style import COLOURS, Line, band, colour, legend_below, new, styled
from evenhand.results import Curve, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIRST_ROUNDS = 100
MOST_WORDS = 3


@styled
def regret_panel(results: Results, lines: Sequence[Line], title: str, note: str = "") -> Figure:
    """Draw time-averaged regret with 95% bands, Opt-F and Opt-NF; an inset has the first rounds."""
    figure, axes = new(2.9, note)
    curves = [results.regret(line.label) for line in lines]
    for line, curve in zip(lines, curves, strict=True):
        band(axes, curve, line)
    best, free = results.with_floors or math.nan, results.without_floors
    axes.axhline(0.0, color=COLOURS["opt-f"], linewidth=0.8, label="Opt-F")
    axes.axhline(best - free, color=COLOURS["opt-nf"], linewidth=0.8, label="Opt-NF")
    axes.set(xlabel="round", ylabel="time-averaged regret", title=title, xlim=(0, results.horizon))
    late = [bound for curve in curves for bound in _late(curve)]
    low, high = min(0.0, best - free, *late), max(0.0, *late)
    axes.set_ylim(low - 0.08 * (high - low), high + 1.1 * (high - low))
    ticker = load("matplotlib.ticker")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(4))
    axes.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    _inset(axes, lines, curves)
    legend_below(figure, axes, columns=3)
    return figure


@styled
def floor_bars(results: Results, lines: Sequence[Line], title: str, note: str = "") -> Figure:
    """Draw each arm's rate under each policy as a bar, with the floor marked across the arm."""
    figure, axes = new(3.0, note)
    width = 0.8 / len(lines)
    indices = np.arange(len(results.arms))
    for number, line in enumerate(lines):
        rates = list(results.rates(line.label).values())
        axes.bar(
            indices + (number - (len(lines) - 1) / 2) * width,
            rates,
            width,
            color=colour(line.policy),
            alpha=1.0 if line.style == "-" else 0.55,
            hatch="" if line.style == "-" else "////",
            edgecolor="white",
            linewidth=0.4,
            label=line.words,
        )
    axes.hlines(results.floors, indices - 0.45, indices + 0.45, color="black", label="floor")
    axes.set(xlabel="arm", ylabel="fraction of rounds played", title=title)
    axes.set_xticks(indices, short_names(results.arms))
    legend_below(figure, axes, columns=2)
    return figure


@styled
def promise_bars(results: Results, lines: Sequence[Line], title: str, note: str = "") -> Figure:
    """Draw each promise's rate under each policy as a bar, with its bounds marked across.

    Every promise is measured in parts of its larger bound: what is kept lies between the marks, at
    1 for an exact share.
    """
    figure, axes = new(3.0, note)
    found = {line.label: results.promises(line.label) for line in lines}
    names = list(found[lines[0].label])
    figures = [found[lines[0].label][name] for name in names]
    units = np.array([max(one.at_least or 0.0, one.at_most or 0.0) or 1.0 for one in figures])
    width, indices = 0.8 / len(lines), np.arange(len(names))
    for number, line in enumerate(lines):
        rates = np.array([found[line.label][name].rate for name in names]) / units
        places = indices + (number - (len(lines) - 1) / 2) * width
        axes.bar(
            places, rates, width, color=colour(line.policy), edgecolor="white", linewidth=0.4,
            alpha=1.0 if line.style == "-" else 0.55, hatch="" if line.style == "-" else "////",
            label=line.words,
        )  # fmt: skip
    for key, words, style in (("at_least", "at least", "-"), ("at_most", "at most", ":")):
        bounds = np.array([math.nan if (b := getattr(f, key)) is None else b for f in figures])
        low, high = indices - 0.45, indices + 0.45
        axes.hlines(bounds / units, low, high, color="black", linestyle=style, label=words)
    axes.set(ylabel="rate / bound", title=title, ylim=(0.0, None))
    axes.set_xticks(indices, ["\n".join(name.split()[:MOST_WORDS]) for name in names])
    legend_below(figure, axes, columns=2)
    return figure


@styled
def estimate_marks(
    arms: Sequence[str],
    truth: Sequence[float],
    estimates: Sequence[tuple[Line, Sequence[float]]],
    title: str,
    note: str = "",
) -> Figure:
    """Draw what policies believe of each arm beside the truth, which is a line across the arm."""
    figure, axes = new(3.0, note)
    indices = np.arange(len(arms))
    for number, (line, values) in enumerate(estimates):
        shift = (number - (len(estimates) - 1) / 2) * 0.16
        axes.plot(
            indices + shift,
            values,
            "o" if line.style == "-" else "D",
            color=colour(line.policy),
            fillstyle="full" if line.style == "-" else "none",
            markersize=4,
            label=line.words,
        )
    axes.hlines(truth, indices - 0.4, indices + 0.4, color="black", linewidth=0.9, label="truth")
    axes.set(ylabel="mean reward", title=title)
    axes.set_xticks(indices, short_names(arms))
    legend_below(figure, axes, columns=2)
    return figure


def short_names(arms: Sequence[str]) -> list[str]:
    """Leave out the year, break between words, and cut what does not fit.

    >>> short_names(["Godfather, The (1972)", "Unforgettable"])
    ['Godfather', 'Unforgett…']
    """
    words = [arm.partition(" (")[0].partition(",")[0].split() for arm in arms]
    cut = [[word if len(word) <= 10 else word[:9] + "…" for word in parts] for parts in words]
    return ["\n".join(parts[:2]) for parts in cut]


def _late(curve: Curve) -> tuple[float, float]:
    """Return the smallest and largest mean after the first fiftieth, which the inset is for."""
    later = curve.mean[curve.rounds >= curve.rounds[-1] // 50]
    return float(later.min()), float(later.max())


def _inset(axes: Axes, lines: Sequence[Line], curves: Sequence[Curve]) -> None:
    inset = axes.inset_axes((0.50, 0.64, 0.47, 0.32))
    for line, curve in zip(lines, curves, strict=True):
        first = curve.rounds <= FIRST_ROUNDS
        band(inset, Curve._make(part[first] for part in curve), line)
    inset.axhline(0.0, color=COLOURS["opt-f"], linewidth=0.5)
    inset.set(xlim=(1, FIRST_ROUNDS))
    inset.tick_params(labelsize=5.5, length=2, pad=1)
    inset.set_title(f"first {FIRST_ROUNDS} rounds", fontsize=6, pad=2)


@styled
def change_panel(
    results: Results, lines: Sequence[Line], window: int, changes: Sequence[int], title: str
) -> Figure:
    """Draw the regret of the latest rounds with 95% bands; a line across marks every change."""
    figure, axes = new(2.6, "")
    figure.subplots_adjust(bottom=0.28)
    for line in lines:
        band(axes, results.recent_regret(line.label, window), line)
    axes.axhline(0.0, color="black", linewidth=0.8)
    for change in changes:
        axes.axvline(change, color="black", linewidth=0.8, linestyle=(0, (4, 3)))
    axes.set(xlabel="round", ylabel="regret per round", title=title, xlim=(0, results.horizon))
    ticker = load("matplotlib.ticker")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(4))
    axes.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    legend_below(figure, axes, columns=3)
    return figure
