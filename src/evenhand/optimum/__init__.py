"""The exact optimum on arrays alone: prices, feasibility, certificates and the optimal policy."""

from evenhand.optimum.mixture import Mixture
from evenhand.optimum.solve import Awake, Optimum, solve, solve_mixture

__all__ = ["Awake", "Mixture", "Optimum", "solve", "solve_mixture"]
