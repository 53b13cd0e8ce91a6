"""One algorithm a file, and the registry that names them all."""

from evenhand.core.schema import Column
from evenhand.core.state import DecisionView, ProblemArrays, State
from evenhand.policies.policy import Policy, PolicySetup
from evenhand.policies.probabilities import Lines
from evenhand.policies.registry import (
    label_policies,
    make_policy,
    register_policy,
    registered_policies,
)

__all__ = [
    "Column",
    "DecisionView",
    "Lines",
    "Policy",
    "PolicySetup",
    "ProblemArrays",
    "State",
    "label_policies",
    "make_policy",
    "register_policy",
    "registered_policies",
]
