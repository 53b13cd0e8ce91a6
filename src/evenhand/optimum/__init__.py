"""The exact optimum: prices, feasibility, certificates, the optimal policy, and the bounds."""

from evenhand.core.nature import Awake
from evenhand.optimum.bounds import lfg_bound, paper_eta, tscsf_b_bound
from evenhand.optimum.environment import find_optimum
from evenhand.optimum.mixture import Mixture
from evenhand.optimum.result import Optimum
from evenhand.optimum.solver import solve, solve_mixture

__all__ = [
    "Awake",
    "Mixture",
    "Optimum",
    "find_optimum",
    "lfg_bound",
    "paper_eta",
    "solve",
    "solve_mixture",
    "tscsf_b_bound",
]
