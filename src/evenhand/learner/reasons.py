"""Why an arm was chosen, or not: what was known, drawn and owed, and how likely it was."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.extras import load
from evenhand.core.state import DecisionView, posterior
from evenhand.learner.decision import Reason
from evenhand.policies import Policy

TAIL = 0.025


class Basis(NamedTuple):
    """What a decision was made from: all that its reasons follow from.

    The view is that before the decision; its samples, and the scores, are those that were drawn,
    empty if there were none. ``prices`` are those that the policy used, if it knows any.
    """

    policy: Policy
    arms: tuple[str, ...]
    view: DecisionView
    constants: Any
    memory: Any
    chosen: Integers
    scores: Floats
    prices: Floats | None


def reasons(basis: Basis) -> tuple[Reason, ...]:
    """Compute the reason of every awake arm of a decision."""
    policy, view, scores = basis.policy, basis.view, basis.scores
    awake, size = view.awake, view.awake.size
    alphas, betas = posterior(view.state, awake, policy.options.half_life)
    quantile = load("scipy.special").betaincinv
    played = np.isin(awake, basis.chosen)
    scored = scores if scores.size else None
    ranks = None if scored is None else 1 + np.argsort(np.lexsort((~played, -scored)))
    columns = (
        [basis.arms[index] for index in awake.tolist()],
        played.tolist(),
        (alphas / (alphas + betas)).tolist(),
        quantile(alphas, betas, TAIL).tolist(),
        quantile(alphas, betas, 1.0 - TAIL).tolist(),
        _listed(view.samples if view.samples.size else None, size),
        np.maximum(view.state.debts[awake], 0.0).tolist(),
        _listed(None if basis.prices is None else basis.prices[awake], size),
        _listed(scored, size),
        _listed(ranks, size),
        _listed(probabilities(policy, view, basis.constants, basis.memory), size),
    )
    return tuple(map(Reason, *columns))


def probabilities(policy: Policy, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
    """Return the probability of every awake arm to be chosen, exploration included."""
    size, plays = view.awake.size, view.problem.plays
    if size <= plays:
        return np.ones(size)
    found = policy.probabilities(view, constants, memory)
    if found is None or policy.exploration == 0.0:
        return found
    return (1.0 - policy.exploration) * found + policy.exploration * plays / size


def prices_of(memory: Any) -> Floats | None:
    """Return a copy of the prices that a policy remembers, if it does."""
    prices = getattr(memory, "prices", None)
    return None if prices is None else prices.copy()


def _listed(column: Floats | Integers | None, size: int) -> list[float | None]:
    found: list[float | None] = [None] * size if column is None else column.tolist()
    return found
