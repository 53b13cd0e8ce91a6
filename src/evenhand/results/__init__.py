"""What simulations leave behind: tables, where they came from, and what they say."""

from evenhand.results._results import Curve, Estimate, Results, WorstShortfall
from evenhand.results.anytime import Anytime, AnytimeFigures

__all__ = ["Anytime", "AnytimeFigures", "Curve", "Estimate", "Results", "WorstShortfall"]
