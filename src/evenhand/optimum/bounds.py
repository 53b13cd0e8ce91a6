"""The paper's bounds as functions, with their conditions checked.

Huang, Xu, Hu, Wang, Pan: Thompson Sampling for Combinatorial Semi-bandits with Sleeping Arms and
Long-Term Fairness Constraints. All bounds are on the time-averaged regret R(T).
"""

from __future__ import annotations

import math

from evenhand.core.checks import POSITIVE, check_number, check_whole, fail


def paper_eta(arms: int, plays: int, horizon: int) -> float:
    r"""Return the smallest eta that Corollary 1 allows, for T >= N.

    .. math:: \eta = \sqrt{\frac{N T}{m \ln T}}

    Examples
    --------
    Setting 2 of the paper:

    >>> round(paper_eta(arms=6, plays=3, horizon=20_000), 2)
    63.55
    """
    _check(arms, plays, horizon)
    check_whole("horizon for the paper's eta", horizon, least=max(2, arms))
    return math.sqrt(arms * horizon / (plays * math.log(horizon)))


def tscsf_b_bound(
    arms: int, plays: int, horizon: int, eta: float, largest_weight: float = 1.0
) -> float:
    r"""Return Theorem 2's bound for TSCSF-B, for T > 1, eta > 0, w > 0 and 0 < m <= N.

    .. math:: \frac{N}{2 \eta} + \frac{4 w_{\max} \sqrt{m N T \ln T} + 2.51 w_{\max} N}{T}

    Examples
    --------
    Setting 2 of the paper at its own eta:

    >>> round(tscsf_b_bound(6, 3, 20_000, eta=63.55), 4)
    0.4256
    """
    return _bound(arms, plays, horizon, eta, largest_weight, 4.0, 2.51)


def lfg_bound(
    arms: int, plays: int, horizon: int, eta: float, largest_weight: float = 1.0
) -> float:
    r"""Return the bound for LFG that the paper compares with, under the same conditions.

    .. math:: \frac{N}{2 \eta} + \frac{2 \sqrt{6} w_{\max} \sqrt{m N T \ln T} + 5.11 w_{\max} N}{T}

    The paper's introduction prints both bounds without the weight in front of the root, and
    Theorem 2 with it; here both have it, so that they can be compared.

    References
    ----------
    Li, Liu, Ji: Combinatorial Sleeping Bandits with Fairness Constraints, INFOCOM 2019.

    Examples
    --------
    >>> lfg_bound(6, 3, 20_000, eta=63.55) > tscsf_b_bound(6, 3, 20_000, eta=63.55)
    True
    """
    return _bound(arms, plays, horizon, eta, largest_weight, 2.0 * math.sqrt(6.0), 5.11)


def _check(arms: int, plays: int, horizon: int) -> None:
    check_whole("arms", arms, least=1)
    check_whole("plays", plays, least=1)
    check_whole("horizon", horizon, least=2)
    if plays > arms:
        fail("plays", f"at most the number of arms, {arms}", plays)


def _bound(
    arms: int, plays: int, horizon: int, eta: float, weight: float, root: float, constant: float
) -> float:
    _check(arms, plays, horizon)
    if eta != math.inf:
        check_number("eta", eta, POSITIVE)
    check_number("largest weight", weight, POSITIVE)
    spread = math.sqrt(plays * arms * horizon * math.log(horizon))
    return arms / (2.0 * eta) + weight * (root * spread + constant * arms) / horizon
