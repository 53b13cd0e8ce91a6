"""Thompson sampling with prices: floors kept on time, no eta to tune."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand.arrays import Floats, Integers
from evenhand.checks import fail, real
from evenhand.optimum.feasibility import attainable
from evenhand.optimum.independent import solve_independent
from evenhand.policies.base import Policy, RewardForm, Situation, binarises
from evenhand.policies.state import JOINED, PRICE, PROMISED, SINCE, TARGET, State
from evenhand.problem import Terms

AnytimeEta: TypeAlias = float | Literal["anytime"]
GROWTH = 1.1


class PricedConstants(NamedTuple):
    """Eta (0 for the anytime schedule), and the largest weight times the typical floor."""

    eta: float
    unit: float


def score(
    scores: Floats,
    awake: Integers,
    state: State,
    terms: Terms,
    constants: PricedConstants,
    rng: np.random.Generator,
) -> None:
    """Score ``w_i theta_i + max(price_i + unit (t k_i - played_i) / (eta k_i), 0)``."""
    rounds = state.rounds[0]
    eta = constants.eta if constants.eta > 0.0 else 1.0 + math.sqrt(rounds) / 10.0
    if rounds >= state.rounds[1]:
        refresh_prices(state, terms)
    for j in range(awake.size):
        i = awake[j]
        alpha = 1.0 + state.reward_sums[i]
        beta = 1.0 + state.feedbacks[i] - state.reward_sums[i]
        scores[j] = terms.weights[i] * rng.beta(alpha, beta)
        target = state.plan[TARGET, i]
        if target > 0.0:
            due = (rounds - state.plan[SINCE, i]) * target + state.plan[PROMISED, i]
            owed = due - state.played[i]
            bonus = state.plan[PRICE, i] + constants.unit * owed / (eta * target)
            scores[j] += bonus if bonus > 0.0 else 0.0


def refresh_prices(state: State, terms: Terms) -> None:
    """Compute the prices of the floors on posterior means and measured awake rates.

    Due again when the rounds have grown by a tenth. Floors that do not fit the measured rates are
    aimed at as far as they do, shared fairly.
    """
    arms, rounds = terms.floors.size, state.rounds[0]
    values, probabilities = np.empty(arms), np.empty(arms)
    for i in range(arms):
        mean = (1.0 + state.reward_sums[i]) / (2.0 + state.feedbacks[i])
        values[i] = terms.weights[i] * mean
        present = rounds - state.plan[JOINED, i]
        probabilities[i] = state.awake_counts[i] / present if present > 0 else 1.0
    plays = min(terms.plays, arms)
    kept = attainable(terms.floors, probabilities, plays)
    prices = solve_independent(values, kept, probabilities, plays)[1]
    for i in range(arms):
        state.plan[PRICE, i] = prices[i]
        state.plan[TARGET, i] = kept[i]
    state.rounds[1] = max(rounds + 1, int(rounds * GROWTH))


@dataclass(frozen=True, kw_only=True)
class Priced(Policy):
    r"""Thompson sampling whose debts start at their destination, the prices of the floors.

    .. math::
        \text{score}_i = w_i \theta_i(t)
        + \max\left( \lambda_i + w_{\max} \bar k \, \frac{t k_i - h_i(t)}{\eta k_i}, 0 \right),
        \qquad \theta_i(t) \sim \mathrm{Beta}(\alpha_i, \beta_i)

    with h_i the arm's plays, and the price lambda_i from the exact optimum on posterior means and
    measured awake rates, computed anew whenever t has grown by a tenth. The debt is counted in
    parts of the floor (times the mean floor), and may be negative against the price. Floors that
    cannot all be kept are missed by the same fraction. ``docs/beyond-the-paper.md`` explains it.

    Parameters
    ----------
    eta
        How much reward outweighs debt, a number above 0; ``"anytime"`` is 1 + sqrt(t) / 10.
    rewards
        Real rewards are learned as they are (``"fractional"``) or as coin flips
        (``"binarised"``).

    Examples
    --------
    >>> Priced().label()
    'priced'
    """

    name = "priced"
    score = staticmethod(score)
    looks_ahead = True
    eta: AnytimeEta = "anytime"
    rewards: RewardForm = "fractional"

    def __post_init__(self) -> None:
        binarises(self.name, self.rewards)
        if isinstance(self.eta, str) and self.eta == "anytime":
            return
        found = real(self.eta)
        if found is None or not 0.0 < found < math.inf:
            fail(f"eta of policy {self.name!r}", "a number above 0, or 'anytime'", self.eta)
        object.__setattr__(self, "eta", found)

    @property
    def binarised(self) -> bool:
        """Whether a real reward is learned as a coin flip."""
        return binarises(self.name, self.rewards)

    def constants(self, situation: Situation) -> tuple[Any, ...]:
        """Return eta as a number and the unit of reward."""
        eta = 0.0 if self.eta == "anytime" else float(self.eta)
        problem = situation.problem
        promised = problem.floors[problem.floors > 0.0]
        typical = float(promised.mean()) if promised.size else 1.0
        return PricedConstants(eta, float(problem.weights.max()) * typical)
