"""A nature that changes: after so many rounds arms have other means, or wake at other rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.availability import Availability, Independent
from evenhand.core.arrays import frozen
from evenhand.core.checks import check_per_arm, check_whole, fail
from evenhand.core.nature import Awake, Changes, Payoffs
from evenhand.problem import Problem
from evenhand.rewards import Recorded, Rewards


@dataclass(frozen=True, eq=False)
class Change:
    """Nature is another one after so many rounds; what is left out stays as it was.

    Parameters
    ----------
    after
        The number of rounds played before the change.
    means, availability
        As for :class:`Environment`; independent arms only.

    Examples
    --------
    >>> Change(after=10_000, means=[0.7, 0.5, 0.4]).after
    10000
    """

    after: int
    means: object = None
    availability: object = None


def check_changes(
    given: object, availability: Availability, rewards: Rewards
) -> tuple[Change, ...]:
    """Return changes in the order of their rounds, or raise InputError."""
    changes = tuple(given) if isinstance(given, list | tuple) else (given,)
    after = 0
    for change in changes:
        if not isinstance(change, Change):
            fail("changes", "a list of Change", change)
        if check_whole("after of a change", change.after, least=1) <= after:
            fail("after of a change", f"later than the change before it, {after}", change.after)
        after = change.after
    if changes and (not isinstance(availability, Independent) or isinstance(rewards, Recorded)):
        kinds = f"{type(availability).__name__} and {type(rewards).__name__}"
        fail("an environment that changes", "of independent arms; replay a trace instead", kinds)
    return changes


def changed_arrays(
    changes: Sequence[Change], problem: Problem, awake: Awake, payoffs: Payoffs
) -> Changes:
    """Return what arms do after each change, checked."""
    if not changes:
        return Changes()
    means, probabilities = [payoffs.means], [awake.probabilities]
    for change in changes:
        new, other = change.means, change.availability
        means.append(means[-1] if new is None else check_per_arm("mean", problem.arms, new))
        if other is None:
            probabilities.append(probabilities[-1])
            continue
        how = other if isinstance(other, Availability) else Independent(other)
        if not isinstance(how, Independent):
            fail("availability of a change", "that of independent arms", type(how).__name__)
        probabilities.append(how.arrays(problem.arms).probabilities)
    return Changes(
        frozen(np.array([change.after for change in changes], dtype=np.int64)),
        frozen(np.array(probabilities[1:])),
        frozen(np.array(means[1:])),
        frozen(problem.weights * np.array(means[1:])),
    )
