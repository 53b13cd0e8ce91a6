"""What was promised: the numbers of a problem as scoring functions see them."""

from __future__ import annotations

from typing import Any, NamedTuple

from evenhand.core.arrays import Floats, Masks


class Terms(NamedTuple):
    """What changes only with the arms: plays, weights, floors, and from when floors count.

    Attributes
    ----------
    plays
        At most how many arms are played in a round.
    weights, floors
        One of each per arm.
    joined
        After how many rounds the arm joined.
    since, promised
        The round at which its present floor took effect, and the plays it had been promised by
        then: 0 unless arms join or floors change in mid-run.
    paused
        Whether the arm takes no part for the time being; its floor is 0 then.
    """

    plays: int
    weights: Floats
    floors: Floats
    joined: Floats
    since: Floats
    promised: Floats
    paused: Masks


def plays_due(terms: Terms, arm: Any, rounds: int) -> Any:
    """Return how many plays an arm has been promised by now: ``t k_i`` unless its floor changed.

    Those of many arms, if an array of them is given, or a slice.

    >>> import numpy as np
    >>> none = np.zeros(1)
    >>> terms = Terms(1, np.ones(1), np.array([0.25]), none, none, none, none > 0)
    >>> float(plays_due(terms, 0, 100))
    25.0
    """
    return (rounds - terms.since[arm]) * terms.floors[arm] + terms.promised[arm]
