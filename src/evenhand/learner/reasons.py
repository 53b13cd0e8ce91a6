"""Why an arm was chosen, or not: what was known, drawn and owed, and how likely it was."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.extras import load
from evenhand.core.promises import PromiseArrays, estimate, mean_estimate
from evenhand.core.state import DecisionView, posterior
from evenhand.learner.decision import Reason
from evenhand.policies import Policy

TAIL = 0.025


class Basis(NamedTuple):
    """What a decision was made from: all that its reasons follow from.

    The view is that before the decision; its samples, and the scores, are those that were drawn,
    empty if there were none. ``prices`` are those that the policy used, if it knows any, and
    ``owners`` the features that the numbers of a context belong to, ``rows`` the promises that the
    rows beyond floors belong to.
    """

    policy: Policy
    arms: tuple[str, ...]
    view: DecisionView
    constants: Any
    memory: Any
    chosen: Integers
    scores: Floats
    prices: Floats | None
    owners: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


def reasons(basis: Basis) -> tuple[Reason, ...]:
    """Compute the reason of every awake arm of a decision."""
    policy, view, scores = basis.policy, basis.view, basis.scores
    awake, size = view.awake, view.awake.size
    played = np.isin(awake, basis.chosen)
    scored = scores if scores.size else None
    ranks = None if scored is None else 1 + np.argsort(np.lexsort((~played, -scored)))
    columns = (
        [basis.arms[index] for index in awake.tolist()],
        played.tolist(),
        *(column.tolist() for column in estimates(policy, view)),
        _listed(view.samples if view.samples.size else None, size),
        np.maximum(view.state.debts[awake], 0.0).tolist(),
        _listed(None if basis.prices is None else basis.prices[awake], size),
        _listed(scored, size),
        _listed(ranks, size),
        _listed(probabilities(policy, view, basis.constants, basis.memory), size),
        _contributions(basis),
        _bonuses(basis),
    )
    return tuple(map(Reason, *columns))


def estimates(policy: Policy, view: DecisionView) -> tuple[Floats, Floats, Floats]:
    """Return the posterior mean of every awake arm, and the middle 95% of its posterior."""
    special = load("scipy.special")
    if not policy.known.regresses:
        alphas, betas = posterior(view.state, view.awake, policy.options.half_life)
        ends = (special.betaincinv(alphas, betas, part) for part in (TAIL, 1.0 - TAIL))
        return alphas / (alphas + betas), *ends
    moments = [policy.moments(view, arm) for arm in view.awake.tolist()]
    locations, deviations = np.array(moments).reshape(-1, 2).T
    far = float(special.ndtri(1.0 - TAIL)) * deviations
    value = np.vectorize(policy.known.value, otypes=[np.float64])
    return value(locations), value(locations - far), value(locations + far)


def _contributions(basis: Basis) -> list[dict[str, float] | None]:
    """Return what each feature adds to every awake arm's estimate."""
    view = basis.view
    if not basis.policy.known.regresses:
        return [None] * view.awake.size
    parts = view.belief.context * view.belief.means[view.awake]
    found: list[dict[str, float] | None] = []
    for row in parts.tolist():
        sums: dict[str, float] = {}
        for name, part in zip(basis.owners, row, strict=True):
            sums[name] = sums.get(name, 0.0) + part
        found.append(sums)
    return found


def _bonuses(basis: Basis) -> list[dict[str, float] | None]:
    """Return what each promise beyond floors adds to every awake arm's score."""
    view, policy, rows = basis.view, basis.policy, basis.rows
    promises = view.promises
    if (
        not isinstance(promises, PromiseArrays)
        or not basis.scores.size
        or not policy.writes_bonuses
    ):
        return [None] * view.awake.size
    policy.bonus_rows()(view, basis.constants, basis.memory)
    expected = estimate if policy.options.sampled else mean_estimate
    found: list[dict[str, float] | None] = []
    for index, arm in enumerate(view.awake.tolist()):
        sums: dict[str, float] = {}
        for j in promises.rows[promises.first[arm] : promises.first[arm + 1]].tolist():
            part = float(promises.bonuses[j])
            if promises.reward[j]:
                part *= float(promises.weights[arm]) * float(expected(view, index))
            sums[rows[j]] = sums.get(rows[j], 0.0) + part
        found.append(sums)
    return found


def probabilities(policy: Policy, view: DecisionView, constants: Any, memory: Any) -> Floats | None:
    """Return the probability of every awake arm to be chosen, exploration included."""
    size, plays = view.awake.size, view.problem.plays
    promised = isinstance(view.promises, PromiseArrays) and policy.forbids
    if not size or (size <= plays and not promised):
        return np.ones(size)
    found = policy.probabilities(view, constants, memory)
    if found is None or policy.exploration == 0.0:
        return found
    return (1.0 - policy.exploration) * found + policy.exploration * min(plays / size, 1.0)


def prices_of(memory: Any) -> Floats | None:
    """Return a copy of the prices that a policy remembers, if it does."""
    prices = getattr(memory, "prices", None)
    return None if prices is None else prices.copy()


def _listed(column: Floats | Integers | None, size: int) -> list[float | None]:
    found: list[float | None] = [None] * size if column is None else column.tolist()
    return found
