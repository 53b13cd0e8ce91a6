"""Many cells at once: regret curves of a policy's parameters, and heat maps over two of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.arrays import Floats
from evenhand.extras import load
from evenhand.figures.house import COLOURS, Line, colour, new, styled
from evenhand.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE_HEIGHT = 0.155
LONG_WORDS = 26
FIRST_SHOWN = 10
ROW_HEIGHT = 0.26
MAPS_WIDTH = 5.2
MANY_NUMBERS = 64
PALEST = 0.35
MISSING = "#E4E4E4"


class Heat(NamedTuple):
    """Values over two parameters (row x column); NaN where there is no cell."""

    row_name: str
    rows: Sequence[str]
    column_name: str
    columns: Sequence[str]
    regret: Floats
    shortfall: Floats


@styled
def regret_curves(results: Results, lines: Sequence[Line], title: str) -> Figure:
    """Draw time-averaged regret over the logarithm of time; shades tell a policy's parameters."""
    columns = 1 if max(len(line.words) for line in lines) > LONG_WORDS else 2
    below = 0.55 + LINE_HEIGHT * -(-len(lines) // columns)
    height = 2.1 + below
    figure, axes = new(height, "")
    figure.subplots_adjust(bottom=below / height, top=1.0 - 0.25 / height)
    inks = _shades([line.policy for line in lines])
    for line, ink in zip(lines, inks, strict=True):
        curve = results.regret(line.label)
        axes.plot(curve.rounds, curve.mean, line.style, color=ink, label=line.words)
        if np.isfinite(curve.low).all():
            axes.fill_between(curve.rounds, curve.low, curve.high, color=ink, alpha=0.15, lw=0)
    axes.axhline(0.0, color=COLOURS["opt-f"], linewidth=0.8)
    axes.set(xscale="log", xlabel="round", ylabel="time-averaged regret", title=title)
    axes.set_yscale("symlog", linthresh=1e-2)
    axes.set_xlim(min(FIRST_SHOWN, results.horizon / 2), results.horizon)
    handles, words = axes.get_legend_handles_labels()
    figure.legend(
        handles, words, loc="lower center", ncols=columns, bbox_to_anchor=(0.54, 0.0),
        handlelength=1.4, columnspacing=0.9, labelspacing=0.3, fontsize=6.5,
    )  # fmt: skip
    return figure


def _shades(policies: Sequence[str]) -> list[Any]:
    """Return a colour for each line: the policy's, from pale to full over its lines."""
    colours = load("matplotlib.colors")
    shades = []
    for position, policy in enumerate(policies):
        own, number = policies.count(policy), policies[:position].count(policy)
        full = 1.0 if own == 1 else PALEST + (1.0 - PALEST) * number / (own - 1)
        ink = np.array(colours.to_rgb(colour(policy)))
        shades.append(tuple(full * ink + (1.0 - full)))
    return shades


@styled
def heat_maps(heat: Heat, title: str) -> Figure:
    """Draw regret and worst shortfall over two parameters, side by side, with their numbers."""
    height = 1.15 + ROW_HEIGHT * max(len(heat.rows), 2)
    figure: Figure
    figure, (left, right) = load("matplotlib.pyplot").subplots(
        1, 2, figsize=(MAPS_WIDTH, height), sharey=True, layout="constrained"
    )
    figure.suptitle(title, fontsize=8)
    regret, shortfall = 1e3 * heat.regret, 1e3 * heat.shortfall
    reach, worst = _largest(np.abs(regret)), _largest(shortfall)
    _map(left, heat, regret, "regret R(T), thousandths", "RdBu_r", (-reach, reach))
    _map(right, heat, shortfall, "worst shortfall, thousandths", "Greens", (0.0, worst))
    left.set_ylabel(heat.row_name)
    return figure


def _largest(values: Floats) -> float:
    """Return the largest value there is, or a tiny number if there is none above it."""
    found = values[np.isfinite(values)]
    return max(float(found.max()), 1e-3) if found.size else 1e-3


def _map(
    axes: Axes, heat: Heat, values: Floats, title: str, palette: str, limits: tuple[float, float]
) -> None:
    colours = load("matplotlib").colormaps[palette].with_extremes(bad=MISSING)
    image = axes.imshow(values, cmap=colours, vmin=limits[0], vmax=limits[1], aspect="auto")
    axes.set_xticks(range(len(heat.columns)), list(heat.columns), rotation=45, ha="right")
    axes.set_yticks(range(len(heat.rows)), list(heat.rows))
    axes.set(xlabel=heat.column_name, title=title)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6, length=2)
    if values.size <= MANY_NUMBERS:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                strong = abs(value) > 0.6 * max(abs(limit) for limit in limits)
                ink = "white" if strong else "black"
                number = f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"
                axes.text(column, row, number, ha="center", va="center", fontsize=6.5, color=ink)
