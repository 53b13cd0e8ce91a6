"""Sweeps: many cells on a laptop or on a cluster, resumable, with the same bits everywhere."""

from evenhand.sweeps._results import SweepResults
from evenhand.sweeps.grid import Grid
from evenhand.sweeps.run import run_sweep

__all__ = ["Grid", "SweepResults", "run_sweep"]
