"""The writer of the grammar: what a file says, as plain data that the parser reads back.

A table of over :data:`MANY_ROUNDS` lines is not written out: its shape and a digest of its content
stand in its place, which tell it from another one but cannot be read back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.availability import Independent, Trace
from evenhand.contexts import DrawnContexts
from evenhand.core.arrays import Floats
from evenhand.core.delay import Delay, Geometric
from evenhand.environment import Environment
from evenhand.features import Features
from evenhand.policies.policy import Policy
from evenhand.problem import Problem
from evenhand.responses import ByCategory, one_each
from evenhand.results import Anytime
from evenhand.rewards import Bernoulli, Recorded

MANY_ROUNDS = 100


def describe_simulation(
    environment: Environment,
    policies: Mapping[str, Policy],
    horizon: int,
    replications: int,
    seed: int,
    delay: Delay,
    anytime: Anytime,
) -> dict[str, Any]:
    """Return the settings of a simulation as its file would say them."""
    return {
        **describe_environment(environment),
        "policies": describe_policies(policies),
        "horizon": horizon,
        "replications": replications,
        "seed": seed,
        "delay": describe_delay(delay),
        "anytime": describe_anytime(anytime),
    }


def describe_environment(environment: Environment) -> dict[str, Any]:
    """Return an environment as a file would say it.

    >>> from evenhand import Problem
    >>> describe_environment(Environment(Problem(["a"], plays=1), 0.5))["arms"]
    [{'name': 'a', 'floor': 0.0, 'weight': 1.0, 'mean': 0.5, 'availability': 1.0}]
    """
    problem = environment.problem
    columns: dict[str, Any] = {
        "name": problem.arms,
        "floor": problem.floors.tolist(),
        "weight": problem.weights.tolist(),
    }
    if (problem.ceilings < 1.0).any():
        columns["ceiling"] = problem.ceilings.tolist()
    features, arrays = problem.features, environment.contextual
    if not isinstance(environment.rewards, Recorded):
        columns["mean"] = environment.payoffs.means.tolist()
        if features:
            pairs = zip(arrays.coefficients, arrays.logistic, strict=True)
            columns["mean"] = [_response(row, features, odds) for row, odds in pairs]
    if isinstance(environment.availability, Independent):
        columns["availability"] = environment.awake.probabilities.tolist()
        if arrays.availability.size:
            given = environment.availability.probabilities
            columns["availability"] = _by_category(problem, given)
    lines = zip(*columns.values(), strict=True)
    return {
        "plays": problem.plays,
        **({"features": features.plain(), "contexts": _contexts(environment)} if features else {}),
        "arms": [_with_prior(dict(zip(columns, line, strict=True)), problem) for line in lines],
        **_promises(problem),
        **_availability(environment),
        **_rewards(environment),
        **_changes(environment),
    }


def _response(row: Floats, features: Features, logistic: bool) -> object:
    """Return a mean as a file says it: the same in all contexts, or coefficients that matter."""
    if not logistic and not row[1:].any():
        return float(row[0])
    named = {
        column: value
        for column, value in zip(features.columns, row.tolist(), strict=True)
        if value != 0.0
    }
    return {"logistic" if logistic else "linear": named}


def _by_category(problem: Problem, given: object) -> list[Any]:
    """Return every arm's availability as a file says it."""
    return [
        {"by": how.feature, "values": how.numbers(problem.features, problem.arms, index)}
        if isinstance(how, ByCategory)
        else float(how)
        for index, (_, how) in enumerate(one_each("availability", problem.arms, given))
    ]


def _contexts(environment: Environment) -> dict[str, Any]:
    """Return how contexts come about."""
    contexts = environment.contexts
    if isinstance(contexts, DrawnContexts):
        drawn = {name: _numbers(how) for name, how in contexts.features.items()}
        return {"drawn": drawn, "sample": contexts.sample}
    assert contexts is not None
    rows: object = _table(environment.contextual.recorded)
    if len(contexts.rows) <= MANY_ROUNDS:
        rows = [environment.problem.features.plain_context(row) for row in contexts.rows]
    return {"recorded": rows, "order": contexts.order, "sample": contexts.sample}


def _numbers(given: Any) -> object:
    """Return how a feature is drawn with plain numbers."""
    if isinstance(given, Mapping):
        return {str(name): float(value) for name, value in given.items()}
    if isinstance(given, list | tuple):
        return [float(value) for value in given]
    return given if isinstance(given, str) else float(given)


def _promises(problem: Problem) -> dict[str, Any]:
    """Return what is promised beyond floors and ceilings, if anything is."""
    found: dict[str, Any] = {}
    if problem.promises:
        found["promises"] = [promise.plain() for promise in problem.promises]
    if problem.allow_impossible:
        found["allow_impossible"] = True
    return found


def _with_prior(arm: dict[str, Any], problem: Problem) -> dict[str, Any]:
    """Return the table of an arm with its prior, if it has one."""
    prior = problem.priors.get(arm["name"])
    return arm if prior is None else {**arm, "prior": list(prior)}


def describe_policies(policies: Mapping[str, Policy]) -> list[dict[str, Any]]:
    """Return policies as ``[[policies]]`` tables.

    >>> from evenhand import make_policy
    >>> describe_policies({"TS": make_policy("thompson")})[0]["label"]
    'TS'
    """
    return [
        {"name": policy.name, "label": label, **policy.described()}
        for label, policy in policies.items()
    ]


def describe_delay(delay: Delay) -> object:
    """Return a delay as a file says it."""
    return {"geometric": delay.mean} if isinstance(delay, Geometric) else delay


def describe_anytime(anytime: Anytime) -> dict[str, Any]:
    """Return what figures of every moment are measured against; nothing for what is left open.

    >>> describe_anytime(Anytime(window=500))
    {'tolerance': 3.0, 'window': 500}
    """
    return {name: value for name, value in asdict(anytime).items() if value is not None}


def _availability(environment: Environment) -> dict[str, Any]:
    how, members = environment.availability, environment.awake.members
    if isinstance(how, Independent):
        return {}
    if isinstance(how, Trace):
        return {"availability": {"trace": _table(members)}}
    # As given: normalised once more, they could differ in the last bit.
    given = np.broadcast_to(np.asarray(how.probabilities, dtype=np.float64), len(members))
    return {"availability": {"sets": _table(members), "probabilities": given.tolist()}}


def _changes(environment: Environment) -> dict[str, Any]:
    if not environment.changes:
        return {}
    changed = environment.changed
    lines = zip(changed.starts, changed.means, changed.probabilities, strict=True)
    return {
        "changes": [
            {"after": int(after), "means": means.tolist(), "availability": probabilities.tolist()}
            for after, means, probabilities in lines
        ]
    }


def _rewards(environment: Environment) -> dict[str, Any]:
    rewards = environment.rewards
    if isinstance(rewards, Recorded):
        return {"rewards": {"recorded": _table(environment.payoffs.recorded)}}
    if isinstance(rewards, Bernoulli):
        return {}
    return {"rewards": {"kind": "beta", "concentration": rewards.concentration}}


def _table(table: NDArray[Any]) -> object:
    """Return a table line by line if it is small, else what tells it from another one."""
    if len(table) <= MANY_ROUNDS:
        return (table * 1).tolist()
    return {"shape": list(table.shape), "sha256": hashlib.sha256(table.tobytes()).hexdigest()}
