"""Even-handed bandits: play the best arms that are awake, and give each arm its share."""

from importlib import import_module

# As in typing, which takes a while to load; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from evenhand.agent import Agent, Decision, Deltas, Reason, Receipt
    from evenhand.availability import Independent, Joint, Trace
    from evenhand.client import AsyncClient, Client
    from evenhand.environment import Bernoulli, Beta, Change, Environment, Recorded
    from evenhand.errors import (
        Certificate,
        EvenhandError,
        FeedbackError,
        InfeasibleFloors,
        InputError,
        MissingExtra,
        ServiceError,
        SnapshotError,
    )
    from evenhand.generate import Generated, random_environment
    from evenhand.optimum import Optimum, find_optimum
    from evenhand.policies import Policy, make_policy, register_policy
    from evenhand.problem import Problem
    from evenhand.results import Anytime, Results
    from evenhand.simulation import Geometric, simulate
    from evenhand.sweeps import Grid, SweepResults, run_sweep

_HOMES = {
    "Agent": "agent",
    "Anytime": "results",
    "AsyncClient": "client",
    "Bernoulli": "environment",
    "Beta": "environment",
    "Change": "environment",
    "Certificate": "errors",
    "Client": "client",
    "Decision": "agent",
    "Deltas": "agent",
    "Environment": "environment",
    "EvenhandError": "errors",
    "FeedbackError": "errors",
    "Generated": "generate",
    "Geometric": "simulation",
    "Grid": "sweeps",
    "Independent": "availability",
    "InfeasibleFloors": "errors",
    "InputError": "errors",
    "Joint": "availability",
    "MissingExtra": "errors",
    "Optimum": "optimum",
    "Policy": "policies",
    "Problem": "problem",
    "Reason": "agent",
    "Receipt": "agent",
    "Recorded": "environment",
    "Results": "results",
    "ServiceError": "errors",
    "SnapshotError": "errors",
    "SweepResults": "sweeps",
    "Trace": "availability",
    "find_optimum": "optimum",
    "make_policy": "policies",
    "random_environment": "generate",
    "register_policy": "policies",
    "run_sweep": "sweeps",
    "simulate": "simulation",
}

__all__ = [
    "Agent",
    "Anytime",
    "AsyncClient",
    "Bernoulli",
    "Beta",
    "Certificate",
    "Change",
    "Client",
    "Decision",
    "Deltas",
    "Environment",
    "EvenhandError",
    "FeedbackError",
    "Generated",
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
    "Reason",
    "Receipt",
    "Recorded",
    "Results",
    "ServiceError",
    "SnapshotError",
    "SweepResults",
    "Trace",
    "find_optimum",
    "make_policy",
    "random_environment",
    "register_policy",
    "run_sweep",
    "simulate",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for: a program pays for what it uses."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
