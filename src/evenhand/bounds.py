"""The paper's bounds as functions."""

from __future__ import annotations

import math

from evenhand.checks import whole


def paper_eta(arms: int, plays: int, horizon: int) -> float:
    r"""Return the smallest eta that Corollary 1 allows.

    .. math:: \eta = \sqrt{\frac{N T}{m \ln T}}

    Parameters
    ----------
    arms, plays, horizon
        N, m and T; the horizon is at least 2, since ln 1 = 0.

    Examples
    --------
    Setting 2 of the paper:

    >>> round(paper_eta(arms=6, plays=3, horizon=20_000), 2)
    63.55

    References
    ----------
    Huang, Xu, Hu, Wang, Pan: Thompson Sampling for Combinatorial Semi-bandits with Sleeping Arms
    and Long-Term Fairness Constraints, Corollary 1.
    """
    whole("arms", arms, least=1)
    whole("plays", plays, least=1)
    whole("horizon for eta = 'paper'", horizon, least=2)
    return math.sqrt(arms * horizon / (plays * math.log(horizon)))
