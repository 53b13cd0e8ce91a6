"""Results as figures that could go into a paper; the only place that loads matplotlib.

Figures are one column wide (3.5 inches). A policy has the same colour everywhere (Okabe and Ito's
palette, which colour-blind readers can tell apart); the form of its debt is the line style.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

import numpy as np

from evenhand.arrays import Floats, Integers
from evenhand.extras import load
from evenhand.results import Curve, Results
from evenhand.storage import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Given = ParamSpec("Given")

COLOURS = {
    "priced": "#882255",
    "tscsf-b": "#0072B2",
    "lfg": "#D55E00",
    "thompson": "#56B4E9",
    "ucb": "#E69F00",
    "cl-sg": "#CC79A7",
    "floor-first": "#F0E442",
    "opt-nf": "#009E73",
    "opt-f": "#000000",
}
OTHER_COLOUR = "#7F7F7F"
COLUMN = 3.5
FIRST_ROUNDS = 100
STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "svg.hashsalt": "evenhand",
    "figure.dpi": 100,
    "savefig.dpi": 220,
}


class Line(NamedTuple):
    """How a policy is drawn: the label in results, the words in the legend, name and line style."""

    label: str
    words: str
    policy: str
    style: str = "-"


class Spot(NamedTuple):
    """A policy on the frontier: shortfall and regret with the margins of their means."""

    words: str
    policy: str
    shortfall: float
    shortfall_margin: float
    regret: float
    regret_margin: float


class Scaling(NamedTuple):
    """Values at several horizons, NaN where there is none."""

    words: str
    policy: str
    values: Floats
    style: str = "-"
    marker: str = ""


def styled(draw: Callable[Given, Figure]) -> Callable[Given, Figure]:
    """Let a function draw in the house style, without a screen."""

    @wraps(draw)
    def drawn(*arguments: Given.args, **options: Given.kwargs) -> Figure:
        matplotlib = load("matplotlib")
        matplotlib.use("Agg")
        with matplotlib.rc_context(STYLE):
            return draw(*arguments, **options)

    return drawn


@styled
def regret_panel(results: Results, lines: Sequence[Line], title: str, note: str = "") -> Figure:
    """Draw time-averaged regret with 95% bands, Opt-F and Opt-NF; an inset has the first rounds."""
    figure, axes = _new(2.9, note)
    curves = [results.regret(line.label) for line in lines]
    for line, curve in zip(lines, curves, strict=True):
        _band(axes, curve, line)
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
    _legend_below(figure, axes, columns=3)
    return figure


@styled
def floor_bars(results: Results, lines: Sequence[Line], title: str, note: str = "") -> Figure:
    """Draw each arm's rate under each policy as a bar, with the floor marked across the arm."""
    figure, axes = _new(3.0, note)
    width = 0.8 / len(lines)
    places = np.arange(len(results.arms))
    for number, line in enumerate(lines):
        rates = list(results.rates(line.label).values())
        axes.bar(
            places + (number - (len(lines) - 1) / 2) * width,
            rates,
            width,
            color=_colour(line.policy),
            alpha=1.0 if line.style == "-" else 0.55,
            hatch="" if line.style == "-" else "////",
            edgecolor="white",
            linewidth=0.4,
            label=line.words,
        )
    axes.hlines(results.floors, places - 0.45, places + 0.45, color="black", label="floor")
    axes.set(xlabel="arm", ylabel="fraction of rounds played", title=title)
    axes.set_xticks(places, _short_names(results.arms))
    _legend_below(figure, axes, columns=2)
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
    figure, axes = _new(3.0, note)
    places = np.arange(len(arms))
    for number, (line, values) in enumerate(estimates):
        shift = (number - (len(estimates) - 1) / 2) * 0.16
        axes.plot(
            places + shift,
            values,
            "o" if line.style == "-" else "D",
            color=_colour(line.policy),
            fillstyle="full" if line.style == "-" else "none",
            markersize=4,
            label=line.words,
        )
    axes.hlines(truth, places - 0.4, places + 0.4, color="black", linewidth=0.9, label="truth")
    axes.set(ylabel="mean reward", title=title)
    axes.set_xticks(places, _short_names(arms))
    _legend_below(figure, axes, columns=2)
    return figure


@styled
def frontier(spots: Sequence[Spot], title: str, note: str = "") -> Figure:
    """Draw shortfall against regret, one point per policy and eta; the lower left is better."""
    rows = -(-len(spots) // 3)
    figure, axes = _new(2.6 + 0.16 * rows, note)
    figure.subplots_adjust(bottom=(0.55 + 0.16 * rows) / (2.6 + 0.16 * rows))
    drawn: dict[str, int] = {}
    for spot in spots:
        number = drawn.setdefault(spot.policy, 0)
        drawn[spot.policy] += 1
        axes.errorbar(
            spot.shortfall,
            spot.regret,
            xerr=spot.shortfall_margin,
            yerr=spot.regret_margin,
            fmt="*" if spot.policy == "priced" else "osD^vP"[number % 6],
            markersize=9 if spot.policy == "priced" else 4.5,
            color=_colour(spot.policy),
            elinewidth=0.7,
            clip_on=False,
            label=spot.words,
        )
    axes.axhline(0.0, color=COLOURS["opt-f"], linewidth=0.6)
    axes.set_xscale("symlog", linthresh=1e-4)
    axes.set_yscale("symlog", linthresh=1e-3)
    axes.set_xlim(left=0.0)
    axes.set(xlabel="worst shortfall at the horizon", ylabel="regret R(T)", title=title)
    _legend_below(figure, axes, columns=3)
    return figure


@styled
def scaling_plot(
    horizons: Integers, series: Sequence[Scaling], title: str, note: str = ""
) -> Figure:
    """Draw the natural logarithm of positive values over the horizon.

    A negative value has no logarithm: it is shown as a triangle on the lower edge.
    """
    figure, axes = _new(2.9, note)
    lowest = min((math.log(v) for entry in series for v in entry.values if v > 0.0), default=-1.0)
    edge = lowest - 1.0
    for entry in series:
        positive = np.where(entry.values > 0.0, entry.values, math.nan)
        colour = _colour(entry.policy)
        axes.plot(
            horizons, np.log(positive), entry.style, marker=entry.marker, color=colour,
            label=entry.words, markersize=3,
        )  # fmt: skip
        negative = entry.values <= 0.0
        if negative.any():
            below = np.full(int(negative.sum()), edge)
            axes.plot(horizons[negative], below, "v", color=colour, markersize=4, clip_on=False)
    axes.set(xscale="log", xlabel="horizon T", ylabel="ln of time-averaged regret", title=title)
    axes.set_ylim(edge, None)
    if any((entry.values <= 0.0).any() for entry in series):
        axes.text(0.02, 0.03, "▼ negative: no logarithm", transform=axes.transAxes, fontsize=6)
    _legend_below(figure, axes, columns=2)
    return figure


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure as PNG and SVG, the same bytes for the same figure; return the paths."""
    paths = []
    for suffix, metadata in ((".png", {"Software": None}), (".svg", {"Date": None})):
        path = stem.with_suffix(suffix)
        options: dict[str, Any] = {"format": suffix[1:], "metadata": metadata}
        write_whole(path, partial(_write, figure, options))
        paths.append(path)
    load("matplotlib.pyplot").close(figure)
    return paths


def _write(figure: Figure, options: Mapping[str, Any], path: Path) -> None:
    with load("matplotlib").rc_context(STYLE):
        figure.savefig(path, **options)


def _new(height: float, note: str) -> tuple[Figure, Axes]:
    figure, axes = load("matplotlib.pyplot").subplots(figsize=(COLUMN, height))
    figure.subplots_adjust(left=0.2, right=0.95, top=0.86 if note else 0.91, bottom=0.35)
    if note:
        figure.text(0.5, 0.985, note, ha="center", va="top", fontsize=6.5, color="#B00020")
    return figure, axes


def _short_names(arms: Sequence[str]) -> list[str]:
    """Leave out the year, break between words, and cut what does not fit.

    >>> _short_names(["Godfather, The (1972)", "Unforgettable"])
    ['Godfather', 'Unforgett…']
    """
    words = [arm.partition(" (")[0].partition(",")[0].split() for arm in arms]
    cut = [[word if len(word) <= 10 else word[:9] + "…" for word in parts] for parts in words]
    return ["\n".join(parts[:2]) for parts in cut]


def _colour(policy: str) -> str:
    return COLOURS.get(policy, OTHER_COLOUR)


def _band(axes: Axes, curve: Curve, line: Line) -> None:
    colour = _colour(line.policy)
    axes.plot(curve.rounds, curve.mean, line.style, color=colour, label=line.words)
    if np.isfinite(curve.low).all():
        axes.fill_between(curve.rounds, curve.low, curve.high, color=colour, alpha=0.18, lw=0)


def _late(curve: Curve) -> tuple[float, float]:
    """Return the smallest and largest mean after the first fiftieth, which the inset is for."""
    later = curve.mean[curve.rounds >= curve.rounds[-1] // 50]
    return float(later.min()), float(later.max())


def _inset(axes: Axes, lines: Sequence[Line], curves: Sequence[Curve]) -> None:
    inset = axes.inset_axes((0.50, 0.64, 0.47, 0.32))
    for line, curve in zip(lines, curves, strict=True):
        first = curve.rounds <= FIRST_ROUNDS
        _band(inset, Curve._make(part[first] for part in curve), line)
    inset.axhline(0.0, color=COLOURS["opt-f"], linewidth=0.5)
    inset.set(xlim=(1, FIRST_ROUNDS))
    inset.tick_params(labelsize=5.5, length=2, pad=1)
    inset.set_title(f"first {FIRST_ROUNDS} rounds", fontsize=6, pad=2)


def _legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="lower center",
        ncols=columns,
        bbox_to_anchor=(0.54, 0.0),
        handlelength=1.8,
        columnspacing=1.2,
        labelspacing=0.3,
    )
