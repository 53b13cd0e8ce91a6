"""A world that changes: how policies fare before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.core.extras import load
from evenhand.figures._style import Line, band, legend_below, new, styled
from evenhand.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
