"""One TOML grammar: environments, simulations and grids; parser and writer together."""

from evenhand.files._environment import environment_from
from evenhand.files.describe import describe_environment, describe_policies, describe_simulation
from evenhand.files.simulation import Settings, policies_from

__all__ = [
    "Settings",
    "describe_environment",
    "describe_policies",
    "describe_simulation",
    "environment_from",
    "policies_from",
]
