"""One algorithm a file, and the registry that names them all."""

from evenhand.core.state import State
from evenhand.core.terms import Terms
from evenhand.policies.labels import label_policies
from evenhand.policies.policy import Moment, Policy, Situation
from evenhand.policies.probabilities import Lines
from evenhand.policies.registry import make_policy, register_policy, registered_policies

__all__ = [
    "Lines",
    "Moment",
    "Policy",
    "Situation",
    "State",
    "Terms",
    "label_policies",
    "make_policy",
    "register_policy",
    "registered_policies",
]
