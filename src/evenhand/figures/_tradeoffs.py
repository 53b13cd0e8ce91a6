"""What is given up for what: shortfall against regret, regret against the horizon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.figures._style import COLOURS, colour, legend_below, literal, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Spot(NamedTuple):
    """A policy on the frontier.

    Its worst shortfall, and what 95% of the replications stay within; its regret with a margin.
    """

    words: str
    policy: str
    shortfall: float
    shortfall_bulk: float
    regret: float
    regret_margin: float


class Scaling(NamedTuple):
    """Values at several horizons, NaN where there is none."""

    words: str
    policy: str
    values: Floats
    style: str = "-"
    marker: str = ""


@styled
def frontier(
    spots: Sequence[Spot],
    title: str,
    note: str = "",
    axes_words: tuple[str, str] = (
        "worst shortfall at the horizon (bar: to 95% of runs)",
        "regret R(T) (bar: 95% interval)",
    ),
) -> Figure:
    """Draw shortfall against regret, one point per policy and eta; the lower left is better."""
    rows = -(-len(spots) // 3)
    figure, axes = new(2.6 + 0.16 * rows, note)
    figure.subplots_adjust(bottom=(0.55 + 0.16 * rows) / (2.6 + 0.16 * rows))
    drawn: dict[str, int] = {}
    for spot in spots:
        number = drawn.setdefault(spot.policy, 0)
        drawn[spot.policy] += 1
        axes.errorbar(
            spot.shortfall,
            spot.regret,
            xerr=[[0.0], [max(spot.shortfall_bulk - spot.shortfall, 0.0)]],
            yerr=spot.regret_margin,
            fmt="*" if spot.policy == "priced" else "osD^vP"[number % 6],
            markersize=9 if spot.policy == "priced" else 4.5,
            color=colour(spot.policy),
            elinewidth=0.7,
            clip_on=False,
            label=literal(spot.words),
        )
    axes.axhline(0.0, color=COLOURS["opt-f"], linewidth=0.6)
    axes.set_xscale("symlog", linthresh=1e-4)
    axes.set_yscale("symlog", linthresh=1e-3)
    axes.set_xlim(left=0.0)
    axes.set(xlabel=axes_words[0], ylabel=axes_words[1], title=title)
    legend_below(figure, axes, columns=3)
    return figure


@styled
def scaling_plot(
    horizons: Integers, series: Sequence[Scaling], title: str, note: str = ""
) -> Figure:
    """Draw the natural logarithm of positive values over the horizon.

    A negative value has no logarithm: it is shown as a triangle on the lower edge.
    """
    figure, axes = new(2.9, note)
    lowest = min((math.log(v) for entry in series for v in entry.values if v > 0.0), default=-1.0)
    edge = lowest - 1.0
    for entry in series:
        positive = np.where(entry.values > 0.0, entry.values, math.nan)
        ink = colour(entry.policy)
        axes.plot(
            horizons, np.log(positive), entry.style, marker=entry.marker, color=ink,
            label=entry.words, markersize=3,
        )  # fmt: skip
        negative = entry.values <= 0.0
        if negative.any():
            below = np.full(int(negative.sum()), edge)
            axes.plot(horizons[negative], below, "v", color=ink, markersize=4, clip_on=False)
    axes.set(xscale="log", xlabel="horizon T", ylabel="ln of time-averaged regret", title=title)
    axes.set_ylim(edge, None)
    if any((entry.values <= 0.0).any() for entry in series):
        axes.text(0.02, 0.03, "▼ negative: no logarithm", transform=axes.transAxes, fontsize=6)
    legend_below(figure, axes, columns=2)
    return figure
