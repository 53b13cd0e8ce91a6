"""Nature in contexts: what is given for an environment with features, checked and as arrays."""

from __future__ import annotations

import numpy as np

from evenhand.availability import Availability, Independent
from evenhand.contexts import Contexts, DrawnContexts, RecordedContexts
from evenhand.core.arrays import frozen
from evenhand.core.checks import fail
from evenhand.core.contexts import ContextArrays
from evenhand.core.nature import Awake
from evenhand.problem import Problem
from evenhand.responses import (
    LinearMean,
    LogisticMean,
    awake_responses,
    depends,
    mean_responses,
)
from evenhand.rewards import Recorded, Rewards


def check_contexts(problem: Problem, contexts: object, changes: int) -> Contexts | None:
    """Return how contexts come about, None for a problem without features, or raise InputError."""
    if not isinstance(contexts, Contexts | None):
        fail("contexts", "DrawnContexts(...) or RecordedContexts(...)", contexts)
    if not problem.features:
        if contexts is not None:
            fail("contexts", "left out: the problem has no features", type(contexts).__name__)
        return None
    if changes:
        fail("an environment with contexts", "one without changes", f"{changes} changes")
    return DrawnContexts() if contexts is None else contexts


def refuse_responses(means: object, availability: Availability) -> None:
    """Raise for what depends on a context where there are none."""
    awake = availability.probabilities if isinstance(availability, Independent) else None
    for thing, given in (("means", means), ("availability", awake)):
        if depends(given):
            fail(thing, "numbers: the problem has no features", given)


def awake_at_first(problem: Problem, availability: Availability) -> Awake:
    """Return how arms wake; what depends on the context is written in each round."""
    if isinstance(availability, Independent) and depends(availability.probabilities):
        return Awake(probabilities=frozen(np.zeros(len(problem.arms))))
    return availability.arrays(problem.arms)


def context_arrays(
    problem: Problem,
    means: object,
    availability: Availability,
    rewards: Rewards,
    contexts: Contexts,
) -> ContextArrays:
    """Return how contexts are drawn, and what they change, checked."""
    arrays = contexts.arrays(problem.features)
    if isinstance(rewards, Recorded):
        if not (isinstance(contexts, RecordedContexts) and contexts.replayed):
            found = getattr(contexts, "order", "drawn")
            fail("contexts of recorded rewards", "recorded, too, and replayed", found)
    else:
        responses = mean_responses(problem.arms, problem.features, means)
        arrays = arrays._replace(**responses._asdict())
    if isinstance(availability, Independent) and depends(availability.probabilities):
        probabilities = awake_responses(problem.arms, problem.features, availability.probabilities)
        arrays = arrays._replace(availability=probabilities)
    return arrays


def means_given(arrays: ContextArrays) -> list[LinearMean]:
    """Return every arm's mean as it could have been given."""
    pairs = zip(arrays.coefficients, arrays.logistic, strict=True)
    return [LogisticMean(row) if odds else LinearMean(row) for row, odds in pairs]
