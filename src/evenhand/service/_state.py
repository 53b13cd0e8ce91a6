"""How a bandit fares: every arm's share, debt, estimate and price, and what to worry about."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.extras import load
from evenhand.core.state import faded, posterior
from evenhand.errors import Certificate, InfeasibleFloors
from evenhand.learner.reasons import TAIL
from evenhand.optimum.feasibility import headroom
from evenhand.service._bodies import (
    ArmState,
    BanditGlance,
    BanditState,
    CertificateShown,
    Glances,
    Warned,
)
from evenhand.service._edition import serving_policy
from evenhand.service._machine import Machine
from evenhand.service._measured import ENOUGH_ROUNDS, Measured, in_words
from evenhand.service._reading import Found, find_bandit
from evenhand.service.stores.protocol import View


def state_now(view: View, name: str, machine: Machine) -> BanditState:
    """Return how a bandit fares now."""
    found = find_bandit(view, name)
    return state_of(name, found, time.time(), machine.ready_to_solve(found.edition))


def state_of(name: str, found: Found, now: float, compiled: bool = False) -> BanditState:
    """Return how a bandit fares; prices by machine code or not, the bits are the same."""
    edition, totals = found.edition, found.counters.totals
    measured = Measured(edition, found.counters.state)
    proof = measured.certificate()
    room = float(headroom(measured.arrays.floors, measured.awake, measured.plays))
    return BanditState(
        name,
        now,
        measured.rounds,
        totals.latest.item(),
        totals.told.item(),
        totals.expired.item(),
        totals.reward.item(),
        measured.problem.plays,
        serving_policy(edition.policy).label(),
        _arms(measured, found, proof, measured.prices(compiled=compiled)),
        room if math.isfinite(room) else None,
        _warnings(measured, found, proof),
    )


def _arms(
    measured: Measured, found: Found, proof: Certificate | None, prices: Floats
) -> list[ArmState]:
    """Return how every arm fares."""
    state = measured.state
    everyone = np.arange(len(measured.problem.arms))
    alphas, betas = posterior(state, everyone, measured.half_life)
    quantile = load("scipy.special").betaincinv
    columns: list[Any] = [
        state.played,
        measured.rates,
        measured.problem.floors,
        measured.problem.weights,
        measured.debts,
        measured.ahead,
        measured.shortfalls,
        measured.means,
        quantile(alphas, betas, TAIL),
        quantile(alphas, betas, 1.0 - TAIL),
        prices,
        measured.awake,
        state.feedbacks * faded(state, measured.half_life),
        found.counters.totals.pending,
        measured.arrays.paused,
    ]
    numbers = (column.tolist() for column in columns)
    return list(map(ArmState, measured.problem.arms, *numbers, measured.standings(proof)))


def glance_of(name: str, found: Found) -> BanditGlance:
    """Return a bandit at a glance."""
    measured = Measured(found.edition, found.counters.state)
    proof = measured.certificate()
    standings = measured.standings(proof)
    kept, behind, impossible = (
        sum(1 for one in standings if one == word) for word in ("kept", "behind", "impossible")
    )
    return BanditGlance(
        name,
        measured.rounds,
        len(standings),
        kept + behind + impossible,
        kept,
        behind,
        impossible,
        float(measured.debts.max()),
        int(found.counters.totals.pending.sum()),
        _warnings(measured, found, proof),
    )


def _warnings(measured: Measured, found: Found, proof: Certificate | None) -> list[Warned]:
    """Return what somebody should look at."""
    warned = []
    if proof is not None:
        detail = in_words(InfeasibleFloors(proof, 0.0))
        warned.append(Warned("floors-infeasible", detail, CertificateShown.of(proof)))
    played, pending = int(measured.state.played.sum()), int(found.counters.totals.pending.sum())
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
        int(found.counters.totals.pending.sum()),
    )


class Overview:
    """Remembers the glances at bandits, with the versions that they were taken of."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[tuple[int, int], BanditGlance]] = {}

    def look(self, view: View) -> Glances:
        """Return all bandits at a glance, by name."""
        heads = view.heads()
        with self._lock:
            known = {name: self._known[name] for name in heads if name in self._known}
            for name, head in heads.items():
                if name not in known or known[name][0] != head[:2]:
                    known[name] = head[:2], glance_of(name, find_bandit(view, name))
            self._known = known
            return Glances([known[name][1] for name in sorted(known)])
