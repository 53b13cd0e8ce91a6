"""The house style: colours, sizes, and figures as files.

Figures are one column wide (3.5 inches). A policy has the same colour everywhere (Okabe and Ito's
palette, which colour-blind readers can tell apart); the form of its debt is the line style.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

import numpy as np

from evenhand.core.extras import load
from evenhand.core.storage import write_bytes
from evenhand.results import Curve

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
    "fair-learn": "#332288",
    "pessimistic": "#117733",
    "ucb-lp": "#AA4499",
    "simplex-mixture": "#999933",
    "strict-rate": "#661100",
    "floor-first": "#F0E442",
    "opt-nf": "#009E73",
    "opt-f": "#000000",
}
OTHER_COLOUR = "#7F7F7F"
LINE_STYLES = {"cumulative": "-", "reflected": "--"}
COLUMN = 3.5
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


def styled(draw: Callable[Given, Figure]) -> Callable[Given, Figure]:
    """Apply our matplotlib style while a function draws."""

    @wraps(draw)
    def drawn(*arguments: Given.args, **options: Given.kwargs) -> Figure:
        with load("matplotlib").rc_context(STYLE):
            return draw(*arguments, **options)

    return drawn


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure as PNG and SVG, the same bytes for the same figure; return the paths."""
    drawn = {".png": _drawn(figure, "png", {"Software": None}), ".svg": as_svg(figure)}
    paths = []
    for suffix, content in drawn.items():
        paths.append(stem.with_suffix(suffix))
        write_bytes(paths[-1], content)
    return paths


def as_svg(figure: Figure) -> bytes:
    """Return a figure as SVG, the same bytes for the same figure."""
    return _drawn(figure, "svg", {"Date": None})


def _drawn(figure: Figure, kind: str, metadata: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    with load("matplotlib").rc_context(STYLE):
        figure.savefig(file, format=kind, metadata=metadata)
    return file.getvalue()


def canvas(width: float, height: float) -> Figure:
    """Return an empty figure of its own: pyplot, and whatever a caller draws on, is left alone."""
    figure: Figure = load("matplotlib.figure").Figure(figsize=(width, height))
    return figure


def new(height: float, note: str) -> tuple[Figure, Axes]:
    """Return an empty figure of one column, with a note above it if there is one."""
    figure = canvas(COLUMN, height)
    axes = figure.subplots()
    figure.subplots_adjust(left=0.2, right=0.95, top=0.86 if note else 0.91, bottom=0.35)
    if note:
        figure.text(0.5, 0.985, note, ha="center", va="top", fontsize=6.5, color="#B00020")
    return figure, axes


def colour(policy: str) -> str:
    """Return a policy's colour; the same grey for policies that have none."""
    return COLOURS.get(policy, OTHER_COLOUR)


def literal(words: str) -> str:
    r"""Return words in which matplotlib sees no formula, and that it does not leave out of legends.

    >>> print(literal("$x$"), literal("_x"))
    \$x\$  _x
    """
    plain = words.replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def band(axes: Axes, curve: Curve, line: Line, ink: Any = None) -> None:
    """Draw a curve with its interval, in the policy's colour or another ink."""
    ink = colour(line.policy) if ink is None else ink
    axes.plot(curve.rounds, curve.mean, line.style, color=ink, label=literal(line.words))
    if np.isfinite(curve.low).all():
        axes.fill_between(curve.rounds, curve.low, curve.high, color=ink, alpha=0.18, lw=0)


def legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    """Put the legend of the axes under them."""
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
