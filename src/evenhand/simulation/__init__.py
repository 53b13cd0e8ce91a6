"""Simulation: one readable engine, one compiled engine, the same bits."""

from evenhand._base.delay import Geometric
from evenhand.simulation._runner import simulate

__all__ = ["Geometric", "simulate"]
