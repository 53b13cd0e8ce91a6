"""BanditQ: guaranteed rewards by queues on top of an adversarial bandit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Random
from evenhand.core.jit import interpreted
from evenhand.core.promises import PromiseArrays
from evenhand.core.schema import Column, copied
from evenhand.core.state import DecisionView
from evenhand.policies._revenue import check_revenues, no_queue, queue_of, revenues_of
from evenhand.policies.families import WithSurplus
from evenhand.policies.policy import PolicySetup, Score
from evenhand.policies.probabilities import MANY_ARMS, best_of_numbers, draws, stepped_on
from evenhand.problem import Problem

NEWTON_STEPS = 100
CLOSE = 1e-10


class BanditQConstants(NamedTuple):
    """The row of each arm's promise, and V: 0 if it is to grow with the rounds."""

    row: Integers
    reward_weight: float


class BanditQMemory(NamedTuple):
    """What the bandit has learned.

    Attributes
    ----------
    gains
        The estimated surrogate rewards of each arm in all.
    seen, earned
        Feedbacks and rewards of each arm that are in the gains.
    chance, base
        With what chance each arm was played last, and what its share was before exploring.
    spread
        The sum that the learning rate is made of.
    """

    gains: Annotated[Floats, Column("arm")]
    seen: Annotated[Floats, Column("arm")]
    earned: Annotated[Floats, Column("arm")]
    chance: Annotated[Floats, Column("arm")]
    base: Annotated[Floats, Column("arm")]
    spread: Annotated[Floats, Column("one")]


def score(
    scores: Floats,
    view: DecisionView,
    constants: BanditQConstants,
    memory: BanditQMemory,
    rng: Random,
) -> None:
    """Score 1 if the arm is drawn from the bandit's distribution over the awake arms, else 0."""
    arms, rounds = view.problem.weights.size, view.state.rounds[0]
    if memory.spread[0] == 0.0:
        memory.spread[0] = 1.0
        for i in range(arms):
            memory.base[i] = memory.chance[i] = 1.0 / arms
    learn_gains(view, constants, memory)
    log_barrier(memory.base, memory.gains, arms / memory.spread[0])
    mixing = min(0.5, math.sqrt(arms / max(rounds, 1)))
    total = 0.0
    for j in range(view.awake.size):
        total += (1.0 - mixing) * memory.base[view.awake[j]] + mixing / arms
    start, before = rng.random(), 0.0
    for j in range(view.awake.size):
        i = view.awake[j]
        share = ((1.0 - mixing) * memory.base[i] + mixing / arms) / total
        memory.chance[i] = min(1.0, view.problem.plays * share)
        scores[j] = 1.0 if stepped_on(before, before + memory.chance[i], start) else 0.0
        before += memory.chance[i]


def learn_gains(view: DecisionView, constants: BanditQConstants, memory: BanditQMemory) -> None:
    """Take in the rewards since the last round: ``(Q_i + V) w_i X_i / chance_i``."""
    arms, target = view.problem.weights.size, np.zeros(view.problem.weights.size)
    trade = constants.reward_weight
    if trade == 0.0:
        trade = math.sqrt(view.state.rounds[0] + 1)
    for i in range(arms):
        if view.state.feedbacks[i] > memory.seen[i]:
            reward = view.problem.weights[i] * (view.state.reward_sums[i] - memory.earned[i])
            gain = reward * (queue_of(view, constants.row[i]) + trade) / memory.chance[i]
            memory.seen[i], memory.earned[i] = view.state.feedbacks[i], view.state.reward_sums[i]
            memory.gains[i] += gain
            if gain > 0.0:
                memory.spread[0] += gain_of(target, memory.base, i, gain, arms / memory.spread[0])


def gain_of(target: Floats, base: Floats, arm: int, gain: float, rate: float) -> float:
    """Return ``max_q gain (q_i - p_i) - D(q, p) / rate`` over the simplex, D of the log barrier."""
    pulls = np.zeros(base.size)
    for i in range(base.size):
        pulls[i] = -1.0 / base[i]
        target[i] = base[i]
    pulls[arm] += rate * gain
    log_barrier(target, pulls, 1.0)
    value = gain * (target[arm] - base[arm])
    for i in range(base.size):
        ratio = target[i] / base[i]
        value -= (ratio - 1.0 - math.log(ratio)) / rate
    return value if value > 0.0 else 0.0


def log_barrier(shares: Floats, gains: Floats, rate: float) -> None:
    """Write the maximiser of ``sum ln x_i + rate gains . x`` over the simplex, by Newton's method.

    >>> shares = np.empty(2)
    >>> log_barrier(shares, np.array([1.0, 1.0]), 0.5)
    >>> shares
    array([0.5, 0.5])
    """
    most = gains[0]
    for i in range(gains.size):
        most = max(most, gains[i])
    level = 1.0
    for _ in range(NEWTON_STEPS):
        total, slope = 0.0, 0.0
        for i in range(gains.size):
            share = 1.0 / (level + rate * (most - gains[i]))
            total += share
            slope += share * share
        if abs(total - 1.0) < CLOSE:
            break
        level += (total - 1.0) / slope
    for i in range(gains.size):
        shares[i] = 1.0 / (level + rate * (most - gains[i]))


SCORE_WITHOUT_PROMISES: Score = interpreted(
    score, learn_gains=interpreted(learn_gains, queue_of=no_queue)
)


@dataclass(frozen=True, kw_only=True)
class BanditQ(WithSurplus):
    r"""An adversarial bandit on rewards that count more while they are owed (BanditQ).

    .. math:: r'_i(t) = (Q_i(t) + V) \, w_i X_i(t), \quad
        Q_i \leftarrow \max(Q_i + \lambda_i - w_i X_i d_i, 0), \quad V = \sqrt T

    with the revenue lambda_i that the arm is promised, ``at_least`` of reward, and d_i = 1 if it is
    played. The bandit follows the regularised leader with a log barrier and explores with chance
    :math:`\min(1/2, \sqrt{N / t})`. Without a horizon V grows as the root of the rounds. Published
    for one play and arms that never sleep: with m plays the draw is systematic, and the shares are
    those of the awake arms. Floors are not looked at.

    >>> BanditQ().label()
    'banditq'

    Parameters
    ----------
    surplus
        0, as published; see :class:`WithSurplus`.

    References
    ----------
    Sinha: BanditQ: Fair Bandits with Guaranteed Rewards, UAI 2024, arXiv 2304.05219.
    """

    name = "banditq"
    keeps = "nothing"
    no_belief = "it learns no means"
    memory = BanditQMemory
    score = staticmethod(score)
    surplus: float = 0.0

    def scoring_with(self, *, promised: bool) -> Score:
        return score if promised else SCORE_WITHOUT_PROMISES

    def check_keeps(self, problem: Problem) -> None:
        check_revenues(self.name, problem)

    def probabilities(self, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
        if view.awake.size > MANY_ARMS:
            return None
        used = copied(memory)
        promised = isinstance(view.promises, PromiseArrays)
        drawing = np.zeros(view.awake.size), view, constants, used, np.random.default_rng(0)
        self.scoring_with(promised=promised)(*drawing)
        found = np.zeros(view.awake.size)
        for chance, drawn in draws(used.chance[view.awake]):
            found += chance * best_of_numbers(drawn.astype(np.float64), view.problem.plays)
        return found

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        horizon = setup.horizon
        return BanditQConstants(
            revenues_of(setup.problem)[1], 0.0 if horizon is None else math.sqrt(horizon)
        )
