"""Results as figures that could go into a paper; the only place that loads matplotlib."""

from evenhand.figures._grids import Heat, heat_maps, regret_curves
from evenhand.figures._panels import (
    change_panel,
    estimate_marks,
    floor_bars,
    promise_bars,
    regret_panel,
)
from evenhand.figures._style import COLOURS, LINE_STYLES, Line, as_svg, save
from evenhand.figures._tradeoffs import Scaling, Spot, frontier, scaling_plot

__all__ = [
    "COLOURS",
    "LINE_STYLES",
    "Heat",
    "Line",
    "Scaling",
    "Spot",
    "as_svg",
    "change_panel",
    "estimate_marks",
    "floor_bars",
    "frontier",
    "heat_maps",
    "promise_bars",
    "regret_curves",
    "regret_panel",
    "save",
    "scaling_plot",
]
