"""Even-handed bandits: play the best arms that are awake, and give each arm its share."""

from evenhand.agent import Agent, Decision, Receipt
from evenhand.availability import Independent, Joint, Trace
from evenhand.environment import Bernoulli, Beta, Environment, Recorded
from evenhand.errors import (
    EvenhandError,
    FeedbackError,
    InputError,
    MissingExtra,
    SnapshotError,
)
from evenhand.policies import Policy, make_policy
from evenhand.problem import Problem
from evenhand.results import Results
from evenhand.simulation import Geometric, simulate

__all__ = [
    "Agent",
    "Bernoulli",
    "Beta",
    "Decision",
    "Environment",
    "EvenhandError",
    "FeedbackError",
    "Geometric",
    "Independent",
    "InputError",
    "Joint",
    "MissingExtra",
    "Policy",
    "Problem",
    "Receipt",
    "Recorded",
    "Results",
    "SnapshotError",
    "Trace",
    "make_policy",
    "simulate",
]
