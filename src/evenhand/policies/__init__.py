"""One algorithm a file, and the registry that names them all."""

from evenhand.policies.base import Nature, Policy, Situation, plain
from evenhand.policies.registry import REGISTRY, make_policy
from evenhand.policies.state import State, new_state, posterior_means

__all__ = [
    "REGISTRY",
    "Nature",
    "Policy",
    "Situation",
    "State",
    "make_policy",
    "new_state",
    "plain",
    "posterior_means",
]
