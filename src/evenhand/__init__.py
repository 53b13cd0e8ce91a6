"""Even-handed bandits: play the best arms that are awake, and give each arm its share."""

from importlib import import_module

# As in typing, which takes a while to load; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from evenhand.agent import Agent as Agent
    from evenhand.agent import Decision as Decision
    from evenhand.agent import Deltas as Deltas
    from evenhand.agent import Reason as Reason
    from evenhand.agent import Receipt as Receipt
    from evenhand.availability import Independent as Independent
    from evenhand.availability import Joint as Joint
    from evenhand.availability import Trace as Trace
    from evenhand.client import AsyncClient as AsyncClient
    from evenhand.client import Client as Client
    from evenhand.environment import Bernoulli as Bernoulli
    from evenhand.environment import Beta as Beta
    from evenhand.environment import ByCategory as ByCategory
    from evenhand.environment import Change as Change
    from evenhand.environment import DrawnContexts as DrawnContexts
    from evenhand.environment import Environment as Environment
    from evenhand.environment import LinearMean as LinearMean
    from evenhand.environment import LogisticMean as LogisticMean
    from evenhand.environment import Recorded as Recorded
    from evenhand.environment import RecordedContexts as RecordedContexts
    from evenhand.errors import Certificate as Certificate
    from evenhand.errors import EvenhandError as EvenhandError
    from evenhand.errors import FeedbackError as FeedbackError
    from evenhand.errors import InfeasibleFloors as InfeasibleFloors
    from evenhand.errors import InfeasiblePromises as InfeasiblePromises
    from evenhand.errors import InputError as InputError
    from evenhand.errors import MissingExtra as MissingExtra
    from evenhand.errors import ServiceError as ServiceError
    from evenhand.errors import SnapshotError as SnapshotError
    from evenhand.generate import Generated as Generated
    from evenhand.generate import random_environment as random_environment
    from evenhand.optimum import Optimum as Optimum
    from evenhand.optimum import find_optimum as find_optimum
    from evenhand.policies import Policy as Policy
    from evenhand.policies import make_policy as make_policy
    from evenhand.policies import register_policy as register_policy
    from evenhand.problem import Problem as Problem
    from evenhand.problem import Promise as Promise
    from evenhand.results import Anytime as Anytime
    from evenhand.results import Results as Results
    from evenhand.simulation import Geometric as Geometric
    from evenhand.simulation import simulate as simulate
    from evenhand.sweeps import Grid as Grid
    from evenhand.sweeps import SweepResults as SweepResults
    from evenhand.sweeps import run_sweep as run_sweep

# Where each public name is at home.
_NAMES = {
    "agent": "Agent Decision Deltas Reason Receipt",
    "availability": "Independent Joint Trace",
    "client": "AsyncClient Client",
    "environment": "Bernoulli Beta ByCategory Change DrawnContexts Environment LinearMean "
    "LogisticMean Recorded RecordedContexts",
    "errors": "Certificate EvenhandError FeedbackError InfeasibleFloors InfeasiblePromises "
    "InputError MissingExtra ServiceError SnapshotError",
    "generate": "Generated random_environment",
    "optimum": "Optimum find_optimum",
    "policies": "Policy make_policy register_policy",
    "problem": "Problem Promise",
    "results": "Anytime Results",
    "simulation": "Geometric simulate",
    "sweeps": "Grid SweepResults run_sweep",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for: a program pays for what it uses."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
