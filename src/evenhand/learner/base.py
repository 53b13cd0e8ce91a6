"""What an agent is made of: its policy, its arms, its state and its desk, behind one lock."""

from __future__ import annotations

import threading

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import check_whole, fail
from evenhand.core.state import State, awake_rates, copied, new_state
from evenhand.learner.arm_table import Roster, first_roster
from evenhand.learner.decision_log import Ledger
from evenhand.learner.deltas import Deltas
from evenhand.learner.engine import Compiled, Desk
from evenhand.policies import Policy, Situation, make_policy
from evenhand.policies.policy import Moment
from evenhand.problem import Problem


class Core:
    """The parts of an agent, and how it goes on with other arms.

    ``_state`` is what happened, ``_base`` as much of it as others know already (:class:`Deltas`).
    """

    def __init__(
        self,
        problem: Problem,
        policy: Policy | str = "priced",
        *,
        seed: int | None = None,
        horizon: int | None = None,
        memory: int = 100_000,
        compiled: Compiled = "auto",
    ) -> None:
        if not isinstance(problem, Problem):
            fail("problem", "a Problem", problem)
        self._policy = policy if isinstance(policy, Policy) else make_policy(policy)
        self._horizon = None if horizon is None else check_whole("horizon", horizon, least=1)
        self._ledger = Ledger(check_whole("memory", memory, least=1))
        self._rng = np.random.default_rng(
            None if seed is None else check_whole("seed", seed, least=0)
        )
        self._compiled, self._reflected = compiled, self._policy.reflected
        self._lock = threading.RLock()
        self._early: list[Deltas] = []
        state = new_state(len(problem.arms))
        self._adopt(first_roster(problem), state, copied(state))

    @property
    def problem(self) -> Problem:
        """The arms as they are now."""
        return self._roster.problem

    @property
    def policy(self) -> Policy:
        """The policy in use."""
        return self._policy

    @property
    def rounds(self) -> int:
        """How many decisions have been made, but those that were cancelled."""
        return int(self._state.rounds[0])

    @property
    def compiled(self) -> bool:
        """Whether decisions are compiled."""
        return self._desk.compiled

    def _adopt(self, roster: Roster, state: State, base: State) -> None:
        """Go on with other arms; what can be refused comes first."""
        constants = self._policy.constants(Situation(roster.problem, self._horizon))
        self._desk = Desk(self._policy, state, roster.terms, constants, self._compiled)
        self._roster, self._state, self._base = roster, self._desk.state, base

    def _moment(self, here: Integers) -> Moment:
        """Return a copy of all that the next decision depends on."""
        desk, state = self._desk, copied(self._state)
        return Moment(here, state, self._roster.terms, desk.constants, copied(desk.memory))

    def _awake_rates(self) -> Floats:
        return awake_rates(self._state, self._roster.terms, self._policy.memory_half_life)
