"""Even-handed bandits: play the best arms that are awake, and give each arm its share."""

from evenhand.agent import Agent, Decision, Receipt
from evenhand.availability import Independent, Joint, Trace
from evenhand.benchmark import find_optimum
from evenhand.environment import Bernoulli, Beta, Environment, Recorded
from evenhand.errors import (
    Certificate,
    EvenhandError,
    FeedbackError,
    InfeasibleFloors,
    InputError,
    MissingExtra,
    SnapshotError,
)
from evenhand.optimum import Optimum
from evenhand.policies import Policy, make_policy
from evenhand.problem import Problem
from evenhand.results import Results
from evenhand.simulation import Geometric, simulate
from evenhand.sweeps import Grid, SweepResults, run_sweep

__all__ = [
    "Agent",
    "Bernoulli",
    "Beta",
    "Certificate",
    "Decision",
    "Environment",
    "EvenhandError",
    "FeedbackError",
    "Geometric",
    "Grid",
    "Independent",
    "InfeasibleFloors",
    "InputError",
    "Joint",
    "MissingExtra",
    "Optimum",
    "Policy",
    "Problem",
    "Receipt",
    "Recorded",
    "Results",
    "SnapshotError",
    "SweepResults",
    "Trace",
    "find_optimum",
    "make_policy",
    "run_sweep",
    "simulate",
]
