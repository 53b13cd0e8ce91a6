"""Thompson sampling with prices: floors kept on time, no eta to tune."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats, Integers, frozen
from evenhand.core.checks import fail, real
from evenhand.core.state import State, awake_rates, faded, is_due, posterior_mean
from evenhand.core.terms import Terms, plays_due
from evenhand.optimum.feasibility import attainable
from evenhand.optimum.independent import solve_independent
from evenhand.policies.families import WithSamples
from evenhand.policies.policy import Situation

AnytimeEta: TypeAlias = float | Literal["anytime"]
GROWTH = 1.1
KNOWN_PLAYS = 100.0
SMALLEST_PART = 0.01
MANY_ARMS = 400
FORGOTTEN = 10.0


class PricedConstants(NamedTuple):
    """What is known before the first round.

    Eta (0 for the anytime schedule), the half-life of what is learned, the plays that an arm has a
    round on average, and what a play owed is worth for each arm: ``w_max k_mean / k_i``.
    """

    eta: float
    half_life: float
    plays_each: float
    worth: Floats


class PricedMemory(NamedTuple):
    """The prices of the floors, and from which round on they are to be computed anew."""

    prices: Floats
    refresh: Integers


def score(
    scores: Floats,
    awake: Integers,
    samples: Floats,
    state: State,
    terms: Terms,
    constants: PricedConstants,
    memory: PricedMemory,
    rng: np.random.Generator,
) -> None:
    """Score ``w_i theta_i + max(price_i + worth_i (due_i - played_i) / eta, 0)``."""
    rounds = state.rounds[0]
    eta = constants.eta if constants.eta > 0.0 else anytime_eta(rounds, constants.plays_each)
    share = 1.0 / eta
    if is_due(rounds, memory.refresh[0], next_refresh(rounds, terms, constants.half_life)):
        refresh_prices(state, terms, constants.half_life, memory)
    for j in range(awake.size):
        i = awake[j]
        scores[j] = terms.weights[i] * samples[j]
        owed = plays_due(terms, i, rounds) - state.played[i]
        bonus = memory.prices[i] + constants.worth[i] * owed * share
        scores[j] += bonus if bonus > 0.0 else 0.0


def anytime_eta(rounds: int, plays_each: float) -> float:
    r"""Return an eta that grows with the rounds, so that none has to be chosen.

    .. math:: 1 + \frac{\sqrt t}{10} \min\left(1, \frac{t m}{100 N}\right)^2

    While arms have been played less than about a hundred times, their prices are guesses, and the
    debts count for more.

    >>> anytime_eta(10_000, 0.2), anytime_eta(100, 0.2)
    (11.0, 1.04)
    """
    known = min(1.0, rounds * plays_each / KNOWN_PLAYS)
    return 1.0 + math.sqrt(rounds) / 10.0 * known * known


def refresh_prices(state: State, terms: Terms, half_life: float, memory: PricedMemory) -> None:
    """Compute the prices of the floors on posterior means and measured awake rates.

    Due again when the rounds have grown by a tenth, or a tenth of the half-life has passed; of many
    arms, not before every arm could have
    been played once more. Floors that do not fit the measured rates are
    priced as far as they do, shared fairly.
    """
    arms, rounds = terms.floors.size, state.rounds[0]
    values, now = np.empty(arms), faded(state, half_life)
    for i in range(arms):
        mean = posterior_mean(now * state.reward_sums[i], now * state.feedbacks[i])
        values[i] = terms.weights[i] * mean
    probabilities, plays = awake_rates(state, terms, half_life), min(terms.plays, arms)
    kept = attainable(terms.floors, probabilities, plays)
    prices = solve_independent(values, kept, probabilities, plays)[1]
    for i in range(arms):
        memory.prices[i] = prices[i]
    memory.refresh[0] = next_refresh(rounds, terms, half_life)


def next_refresh(rounds: int, terms: Terms, half_life: float) -> int:
    """Return the round in which prices that are worked out now are old.

    Of hundreds of arms little is known before each could have been played once more, and working
    out their prices takes longer than a decision.
    """
    arms = terms.floors.size
    wait = arms // min(terms.plays, arms) if arms > MANY_ARMS else 1
    grown = min(rounds * GROWTH, rounds + half_life / FORGOTTEN)
    return max(rounds + wait, int(grown))


@dataclass(frozen=True, kw_only=True)
class Priced(WithSamples):
    r"""Thompson sampling whose debts start at their destination, the prices of the floors.

    .. math::
        \text{score}_i = w_i \theta_i(t)
        + \max\left( \lambda_i + w_{\max} \bar k \, \frac{t k_i - h_i(t)}{\eta k_i}, 0 \right),
        \qquad \theta_i(t) \sim \mathrm{Beta}(\alpha_i, \beta_i)

    with h_i the arm's plays, and the price lambda_i from the exact optimum on posterior means and
    measured awake rates, computed anew whenever t has grown by a tenth. The prices assume that arms
    wake independently; the debt does not, and corrects them. It is counted in parts of the floor
    (times the mean floor), and may be negative against the price. Floors that cannot all be kept
    are missed by the same fraction. ``docs/beyond-the-paper.md`` explains it.

    Parameters
    ----------
    eta
        How much reward outweighs debt, a number above 0; ``"anytime"`` grows with the
        rounds, see :func:`anytime_eta`.
    rewards, half_life, exploration
        See :class:`WithSamples` and :class:`Policy`.

    Examples
    --------
    >>> Priced().label()
    'priced'
    """

    name = "priced"
    score = staticmethod(score)
    eta: AnytimeEta = "anytime"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.eta, str) and self.eta == "anytime":
            return
        found = real(self.eta)
        if found is None or not 0.0 < found < math.inf:
            fail(f"eta of policy {self.name!r}", "a number above 0, or 'anytime'", self.eta)
        object.__setattr__(self, "eta", found)

    def constants(self, situation: Situation) -> tuple[Any, ...]:
        """Return eta as a number, and what plays owed are worth.

        An arm that has no floor any more but is still owed plays counts as one with a typical
        floor, and a floor below a hundredth of that as such a hundredth.
        """
        eta = 0.0 if self.eta == "anytime" else float(self.eta)
        problem = situation.problem
        floors = problem.floors
        typical = float(floors[floors > 0.0].mean()) if floors.any() else 1.0
        each = min(problem.plays, len(problem.arms)) / len(problem.arms)
        parts = np.where(floors > 0.0, np.maximum(floors, typical * SMALLEST_PART), typical)
        weight = float(problem.weights.max()) or 1.0
        return PricedConstants(eta, self.half_life, each, frozen(weight * typical / parts))

    def new_memory(self, arms: int) -> tuple[Any, ...]:
        """Return prices that are due at once."""
        return PricedMemory(np.zeros(arms), np.zeros(1, dtype=np.int64))
