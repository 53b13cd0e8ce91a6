"""What A/B products ship: a share of the traffic by the floors, the rest by Thompson sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Random
from evenhand.core.state import DecisionView
from evenhand.policies.families import WithSamples
from evenhand.policies.policy import NoMemory, PolicySetup
from evenhand.policies.probabilities import Lines, best_of_draws, best_of_lines, stepped_on


class SimplexConstants(NamedTuple):
    """The share of rounds that go by the floors, each arm's chance in them, a score above all."""

    share: float
    inclusion: Floats
    above: float


def score(
    scores: Floats, view: DecisionView, constants: SimplexConstants, memory: NoMemory, rng: Random
) -> None:
    """Score ``w_i theta_i``, and in a round that goes by the floors above all else if drawn.

    Drawn at equal distances from a random start (systematic sampling), which gives each arm
    exactly its chance.
    """
    by_floors = rng.random() < constants.share
    start = rng.random() if by_floors else 0.0
    before, i = 0.0, 0
    for j in range(view.awake.size):
        scores[j] = view.problem.weights[view.awake[j]] * view.samples[j]
        while by_floors and i <= view.awake[j]:
            after = before + constants.inclusion[i]
            if i == view.awake[j] and stepped_on(before, after, start):
                scores[j] += constants.above
            before, i = after, i + 1


@dataclass(frozen=True, kw_only=True)
class SimplexMixture(WithSamples):
    r"""Gives each arm its floor by chance, and the rest by Thompson sampling.

    .. math:: P(\text{arm } i \text{ is played}) = k_i + \left(1 - \frac{1}{m} \sum_j k_j\right)
        P(\text{Thompson sampling plays } i)

    while all are awake: with one play, floor plus what the floors leave times Thompson's. It knows
    nothing of debts: an arm that sleeps when it is drawn loses that play to the best of the others,
    and its rate wanders about its mean like any random one. An arm with a floor above the mean one
    (the sum over m) is drawn in every round that goes by the floors, and has no more than those.

    >>> SimplexMixture().label()
    'simplex-mixture'

    Parameters
    ----------
    belief, width, ridge, rewards, half_life, exploration
        See :class:`WithBelief`, :class:`WithSamples` and :class:`Policy`.

    References
    ----------
    Minimum traffic shares beside a bandit, as A/B testing products offer them; for m plays, this
    project's reading.
    """

    name = "simplex-mixture"
    randomness = "both"
    score = staticmethod(score)

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        problem = setup.problem
        total, above = float(problem.floors.sum()), self.above_all(problem)
        plays = min(problem.plays, len(problem.arms))
        inclusion = np.minimum(problem.floors * (plays / total if total > 0.0 else 0.0), 1.0)
        return SimplexConstants(min(total / plays, 1.0), inclusion, above)

    def probabilities(self, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
        plays, awake = view.problem.plays, view.awake
        samples = self.distributions(view)
        weights = view.problem.weights[awake]
        here = np.isin(np.arange(view.problem.floors.size), awake)
        drawn = best_of_draws(constants.inclusion, here, weights, samples, plays)
        if drawn is None:
            return None
        free = Lines(np.zeros(awake.size), np.zeros(awake.size), weights)
        learned = best_of_lines(free, samples, plays)
        share: float = constants.share
        return share * drawn + (1.0 - share) * learned
