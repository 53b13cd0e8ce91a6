"""The state of a bandit: every arm's rate, debt, estimate and price."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.extras import load
from evenhand.core.state import faded, posterior
from evenhand.errors import Certificate
from evenhand.learner.reasons import TAIL
from evenhand.optimum.feasibility import headroom
from evenhand.service.engine.config_version import ConfigVersion, serving_policy
from evenhand.service.views.lookup import StoredBandit
from evenhand.service.views.measures import BanditMeasures
from evenhand.service.views.overview import warnings_of
from evenhand.service.views.schemas import ArmState, BanditState


def state_now(
    name: str, bandit: StoredBandit, solves: Callable[[ConfigVersion], bool]
) -> BanditState:
    """Return the present state of a bandit; ``solves`` says whether its prices are compiled."""
    return state_of(name, bandit, time.time(), solves(bandit.config))


def state_of(name: str, bandit: StoredBandit, now: float, compiled: bool = False) -> BanditState:
    """Return the state of a bandit; compiled or not, the bits are the same."""
    config, totals = bandit.config, bandit.counters.totals
    measures = BanditMeasures(config, bandit.counters.state)
    proof = measures.certificate()
    room = float(headroom(measures.arrays.floors, measures.awake, measures.plays))
    return BanditState(
        name,
        now,
        measures.rounds,
        totals.latest.item(),
        totals.told.item(),
        totals.expired.item(),
        totals.reward.item(),
        measures.problem.plays,
        serving_policy(config.policy).label(),
        _arms(measures, bandit, proof, measures.prices(compiled=compiled)),
        room if math.isfinite(room) else None,
        warnings_of(measures, bandit, proof),
    )


def _arms(
    measures: BanditMeasures, bandit: StoredBandit, proof: Certificate | None, prices: Floats
) -> list[ArmState]:
    """Return the states of all arms."""
    state = measures.state
    everyone = np.arange(len(measures.problem.arms))
    alphas, betas = posterior(state, everyone, measures.half_life)
    quantile = load("scipy.special").betaincinv
    columns: list[Any] = [
        state.played,
        measures.rates,
        measures.problem.floors,
        measures.problem.weights,
        measures.debts,
        measures.ahead,
        measures.shortfalls,
        measures.means,
        quantile(alphas, betas, TAIL),
        quantile(alphas, betas, 1.0 - TAIL),
        prices,
        measures.awake,
        state.feedbacks * faded(state, measures.half_life),
        bandit.counters.totals.pending,
        measures.arrays.paused,
    ]
    numbers = (column.tolist() for column in columns)
    return list(map(ArmState, measures.problem.arms, *numbers, measures.standings(proof)))
