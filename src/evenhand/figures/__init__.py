"""Results as figures that could go into a paper; the only place that loads matplotlib."""

from evenhand.figures.house import COLOURS, Line, save
from evenhand.figures.panels import estimate_marks, floor_bars, regret_panel
from evenhand.figures.tradeoffs import Scaling, Spot, frontier, scaling_plot

__all__ = [
    "COLOURS",
    "Line",
    "Scaling",
    "Spot",
    "estimate_marks",
    "floor_bars",
    "frontier",
    "regret_panel",
    "save",
    "scaling_plot",
]
