"""Simulation: one readable engine, one compiled engine, the same bits."""

from evenhand.core.delay import Geometric
from evenhand.simulation.runner import simulate

__all__ = ["Geometric", "simulate"]
