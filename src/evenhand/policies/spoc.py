"""Guaranteed revenue by estimates of how many plays earn it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats, Random
from evenhand.core.checks import check_choice
from evenhand.core.state import DecisionView
from evenhand.policies._revenue import check_revenues, revenues_of
from evenhand.policies.policy import NoMemory, Policy, PolicySetup
from evenhand.policies.probabilities import MANY_ARMS, best_of_numbers, draws, stepped_on
from evenhand.problem import Problem

Estimate: TypeAlias = Literal["pessimistic", "greedy", "optimistic"]
ESTIMATES = ("pessimistic", "greedy", "optimistic")
HALVINGS = 24
SMALLEST_MEAN = 1e-9


class SpocConstants(NamedTuple):
    """The reward that each arm is promised a round, and by which estimate plays are reserved."""

    revenues: Floats
    estimate: int
    above: float


def score(
    scores: Floats, view: DecisionView, constants: SpocConstants, memory: NoMemory, rng: Random
) -> None:
    """Score ``w_i KL-UCB_i``, above all else if a play is drawn for the arm's revenue."""
    shares = np.zeros(view.awake.size)
    radius = 2.0 * math.log(max(view.state.rounds[0], 1))
    write_shares(shares, view, constants, radius)
    write_bounds(scores, view, constants, radius)
    start, before = rng.random(), 0.0
    for j in range(view.awake.size):
        if stepped_on(before, before + shares[j], start):
            scores[j] += constants.above
        before += shares[j]


def write_bounds(
    scores: Floats, view: DecisionView, constants: SpocConstants, radius: float
) -> None:
    """Write ``w_i KL-UCB_i`` of every awake arm; more than all else before its first reward."""
    for j in range(view.awake.size):
        i = view.awake[j]
        count = view.state.feedbacks[i]
        scores[j] = 3.0 * constants.above
        if count > 0.0:
            mean = view.state.reward_sums[i] / count
            scores[j] = view.problem.weights[i] * kl_bound(mean, radius / count, upper=True)


def write_shares(
    shares: Floats, view: DecisionView, constants: SpocConstants, radius: float
) -> None:
    """Write the chance with which a play is reserved for each awake arm: ``lambda_i / mean_i``.

    Where pessimistic or greedy chances exceed the plays, optimistic ones are used if these fit;
    otherwise the former are scaled down.
    """
    total, hopeful = 0.0, 0.0
    for j in range(view.awake.size):
        shares[j] = share_of(view, constants, view.awake[j], radius, constants.estimate)
        total += shares[j]
        hopeful += share_of(view, constants, view.awake[j], radius, 2)
    plays = float(view.problem.plays)
    if total <= plays:
        return
    for j in range(view.awake.size):
        if hopeful < plays:
            shares[j] = share_of(view, constants, view.awake[j], radius, 2)
        else:
            shares[j] *= plays / total


def share_of(
    view: DecisionView, constants: SpocConstants, arm: int, radius: float, estimate: int
) -> float:
    """Return the share of rounds that earns an arm's revenue, by one of three estimates."""
    least, count = constants.revenues[arm], view.state.feedbacks[arm]
    if least <= 0.0:
        return 0.0
    if count <= 0.0:
        return 1.0
    weight, mean = view.problem.weights[arm], view.state.reward_sums[arm] / count
    if estimate == 0:
        mean = kl_bound(mean, radius / count, upper=False)
    elif estimate == 2:
        mean = kl_bound(mean, radius / count, upper=True)
    share: float = least / max(weight * mean, least, SMALLEST_MEAN)
    return min(1.0, share)


def kl_bound(mean: float, radius: float, upper: bool) -> float:
    """Return the mean on one side at which the divergence from the measured one is the radius.

    >>> round(kl_bound(0.5, 0.02, upper=True), 3), round(kl_bound(0.5, 0.02, upper=False), 3)
    (0.599, 0.401)
    """
    near, far = mean, 1.0 if upper else 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (near + far)
        if divergence(mean, middle) <= radius:
            near = middle
        else:
            far = middle
    return near


def divergence(p: float, q: float) -> float:
    """Return the Kullback-Leibler divergence of two coins."""
    total = 0.0
    if p > 0.0:
        total += p * math.log(p / max(q, 1e-300))
    if p < 1.0:
        total += (1.0 - p) * math.log((1.0 - p) / max(1.0 - q, 1e-300))
    return total


@dataclass(frozen=True, kw_only=True)
class Spoc(Policy):
    r"""Reserves each arm the plays that earn its revenue, the rest by KL-UCB (SPOC).

    .. math:: P(\text{a play is reserved for } i) = \frac{\lambda_i}{w_i \tilde u_i}, \qquad
        \mathrm{kl}(\hat u_i, \tilde u_i) = \frac{2 \ln t}{h_i}

    with the revenue lambda_i that the arm is promised, ``at_least`` of reward, and a lower
    confidence bound of its mean; an upper one where the lower ones reserve more plays than there
    are. Published for one play and arms that never sleep: with m plays the draw is systematic, and
    the shares are those of the awake arms. Floors are not looked at.

    >>> Spoc(estimate="greedy").label()
    'spoc estimate=greedy'

    Parameters
    ----------
    estimate
        ``"pessimistic"`` (SPOC), ``"greedy"`` for the measured mean (SGOC), or ``"optimistic"`` for
        the upper bound alone (DOC).

    References
    ----------
    Baudry, Merlis, Molina, Richard, Perchet: Multi-armed bandits with guaranteed revenue per arm,
    AISTATS 2024.
    """

    name = "spoc"
    keeps = "nothing"
    no_belief = "its bounds have one mean for each arm"
    score = staticmethod(score)
    estimate: Estimate = "pessimistic"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"estimate of policy {self.name!r}", self.estimate, ESTIMATES)

    def check_keeps(self, problem: Problem) -> None:
        check_revenues(self.name, problem)

    def probabilities(self, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
        if view.awake.size > MANY_ARMS:
            return None
        bounds, shares, found = np.zeros((3, view.awake.size))
        radius = 2.0 * math.log(max(int(view.state.rounds[0]), 1))
        write_shares(shares, view, constants, radius)
        write_bounds(bounds, view, constants, radius)
        for chance, drawn in draws(shares):
            scores = bounds + constants.above * drawn
            found += chance * best_of_numbers(scores, view.problem.plays)
        return found

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        above = 1.0 + float(setup.problem.weights.max())
        revenues, _ = revenues_of(setup.problem)
        return SpocConstants(revenues, ESTIMATES.index(self.estimate), above)
