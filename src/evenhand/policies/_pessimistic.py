"""The pessimistic-optimistic algorithm: tightened queues, weights that grow with time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand._base.arrays import Floats, Integers
from evenhand._base.checks import POSITIVE, Limits, check_number
from evenhand._base.terms import Terms
from evenhand.policies._base_learner import Base, WithBase, base_values
from evenhand.policies._policy import Situation
from evenhand.policies._state import State


class PessimisticConstants(NamedTuple):
    """The scales of V and of epsilon, and the base learner."""

    eta: float
    tightening: float
    base: Base


class PessimisticMemory(NamedTuple):
    """The queues, and the plays and rounds that they have taken in."""

    queues: Floats
    played: Integers
    rounds: Integers


def score(
    scores: Floats,
    awake: Integers,
    samples: Floats,
    state: State,
    terms: Terms,
    constants: PessimisticConstants,
    memory: PessimisticMemory,
    rng: np.random.Generator,
) -> None:
    """Score ``w_i estimate_i + Q_i / V_t``."""
    take_in(state, terms, constants.tightening, memory)
    base_values(scores, awake, samples, state, terms, constants.base)
    share = 1.0 / (constants.eta * math.sqrt(state.rounds[0] + 1))
    for j in range(awake.size):
        scores[j] += memory.queues[awake[j]] * share


def take_in(state: State, terms: Terms, tightening: float, memory: PessimisticMemory) -> None:
    """Let the queues follow the rounds since they were last looked at.

    Rounds that left no choice are taken in together with the next one that did.
    """
    promised = 0.0
    for now in range(memory.rounds[0] + 1, state.rounds[0] + 1):
        promised += 1.0 + tightening / math.sqrt(now)
    for i in range(memory.queues.size):
        plays = state.played[i] - memory.played[i]
        queue = memory.queues[i] + terms.floors[i] * promised - plays
        memory.queues[i] = queue if queue > 0.0 else 0.0
        memory.played[i] = state.played[i]
    memory.rounds[0] = state.rounds[0]


@dataclass(frozen=True, kw_only=True)
class Pessimistic(WithBase):
    r"""Promises a little more than the floors, less and less of it (pessimistic-optimistic).

    .. math::
        \text{score}_i = w_i \, \text{estimate}_i + \frac{Q_i(t)}{V_t}, \quad
        Q_i \leftarrow \max(Q_i + k_i (1 + \epsilon_t) - d_i, 0), \quad
        V_t = \eta \sqrt t, \quad \epsilon_t = \frac{c}{\sqrt t}

    with d_i = 1 if the arm was played. The publication leaves the scales of V and epsilon open:
    they are ``eta`` and ``tightening`` here, and epsilon is in parts of the floor, so that a small
    floor is not tightened beyond what there is to give.

    Parameters
    ----------
    eta
        The scale of V_t, above 0.
    tightening
        The scale c of epsilon_t, at least 0.
    base, rewards, half_life, exploration
        See :class:`WithBase`.

    Examples
    --------
    >>> Pessimistic(base="ucb").label()
    'pessimistic base=ucb'

    References
    ----------
    Liu, Li, Shi, Ying: An Efficient Pessimistic-Optimistic Algorithm for Stochastic Linear Bandits
    with General Constraints, NeurIPS 2021, arXiv 2102.05295.
    """

    name = "pessimistic"
    score = staticmethod(score)
    eta: float = 0.1
    tightening: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        eta = check_number(f"eta of policy {self.name!r}", self.eta, POSITIVE)
        least = Limits(0.0)
        tightening = check_number(f"tightening of policy {self.name!r}", self.tightening, least)
        object.__setattr__(self, "eta", eta)
        object.__setattr__(self, "tightening", tightening)

    @property
    def adds_up(self) -> bool:
        """Not: a queue that forgets a surplus depends on the order of events."""
        return False

    def constants(self, situation: Situation) -> tuple[Any, ...]:
        """Return the scales."""
        return PessimisticConstants(self.eta, self.tightening, self.learner)

    def new_memory(self, arms: int) -> tuple[Any, ...]:
        """Return empty queues that have taken in nothing yet."""
        none = np.zeros(arms, dtype=np.int64)
        return PessimisticMemory(np.zeros(arms), none, np.zeros(1, dtype=np.int64))
