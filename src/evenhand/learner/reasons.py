"""Why an arm was chosen, or not: what was known, drawn and owed, and how likely it was."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.extras import load
from evenhand.core.state import posterior
from evenhand.policies import Policy
from evenhand.policies.policy import Moment

TAIL = 0.025


class Reason(NamedTuple):
    """One awake arm's part in a decision, given the state before it.

    Attributes
    ----------
    arm, chosen
        Which arm, and whether it was played.
    estimate, low, high
        Its posterior mean, and the middle 95% of its posterior.
    sample
        What was drawn from it; None if nothing was: the policy draws none, all arms could be
        played, or the choice was by exploration.
    debt
        How many plays it was behind.
    price
        The price of its floor; None for policies that know no prices.
    score, rank
        By which it was chosen, and its place, 1 for the best; None if there was no score.
    probability
        The chance with which it was to be chosen; None if the policy cannot tell.
    """

    arm: str
    chosen: bool
    estimate: float
    low: float
    high: float
    sample: float | None
    debt: float
    price: float | None
    score: float | None
    rank: int | None
    probability: float | None


def reasons(
    policy: Policy,
    arms: tuple[str, ...],
    moment: Moment,
    chosen: Integers,
    samples: Floats,
    scores: Floats,
    prices: Floats | None,
) -> tuple[Reason, ...]:
    """Put together what was known at the moment of a decision and what was then drawn."""
    awake, size = moment.awake, moment.awake.size
    alphas, betas = posterior(moment.state, awake, policy.memory_half_life)
    quantile = load("scipy.special").betaincinv
    played = np.isin(awake, chosen)
    scored = scores if scores.size else None
    ranks = None if scored is None else 1 + np.argsort(np.lexsort((~played, -scored)))
    columns = (
        [arms[place] for place in awake.tolist()],
        played.tolist(),
        (alphas / (alphas + betas)).tolist(),
        quantile(alphas, betas, TAIL).tolist(),
        quantile(alphas, betas, 1.0 - TAIL).tolist(),
        _listed(samples if samples.size else None, size),
        moment.state.debts[awake].tolist(),
        _listed(None if prices is None else prices[awake], size),
        _listed(scored, size),
        _listed(ranks, size),
        _listed(probabilities(policy, moment), size),
    )
    return tuple(map(Reason, *columns))


def probabilities(policy: Policy, moment: Moment) -> Floats | None:
    """Return the chance of every awake arm to be chosen, exploration included."""
    size, plays = moment.awake.size, moment.terms.plays
    if size <= plays:
        return np.ones(size)
    chances = policy.chances(moment)
    if chances is None or policy.exploration == 0.0:
        return chances
    return (1.0 - policy.exploration) * chances + policy.exploration * plays / size


def prices_of(memory: Any) -> Floats | None:
    """Return a copy of the prices that a policy remembers, if it does."""
    prices = getattr(memory, "prices", None)
    return None if prices is None else prices.copy()


def _listed(column: Floats | Integers | None, size: int) -> list[float | None]:
    found: list[float | None] = [None] * size if column is None else column.tolist()
    return found
