"""How a bandit fares: every arm's share, debt, estimate and price, and what to worry about."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenhand._base.arrays import Floats
from evenhand._base.extras import load
from evenhand.agent._reasons import TAIL
from evenhand.agent._roster import rounds_present
from evenhand.errors import Certificate, InfeasibleFloors
from evenhand.optimum._feasibility import headroom, worst_prefix
from evenhand.policies._forgetting import rounds_lived
from evenhand.policies._priced import PricedMemory, refresh_prices
from evenhand.policies._state import (
    State,
    awake_rates,
    cumulative_debts,
    faded,
    posterior,
    posterior_means,
)
from evenhand.service._bodies import ArmState, BanditState, CertificateShown, Warned
from evenhand.service._edition import Edition, serving_policy
from evenhand.service._reading import Found

ENOUGH_ROUNDS = 100
ERRORS = 3.0
NEGLIGIBLE = 1e-9


class Measured:
    """The numbers of a bandit, worked out once."""

    def __init__(self, edition: Edition, state: State) -> None:
        self.state, self.terms, self.problem = state, edition.roster.terms, edition.roster.problem
        self.half_life = serving_policy(edition.policy).memory_half_life
        self.rounds = int(state.rounds[0])
        self.plays = min(self.problem.plays, len(self.problem.arms))
        self.debts = cumulative_debts(state, self.terms)
        self.awake = awake_rates(state, self.terms, self.half_life)
        self.present = rounds_present(edition.roster, self.rounds)
        self.rates: Floats = state.played / np.maximum(self.present, 1.0)
        self.means = posterior_means(state, self.half_life)

    @property
    def shortfalls(self) -> Floats:
        """How far each arm's rate is below its floor."""
        found: Floats = np.where(
            self.present > 0.0, np.maximum(self.terms.floors - self.rates, 0.0), 0.0
        )
        return found

    def prices(self) -> Floats:
        """Return the price of every floor, on estimates and measured awake rates."""
        memory = PricedMemory(np.zeros(self.debts.size), np.zeros(1, dtype=np.int64))
        refresh_prices(self.state, self.terms, self.half_life, memory)
        return memory.prices

    def certificate(self) -> Certificate | None:
        """Return proof that floors cannot be kept under the awake rates that were measured.

        Rates count as what they may be at most. Of arms that cannot have more plays than rounds
        awake nothing more is asked. What else the optimum rules out assumes that arms wake
        independently, and is believed only if their debts grow as it says.
        """
        lived = np.array([rounds_lived(n, self.half_life) for n in self.present.tolist()])
        if not lived.size or lived.min() < min(ENOUGH_ROUNDS, self.half_life):
            return None
        margin = ERRORS * np.sqrt(self.awake * (1.0 - self.awake) / lived + 1.0 / lived**2)
        most = np.minimum(self.awake + margin, 1.0)
        floors, arms = self.terms.floors, self.problem.arms
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
            names = tuple(arms[place] for place in members.tolist())
            return Certificate(names, float(promised), float(possible))
        return None


def state_of(name: str, found: Found) -> BanditState:
    """Return how a bandit fares."""
    edition, state = found.edition, found.counters.state
    measured = Measured(edition, state)
    everyone = np.arange(len(measured.problem.arms))
    alphas, betas = posterior(state, everyone, measured.half_life)
    quantile = load("scipy.special").betaincinv
    columns: list[Any] = [
        state.played,
        measured.rates,
        measured.problem.floors,
        measured.problem.weights,
        measured.debts,
        measured.shortfalls,
        measured.means,
        quantile(alphas, betas, TAIL),
        quantile(alphas, betas, 1.0 - TAIL),
        measured.prices(),
        measured.awake,
        state.feedbacks * faded(state, measured.half_life),
        found.counters.pending,
        measured.terms.paused,
    ]
    arms = list(map(ArmState, measured.problem.arms, *(column.tolist() for column in columns)))
    room = float(headroom(measured.terms.floors, measured.awake, measured.plays))
    return BanditState(
        name,
        measured.rounds,
        measured.problem.plays,
        serving_policy(edition.policy).label(),
        arms,
        room if math.isfinite(room) else None,
        warnings(measured, found),
    )


def warnings(measured: Measured, found: Found) -> list[Warned]:
    """Return what somebody should look at."""
    warned = []
    if (proof := measured.certificate()) is not None:
        sentence = str(InfeasibleFloors(proof, 0.0))
        shown = CertificateShown(list(proof.arms), proof.promised, proof.possible)
        warned.append(
            Warned("floors-infeasible", f"By the awake rates measured: {sentence}", shown)
        )
    played, pending = int(measured.state.played.sum()), int(found.counters.pending.sum())
    if found.edition.feedback.timeout_seconds is None and pending > max(played // 2, ENOUGH_ROUNDS):
        words = f"{pending} of {played} plays still await feedback, and no timeout is set."
        warned.append(Warned("feedback-missing", words))
    return warned


def gauges(found: Found) -> tuple[float, float, int]:
    """Return the largest debt and shortfall of a bandit, and how many plays await feedback."""
    measured = Measured(found.edition, found.counters.state)
    return (
        float(measured.debts.max()),
        float(measured.shortfalls.max()),
        int(found.counters.pending.sum()),
    )
