"""The figures of a bandit, computed from its counters: rates, debts, prices, certificates."""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.fading import rounds_lived
from evenhand.core.jit import maker
from evenhand.core.schema import new
from evenhand.core.state import (
    NoPromises,
    NoStatistics,
    State,
    awake_rates,
    cumulative_debts,
    posterior_means,
)
from evenhand.errors import Certificate, InfeasibleFloors
from evenhand.learner.arm_table import rounds_present
from evenhand.optimum.feasibility import worst_prefix
from evenhand.policies.priced import PricedMemory, refresh_prices
from evenhand.service.engine.config_version import ConfigVersion, serving_policy
from evenhand.service.views.schemas import Standing

ENOUGH_ROUNDS = 100
ERRORS = 3.0
# In plays: smaller debts come and go with any policy.
BEHIND = 3.0
NEGLIGIBLE = 1e-9


class BanditMeasures:
    """The figures of a bandit."""

    def __init__(self, config: ConfigVersion, state: State) -> None:
        self.state, self.problem = state, config.table.problem
        self.arrays = config.table.arrays
        self.half_life = serving_policy(config.policy).options.half_life
        self.rounds = int(state.rounds[0])
        self.plays = min(self.problem.plays, len(self.problem.arms))
        self._owed = cumulative_debts(state, self.arrays)
        self.debts: Floats = np.maximum(self._owed, 0.0)
        self.awake = awake_rates(state, self.arrays, self.half_life)
        self.present = rounds_present(config.table, self.rounds)
        self.rates: Floats = state.played / np.maximum(self.present, 1.0)
        self.means = posterior_means(state, self.half_life)

    @property
    def shortfalls(self) -> Floats:
        """How far each arm's rate is below its floor."""
        found: Floats = np.where(
            self.present > 0.0, np.maximum(self.arrays.floors - self.rates, 0.0), 0.0
        )
        return found

    @property
    def ahead(self) -> Floats:
        """How many plays each arm with a floor has had beyond what it was promised."""
        found: Floats = np.where(self.arrays.floors > 0.0, np.maximum(-self._owed, 0.0), 0.0)
        return found

    def standings(self, proof: Certificate | None) -> list[Standing]:
        """Return the standing of each arm: kept, behind, impossible, free or paused."""
        hopeless = set() if proof is None else set(proof.arms)
        numbers = self.problem.floors, self.arrays.paused, self.debts
        return [
            _standing(floor, paused, debt, arm in hopeless)
            for arm, floor, paused, debt in zip(
                self.problem.arms, *(column.tolist() for column in numbers), strict=True
            )
        ]

    def prices(self, *, compiled: bool) -> Floats:
        """Return the price of every floor, from estimates and measured awake rates."""
        memory = new(PricedMemory, self.debts.size)
        nothing = NoStatistics(), NoPromises()
        given = self.state, self.arrays, *nothing, self.half_life, memory
        maker(compiled)(refresh_prices)(*given)
        return memory.prices

    def certificate(self) -> Certificate | None:
        """Return proof that floors are infeasible under the measured awake rates; None if not.

        Awake rates are taken at the upper end of their interval. That an arm cannot be played more
        often than it is awake holds for any arms. The rest assumes that arms wake independently,
        so it must agree with how the debts grow.
        """
        lived = np.array([rounds_lived(n, self.half_life) for n in self.present.tolist()])
        if not lived.size or lived.min() < min(ENOUGH_ROUNDS, self.half_life):
            return None
        margin = ERRORS * np.sqrt(self.awake * (1.0 - self.awake) / lived + 1.0 / lived**2)
        most = np.minimum(self.awake + margin, 1.0)
        floors, arms = self.arrays.floors, self.problem.arms
        asleep = floors > most + NEGLIGIBLE
        everyone = floors > 0.0
        for those, possible in ((asleep, most[asleep].sum()), (everyone, float(self.plays))):
            if floors[those].sum() > possible + NEGLIGIBLE:
                names = tuple(np.array(arms, dtype=object)[those].tolist())
                return Certificate(names, float(floors[those].sum()), float(possible))
        members, (promised, possible) = worst_prefix(floors, most, self.plays)
        lacking = promised - possible
        behind = self.debts[members].sum() / lived.max()
        if lacking > NEGLIGIBLE and behind > lacking / 2.0:
            names = tuple(arms[index] for index in members.tolist())
            return Certificate(names, float(promised), float(possible))
        return None


def in_words(error: InfeasibleFloors) -> str:
    """Return a certificate from measured awake rates in words."""
    return f"By the awake rates measured: {error}"


def _standing(floor: float, paused: bool, debt: float, hopeless: bool) -> Standing:
    if paused:
        return "paused"
    if floor == 0.0:
        return "free"
    if hopeless:
        return "impossible"
    return "behind" if debt > BEHIND else "kept"
