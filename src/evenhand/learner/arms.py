"""The life of an arm, and what there is to read of it: join, retire, change, pause, resume."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.fading import rounds_lived
from evenhand.core.round import begin_epoch
from evenhand.core.state import faded, only_arms, posterior_means, with_new_arms
from evenhand.learner import arm_table as rosters
from evenhand.learner.arm_table import Roster
from evenhand.learner.base import Core
from evenhand.optimum.feasibility import attainable


class Arms(Core):
    """The arms of an agent: who takes part from when, and how each of them fares."""

    def join(self, name: str | Iterable[str], *, floor: object = 0.0, weight: object = 1.0) -> None:
        """Let a new arm, or many, take part; their debts count from now on.

        One floor and one weight stand for all of many, or there is a list with one for each.
        """
        names = rosters.names_of(name)
        with self._lock:
            now = self.rounds, self._ledger.latest
            roster = rosters.with_arms(self._roster, names, floor, weight, *now)
            count = len(names)
            grown = (with_new_arms(state, count) for state in (self._state, self._base))
            self._adopt(roster, *grown)

    def retire(self, name: str | Iterable[str]) -> None:
        """Let an arm leave, or many; feedback on them that is still under way will be ignored."""
        names = rosters.names_of(name)
        with self._lock:
            gone = set(self._roster.places(names).tolist())
            left = [i for i in range(len(self.problem.arms)) if i not in gone]
            roster = rosters.only_places(self._roster, left)
            self._adopt(roster, *(only_arms(state, left) for state in (self._state, self._base)))

    def change(
        self, name: str | Iterable[str], *, floor: object = None, weight: object = None
    ) -> None:
        """Change the floor or weight of an arm, or of many.

        A new floor counts from now on: what the arm is owed stays, earlier plays beyond its old
        floor are not set against the new one.
        """
        names = rosters.names_of(name)
        with self._lock:
            now = self._state.played, self.rounds, self._ledger.latest
            roster = rosters.with_values(self._roster, names, floor, weight, *now)
            if roster.problem != self.problem:
                self._adopt(roster, self._state, self._base)

    def set_plays(self, plays: int) -> None:
        """Change at most how many arms are played in a round."""
        with self._lock:
            roster = rosters.with_plays(self._roster, plays)
            self._adopt(roster, self._state, self._base)

    def pause(self, name: str | Iterable[str]) -> None:
        """Let an arm rest, or many: it is not played, and owed nothing for the time."""
        names = rosters.names_of(name)
        with self._lock:
            now = self.rounds, self._ledger.latest
            roster = rosters.with_pause(self._roster, names, self._awake_rates(), *now)
            self._adopt(roster, self._state, self._base)

    def resume(self, name: str | Iterable[str]) -> None:
        """Let a paused arm, or many, take part again."""
        names = rosters.names_of(name)
        with self._lock:
            before, rounds = self._roster, self.rounds
            roster = rosters.with_resumption(before, names, rounds, self._ledger.latest)
            places = before.places(names)
            half_life = self._policy.memory_half_life
            if half_life < np.inf:
                self._set_awake_counts(roster, places, half_life)
            self._adopt(roster, self._state, self._base)

    def debts(self) -> dict[str, float]:
        """Return how many plays each arm is behind."""
        with self._lock:
            return self.problem.by_arm(self._state.debts)

    def targets(self) -> dict[str, float]:
        """Return as much of every floor as looks attainable under the awake rates measured so far.

        That is the floor itself, or less where the floors do not all fit: then what lacks is
        shared fairly. Arms are taken to wake independently; a reading, which nothing depends on.
        """
        with self._lock:
            problem, floors = self.problem, self._roster.terms.floors
            if self.rounds == 0:
                return problem.by_arm(floors)
            plays = min(problem.plays, len(problem.arms))
            return problem.by_arm(attainable(floors, self._awake_rates(), plays))

    def posterior_means(self) -> dict[str, float]:
        """Return the estimated mean reward of each arm."""
        with self._lock:
            means = posterior_means(self._state, self._policy.memory_half_life)
            return self.problem.by_arm(means)

    def rates(self) -> dict[str, float]:
        """Return the fraction of rounds since it joined, without pauses, that each arm played."""
        with self._lock:
            present = rosters.rounds_present(self._roster, self.rounds)
            rates: Floats = self._state.played / np.maximum(present, 1)
            return self.problem.by_arm(rates)

    def _set_awake_counts(self, roster: Roster, places: Integers, half_life: float) -> None:
        """Let arms that come back have the awake rates they had when they were paused."""
        state, present = self._state, self.rounds - roster.terms.joined[places]
        for sums in (state, self._base):
            begin_epoch(sums, int((state.rounds[0] + state.cancelled[0]) / half_life))
        lived = np.array([rounds_lived(rounds, half_life) for rounds in present.tolist()])
        counts = roster.marks.paused_rate[places] * lived / faded(state, half_life)
        self._base.awake_counts[places] += counts - state.awake_counts[places]
        state.awake_counts[places] = counts
