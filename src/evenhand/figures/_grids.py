"""Many cells at once: regret curves of a policy's parameters, and heat maps over two of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.extras import load
from evenhand.figures._style import COLOURS, Line, band, canvas, colour, literal, new, styled
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
PALEST, DARKEST = 0.4, 0.65
MANY_BANDS = 4
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
    below = 0.45 + LINE_HEIGHT * -(-len(lines) // columns)
    height = 2.1 + below
    figure, axes = new(height, "")
    figure.subplots_adjust(bottom=below / height, top=1.0 - 0.25 / height)
    for line, ink in zip(lines, shades(lines), strict=True):
        curve = results.regret(line.label)
        if len(lines) > MANY_BANDS:
            curve = curve._replace(low=curve.mean, high=curve.mean)
        band(axes, curve, line, ink)
    axes.axhline(0.0, color=COLOURS["opt-f"], linewidth=0.8)
    axes.set(xscale="log", xlabel="round", ylabel="time-averaged regret", title=literal(title))
    axes.set_yscale("symlog", linthresh=1e-2)
    axes.set_xlim(min(FIRST_SHOWN, results.horizon / 2), results.horizon)
    handles, words = axes.get_legend_handles_labels()
    figure.legend(
        handles, words, loc="lower center", ncols=columns, bbox_to_anchor=(0.54, 0.0),
        handlelength=1.4, columnspacing=0.9, labelspacing=0.3, fontsize=6.5,
    )  # fmt: skip
    return figure


def shades(lines: Sequence[Line]) -> list[Any]:
    """Return a colour for each line: its policy's, from pale to dark over the parameters.

    The surplus makes no difference: whether it is finite is the line style.
    """
    keys = [(line.policy, re.sub(r" ?surplus=\S+", "", line.words)) for line in lines]
    groups: dict[str, list[str]] = {}
    for policy, words in dict.fromkeys(keys):
        groups.setdefault(policy, []).append(words)
    return [
        _shade(policy, groups[policy].index(words), len(groups[policy])) for policy, words in keys
    ]


def _shade(policy: str, number: int, count: int) -> Any:
    """Mix a policy's colour with white for the first, with black for the last of several."""
    ink = np.array(load("matplotlib.colors").to_rgb(colour(policy)))
    if count == 1:
        return tuple(ink)
    level = number / (count - 1)
    if level <= 0.5:
        full = PALEST + (1.0 - PALEST) * 2.0 * level
        return tuple(full * ink + (1.0 - full))
    return tuple(ink * (1.0 - DARKEST * (2.0 * level - 1.0)))


@styled
def heat_maps(heat: Heat, title: str) -> Figure:
    """Draw regret and worst shortfall over two parameters, side by side, with their numbers."""
    height = 1.15 + ROW_HEIGHT * max(len(heat.rows), 2)
    figure = canvas(MAPS_WIDTH, height)
    figure.set_layout_engine("constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    figure.suptitle(literal(title), fontsize=8)
    regret, shortfall = 1e3 * heat.regret, 1e3 * heat.shortfall
    colours = load("matplotlib.colors")
    reach, worst = _largest(np.abs(regret)), _largest(shortfall)
    even = colours.SymLogNorm(linthresh=reach / 20, vmin=-reach, vmax=reach)
    rising = colours.PowerNorm(0.5, vmin=0.0, vmax=worst)
    _map(left, heat, regret, "regret R(T), thousandths", "RdBu_r", even)
    _map(right, heat, shortfall, "worst shortfall, thousandths", "Greens", rising)
    left.set_ylabel(heat.row_name)
    return figure


def _largest(values: Floats) -> float:
    """Return the largest value there is, or a tiny number if there is none above it."""
    found = values[np.isfinite(values)]
    return max(float(found.max()), 1e-3) if found.size else 1e-3


def _map(axes: Axes, heat: Heat, values: Floats, title: str, palette: str, norm: Any) -> None:
    """Draw one map, with a number in each cell or, if there are too many, a colour bar."""
    colours = load("matplotlib").colormaps[palette].with_extremes(bad=MISSING)
    image = axes.imshow(values, cmap=colours, norm=norm, aspect="auto")
    columns, rows = ([literal(word) for word in words] for words in (heat.columns, heat.rows))
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlabel=heat.column_name, title=title)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    if values.size > MANY_NUMBERS:
        bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.02)
        bar.ax.tick_params(labelsize=6, length=2)
        return
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            dark = sum(colours(norm(value))[:3]) < 1.5
            number = f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"
            ink = "white" if dark else "black"
            axes.text(column, row, number, ha="center", va="center", fontsize=6.5, color=ink)
