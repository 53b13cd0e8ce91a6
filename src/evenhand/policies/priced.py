"""Thompson sampling with prices: floors kept on time, no eta to tune."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from evenhand.beliefs.belief import Belief
from evenhand.core.arrays import Floats, Integers, Random, frozen
from evenhand.core.checks import check_choice, fail, real
from evenhand.core.jit import interpreted
from evenhand.core.schema import Column
from evenhand.core.state import (
    DecisionView,
    ProblemArrays,
    State,
    awake_rates,
    faded,
    is_due,
    posterior_mean,
)
from evenhand.optimum.feasibility import attainable
from evenhand.optimum.independent import solve_independent
from evenhand.policies.families import WithSamples, WithSurplus
from evenhand.policies.policy import NEWER, PolicySetup, Score, score_with_promises
from evenhand.policies.promised_prices import PromisedMemory, solve_promised
from evenhand.policies.sampled_prices import (
    SampledMemory,
    copy_context,
    remember,
    solve_sampled,
    write_responses,
)
from evenhand.problem import Problem

AnytimeEta: TypeAlias = float | Literal["anytime"]
PriceSource: TypeAlias = Literal["auto", "exact", "sample"]
GROWS, GROWS_WITH_CONTEXTS = 0.1, 1.0
# Rewards and plays of many arms make the debts of other promises swing more.
GROWS_WITH_PROMISES, GROWS_WITH_BOTH = 0.5, 2.0
GROWTH = 1.1
KNOWN_PLAYS, KNOWN_PLAYS_WITH_CONTEXTS = 100.0, 10.0
SMALLEST_PART = 0.01
MANY_ARMS = 400
FORGOTTEN = 10.0
# With contexts a debt swings by a few plays around zero: who asks decides when an arm is served.
# With one feature they hardly swing more than without.
AHEAD = 1.875


class PricedConstants(NamedTuple):
    """What is known before the first round.

    Eta (0 for the anytime schedule) and how it grows, the half-life of what is learned, the plays
    that an arm has a round on average, after how many of them its price counts as known, what a
    play owed is worth for each arm, ``w_max k_mean / k_i``, and by how many plays each arm is to be
    ahead.
    """

    eta: float
    growth: float
    half_life: float
    plays_each: float
    known_plays: float
    worth: Floats
    ahead: Floats


class PromisedConstants(NamedTuple):
    """As :class:`PricedConstants`, with the same of each promise beyond floors."""

    eta: float
    growth: float
    half_life: float
    plays_each: float
    known_plays: float
    worth: Floats
    ahead: Floats
    row_worth: Floats
    row_ahead: Floats


class PricedMemory(NamedTuple):
    """The prices of the floors, and the round in which they are computed again."""

    prices: Annotated[Floats, Column("arm", derived=True)]
    refresh: Annotated[Integers, Column("one", derived=True)]


def score(
    scores: Floats,
    view: DecisionView,
    constants: PricedConstants,
    memory: PricedMemory,
    rng: Random,
) -> None:
    """Score ``w_i theta_i + max(price_i + worth_i (Q_i + ahead_i) / eta, 0)``."""
    rounds, weights, debts = view.state.rounds[0], view.problem.weights, view.state.debts
    eta = constants.eta
    if eta == 0.0:
        each, known = constants.plays_each, constants.known_plays
        eta = anytime_eta(rounds, each, constants.growth, known)
    share = 1.0 / eta
    arms, plays = weights.size, view.problem.plays
    if is_due(rounds, memory.refresh[0], next_refresh(rounds, arms, plays, constants.half_life)):
        refresh_prices(
            view.state, view.problem, view.belief, view.promises, constants.half_life, memory
        )
    for j in range(view.awake.size):
        i = view.awake[j]
        scores[j] = weights[i] * view.samples[j]
        owed = debts[i] + constants.ahead[i]
        bonus = memory.prices[i] + constants.worth[i] * owed * share
        scores[j] += bonus if bonus > 0.0 else 0.0


def anytime_eta(
    rounds: int, plays_each: float, growth: float = GROWS, known_plays: float = KNOWN_PLAYS
) -> float:
    r"""Return an eta that grows with the rounds, so that none has to be chosen.

    .. math:: 1 + g \sqrt t \min\left(1, \frac{t m}{h N}\right)^2

    with g = 0.1 and h = 100. With contexts g is 1 and h is 10: there debts must not decide when an
    arm is served, only whether. With promises beyond floors g is 0.5, and 2 with contexts. While
    arms have been played less than about h times, their prices are guesses, and the debts count for
    more.

    >>> anytime_eta(10_000, 0.2), anytime_eta(100, 0.2)
    (11.0, 1.04)
    """
    known = min(1.0, rounds * plays_each / known_plays)
    return 1.0 + growth * math.sqrt(rounds) * known * known


def refresh_prices(
    state: State,
    problem: ProblemArrays,
    belief: Any,
    promises: Any,
    half_life: float,
    memory: PricedMemory,
) -> None:
    """Compute the prices of the floors on posterior means and measured awake rates.

    Due again when the rounds have grown by a tenth, or a tenth of the half-life has passed; of many
    arms, not before every arm could have been played once more. Floors that do not fit the measured
    rates are priced as far as they do, shared fairly.
    """
    arms, rounds = problem.floors.size, state.rounds[0]
    plays = min(problem.plays, arms)
    memory.refresh[0] = next_refresh(rounds, arms, plays, half_life)
    values, now = np.empty(arms), faded(state, half_life)
    floors = wanted_floors(state, problem, memory.refresh[0] - rounds)
    for i in range(arms):
        mean = posterior_mean(now * state.reward_sums[i], now * state.feedbacks[i])
        values[i] = problem.weights[i] * mean
    probabilities = awake_rates(state, problem, half_life)
    kept = attainable(floors, probabilities, plays)
    prices = solve_independent(values, kept, probabilities, plays)[1]
    for i in range(arms):
        memory.prices[i] = prices[i]


def refresh_sampled(
    state: State,
    problem: ProblemArrays,
    belief: Any,
    promises: Any,
    half_life: float,
    memory: SampledMemory,
) -> None:
    """Compute prices on the latest rounds, of floors (:func:`solve_sampled`) or of all promises."""
    arms, rounds = problem.floors.size, state.rounds[0]
    memory.refresh[0] = next_refresh(rounds, arms, min(problem.plays, arms), half_life)
    floors = wanted_floors(state, problem, memory.refresh[0] - rounds)
    solve_sampled(state, problem, belief, promises, memory, floors, half_life)


def price_bonuses(view: DecisionView, constants: PromisedConstants, memory: PromisedMemory) -> None:
    """Write ``sign_j max(price_j + worth_j (Q_j + ahead_j) / eta, 0)`` as each promise's bonus.

    A debt of reward is counted in what its arms typically earn; so is the price.
    """
    promises, eta = view.promises, constants.eta
    if eta == 0.0:
        each, known = constants.plays_each, constants.known_plays
        eta = anytime_eta(view.state.rounds[0], each, constants.growth, known)
    for j in range(promises.debts.size):
        unit = memory.units[j] if memory.units[j] > 0.0 else 1.0
        owed = promises.debts[j] / unit + constants.row_ahead[j]
        bonus = memory.row_prices[j] + constants.row_worth[j] * owed / (eta * unit)
        promises.bonuses[j] = promises.sign[j] * max(bonus, 0.0)


def wanted_floors(state: State, problem: ProblemArrays, rounds: int) -> Floats:
    """Return the floors to price; an arm without one that is owed plays has them in so many."""
    floors = np.empty(problem.floors.size)
    for i in range(floors.size):
        floors[i] = problem.floors[i]
        if floors[i] == 0.0 and state.debts[i] > 0.0:
            floors[i] = min(1.0, state.debts[i] / rounds)
    return floors


@cache
def sampled_score(belief: Belief, *, promised: bool = False) -> Callable[..., None]:
    """Return :func:`score` with prices from the latest rounds, of floors or of all promises."""
    solve: Callable[..., None] = solve_promised if promised else solve_sampled
    if belief.regresses:
        means = interpreted(write_responses, link=belief.value)
        solve = interpreted(solve, write_means=means)
    return interpreted(score, refresh_prices=interpreted(refresh_sampled, solve_sampled=solve))


@cache
def remembering(regresses: bool) -> Callable[..., None]:
    """Return what puts every round into the ring."""
    return interpreted(remember, keep_context=copy_context) if regresses else remember


def next_refresh(rounds: int, arms: int, plays: int, half_life: float) -> int:
    """Return the round in which prices that are computed now are out of date.

    Of hundreds of arms little is known before each could have been played once more, and working
    out their prices takes longer than a decision.
    """
    wait = arms // min(plays, arms) if arms > MANY_ARMS else 1
    grown = min(rounds * GROWTH, rounds + half_life / FORGOTTEN)
    return max(rounds + wait, int(grown))


@dataclass(frozen=True, kw_only=True)
class Priced(WithSamples, WithSurplus):
    r"""Thompson sampling with the price of each floor as a bonus, corrected by its debt.

    .. math::
        \text{score}_i = w_i \theta_i(t)
        + \max\left( \lambda_i + w_{\max} \bar k \, \frac{Q_i(t) + a}{\eta k_i}, 0 \right),
        \qquad \theta_i(t) \sim \mathrm{Beta}(\alpha_i, \beta_i)

    with the debt Q_i (a is 0, and ``1.875 (1 - 2 / d)`` plays with a regression on d columns as
    belief), and the price lambda_i from the exact optimum on posterior means and measured awake
    rates, computed again whenever t has grown by a tenth. These prices assume that arms wake
    independently; the debt does not, and corrects them. With a regression, theta_i is a sample of
    it, and prices come from the latest rounds. The debt is counted in parts of the floor (times the
    mean floor), and may be negative against the price, down to minus the surplus. Floors that
    cannot all be kept are missed by the same fraction. An arm that is owed plays and has no floor
    any more is priced as if it were to have them until the prices are computed again.

    Promises beyond floors add ``sign_j max(price_j + worth_j Q_j / eta, 0)`` to each play of their
    arms, or to each unit of their reward (the weighted sample). Their prices, and those of floors
    beside them, come from the latest rounds (:mod:`evenhand.policies.promised_prices`).
    ``docs/promises.md``, ``docs/beyond-the-paper.md`` and ``docs/contexts.md``
    explain it.

    >>> Priced().label()
    'priced'

    Parameters
    ----------
    eta
        How much reward outweighs debt, a number above 0; ``"anytime"`` grows with the
        rounds, see :func:`anytime_eta`.
    prices
        Where prices come from: ``"exact"``, from the optimum of arms that wake independently;
        ``"sample"``, from the latest rounds (:mod:`evenhand.policies.sampled_prices`), which is
        right for contexts and for arms that depend on each other; ``"auto"`` is the sample with a
        regression as belief, and exact otherwise.
    surplus
        How many plays ahead are remembered: few keep the plays of an arm evenly spread over time.
        See :class:`WithSurplus`.
    belief, width, ridge, rewards, half_life, exploration
        See :class:`WithBelief`, :class:`WithSamples` and :class:`Policy`.
    """

    name = "priced"
    memory = PricedMemory
    score = staticmethod(score)
    surplus: float = 10.0
    eta: AnytimeEta = "anytime"
    prices: PriceSource = field(default="auto", metadata=NEWER)
    keeps = "promises"

    def bonus_rows(self) -> Callable[..., None]:
        return price_bonuses

    def scoring_with(self, *, promised: bool) -> Score:
        if not promised:
            return self.scoring
        own = sampled_score(self.known, promised=True)
        return score_with_promises(own, price_bonuses, self.options.sampled)

    def resolved(self, problem: Problem) -> Self:
        """Return the policy with its belief, and prices from the sample for other promises."""
        own = super().resolved(problem)
        if not problem.rows.size or own.prices == "sample":
            return own
        if own.prices == "exact":
            rule = "'auto' or 'sample' with promises beyond floors: exact ones are of floors alone"
            fail(f"prices of policy {self.name!r}", rule, own.prices)
        return replace(own, prices="sample")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"prices of policy {self.name!r}", self.prices, ("auto", "exact", "sample"))
        if self.prices == "exact" and self.known.regresses:
            rule = "'auto' or 'sample' with a regression: exact ones know no contexts"
            fail(f"prices of policy {self.name!r}", rule, self.prices)
        if isinstance(self.eta, str) and self.eta == "anytime":
            return
        found = real(self.eta)
        if found is None or not 0.0 < found < math.inf:
            fail(f"eta of policy {self.name!r}", "a number above 0, or 'anytime'", self.eta)
        object.__setattr__(self, "eta", found)

    def memory_used(self, before: Any, after: Any) -> Any:
        """Return the memory after the decision: it has the prices that were computed for it."""
        return after

    def postpone(self, state: State, problem: ProblemArrays, memory: PricedMemory) -> bool:
        """Decide with the prices of before."""
        rounds, arms = int(state.rounds[0]), problem.floors.size
        memory.refresh[0] = next_refresh(rounds, arms, problem.plays, self.half_life)
        return True

    @property
    def sampled(self) -> bool:
        """Whether prices come from the latest rounds."""
        return self.prices == "sample" or (self.prices == "auto" and self.known.regresses)

    @property
    def scoring(self) -> Score:
        return sampled_score(self.known) if self.sampled else self.score

    @property
    def noticing(self) -> Callable[..., None]:
        return remembering(self.known.regresses) if self.sampled else super().noticing

    def memory_kind(self, promises: int = 0) -> type[Any]:
        if promises:
            return PromisedMemory
        return SampledMemory if self.sampled else PricedMemory

    @property
    def pays_compiled(self) -> bool:
        return self.sampled

    def constants(self, setup: PolicySetup) -> tuple[Any, ...]:
        """Return eta as a number, and what plays owed are worth.

        An arm that has no floor any more but is still owed plays counts as one with a typical
        floor, and a floor below a hundredth of that as such a hundredth.
        """
        eta = 0.0 if self.eta == "anytime" else float(self.eta)
        problem = setup.problem
        floors = problem.floors
        typical = float(floors[floors > 0.0].mean()) if floors.any() else 1.0
        each = min(problem.plays, len(problem.arms)) / len(problem.arms)
        parts = np.where(floors > 0.0, np.maximum(floors, typical * SMALLEST_PART), typical)
        weight = float(problem.weights.max()) or 1.0
        growth, known = GROWS, KNOWN_PLAYS
        if self.known.regresses:
            growth, known = GROWS_WITH_CONTEXTS, KNOWN_PLAYS_WITH_CONTEXTS
        worth = frozen(weight * typical / parts)
        columns = max(len(problem.features.columns), 2)
        swing = 1.0 - 2.0 / columns if self.known.regresses else 0.0
        aim = min(AHEAD * swing, self.surplus)
        ahead = frozen(np.where(floors > 0.0, aim, 0.0))
        own = PricedConstants(eta, growth, self.half_life, each, known, worth, ahead)
        return _with_rows(own, problem, weight, aim) if problem.rows.size else own


def _with_rows(
    own: PricedConstants, problem: Problem, weight: float, aim: float
) -> PromisedConstants:
    """Return the constants with what is owed to promises beyond floors, in parts of their bounds.

    A bound of reward counts as the plays that would earn it at a mean of a half.
    """
    rows, floors = problem.rows, problem.floors
    heavy = np.max(np.where(rows.members, problem.weights, 0.0), axis=1)
    earns = np.where(rows.reward & (heavy > 0.0), heavy / 2.0, 1.0)
    bounds = np.concatenate([floors[floors > 0.0], rows.bound / earns])
    typical = float(bounds[bounds > 0.0].mean()) if bounds.any() else 1.0
    parts = np.maximum(np.where(floors > 0.0, floors, typical), typical * SMALLEST_PART)
    row_parts = np.maximum(rows.bound / earns, typical * SMALLEST_PART)
    growth = GROWS_WITH_BOTH if own.growth == GROWS_WITH_CONTEXTS else GROWS_WITH_PROMISES
    worth = {
        "growth": growth,
        "worth": frozen(weight * typical / parts),
        "row_worth": frozen(weight * typical / row_parts),
        "row_ahead": frozen(np.full(rows.size, aim)),
    }
    return PromisedConstants(**{**own._asdict(), **worth})
