"""The one list of beliefs."""

from __future__ import annotations

from typing import Literal, TypeAlias

from evenhand.beliefs.belief import Belief
from evenhand.beliefs.beta import BETA
from evenhand.beliefs.linear import LINEAR
from evenhand.beliefs.logistic import LOGISTIC

BeliefName: TypeAlias = Literal["auto", "beta", "linear", "logistic"]
BELIEFS = {belief.name: belief for belief in (BETA, LINEAR, LOGISTIC)}


def belief_names() -> tuple[str, ...]:
    """Return what a policy's parameter ``belief`` may be.

    >>> belief_names()
    ('auto', 'beta', 'linear', 'logistic')
    """
    return ("auto", *BELIEFS)


def belief_of(name: str, features: int) -> Belief:
    """Return a belief by name; ``"auto"`` is beta without features, and linear with them.

    >>> belief_of("auto", 0).name, belief_of("auto", 3).name
    ('beta', 'linear')
    """
    if name == "auto":
        name = "linear" if features else "beta"
    return BELIEFS[name]
