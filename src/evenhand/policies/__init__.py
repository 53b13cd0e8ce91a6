"""One algorithm a file, and the registry that names them all."""

from evenhand._base.terms import Terms
from evenhand.policies._chances import Lines
from evenhand.policies._labels import label_policies
from evenhand.policies._policy import Moment, Policy, Situation
from evenhand.policies._registry import make_policy, register_policy, registered_policies
from evenhand.policies._state import State

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
