"""Plays reserved by chance, round by round, before anything is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Random
from evenhand.core.state import DecisionView, awake_rates
from evenhand.policies.families import WithSamples
from evenhand.policies.policy import NoMemory, PolicySetup
from evenhand.policies.probabilities import best_of_draws, stepped_on


class StrictRateConstants(NamedTuple):
    """A score above all others, and the half-life of what is learned."""

    above: float
    half_life: float


def score(
    scores: Floats,
    view: DecisionView,
    constants: StrictRateConstants,
    memory: NoMemory,
    rng: Random,
) -> None:
    """Score ``w_i theta_i``, above all else if a play is reserved for the arm."""
    rates = awake_rates(view.state, view.problem, constants.half_life)
    start, before = rng.random(), 0.0
    for j in range(view.awake.size):
        i = view.awake[j]
        scores[j] = view.problem.weights[i] * view.samples[j]
        after = before + reserved(view.problem.floors[i], rates[i])
        if stepped_on(before, after, start):
            scores[j] += constants.above
        before = after


def reserved(floor: float, rate: float) -> float:
    """Return the chance that a play is reserved for an arm when it is awake.

    >>> reserved(0.2, 0.8), reserved(0.5, 0.4), reserved(0.0, 0.0)
    (0.25, 1.0, 0.0)
    """
    if floor <= 0.0:
        return 0.0
    return 1.0 if floor >= rate else floor / rate


@dataclass(frozen=True, kw_only=True)
class StrictRate(WithSamples):
    r"""Reserves plays by drawing from the floors first; Thompson sampling has the rest.

    .. math:: P(\text{a play is reserved for } i \mid i \text{ awake})
        = \min\left(1, \frac{k_i}{\hat p_i}\right)

    with the measured awake rate p_i, so that k_i of all rounds are reserved for it. The draw is
    systematic: one random number a round, each arm exactly its chance. If more plays are reserved
    than there are, Thompson sampling chooses among them.

    >>> StrictRate().label()
    'strict-rate'

    Parameters
    ----------
    belief, width, ridge, rewards, half_life, exploration
        See :class:`WithBelief`, :class:`WithSamples` and :class:`Policy`.

    References
    ----------
    Claure, Chen, Modi, Jung, Nikolaidis: Multi-Armed Bandits with Fairness Constraints for
    Distributing Resources to Human Teammates, HRI 2020: a minimum rate for every arm, kept by
    chance in each round as in their stochastic form; the division by the awake rate is this
    project's, for arms that sleep.
    """

    name = "strict-rate"
    randomness = "both"
    score = staticmethod(score)

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        above = self.above_all(setup.problem)
        return StrictRateConstants(above, self.half_life)

    def probabilities(self, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
        rates = awake_rates(view.state, view.problem, self.half_life)[view.awake]
        pairs = zip(view.problem.floors[view.awake], rates, strict=True)
        inclusion = np.array([reserved(floor, rate) for floor, rate in pairs])
        here = np.ones(view.awake.size, dtype=np.bool_)
        weights = view.problem.weights[view.awake]
        return best_of_draws(inclusion, here, weights, self.distributions(view), view.problem.plays)
