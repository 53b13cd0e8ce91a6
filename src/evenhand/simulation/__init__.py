"""Simulation: one readable engine, one compiled engine, the same bits."""

from evenhand.simulation.delay import Geometric
from evenhand.simulation.runner import simulate
from evenhand.simulation.settings import Settings

__all__ = ["Geometric", "Settings", "simulate"]
