"""The exact optimum: prices, feasibility, certificates, the optimal policy, and the bounds."""

from evenhand._base.nature import Awake
from evenhand.optimum._bounds import lfg_bound, paper_eta, tscsf_b_bound
from evenhand.optimum._environment import find_optimum
from evenhand.optimum._mixture import Mixture
from evenhand.optimum._solve import Optimum, solve, solve_mixture

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
