r"""Bayesian linear regression for each arm: rewards are linear in the context.

.. math:: \theta_i(x) \sim \mathcal N\left(x^\top \mu_i,
    \frac{v^2 \sigma_i^2}{D_i} x^\top A_i^{-1} x\right)

with :math:`\sigma_i^2 = \hat u_i (1 - \hat u_i)`, the variance of coin flips, and D_i directions in
which contexts vary: on average over the contexts seen, a sample is as wide as one of the Beta
posterior.

References
----------
Agrawal, Goyal: Thompson Sampling for Contextual Bandits with Linear Payoffs, ICML 2013. As an upper
bound: Li, Chu, Langford, Schapire: A Contextual-Bandit Approach to Personalized News Article
Recommendation, WWW 2010.
"""

from __future__ import annotations

import math

from evenhand.beliefs.regression import link, regression, row
from evenhand.core.state import State, posterior_mean


def known_rewards(mean: float, count: float) -> tuple[float, float]:
    """Return the weight and the weighted response of rewards known before."""
    return count, count * mean


def reward_noise(state: State, arm: int, now: float) -> float:
    """Return the standard deviation of coin flips of an arm's mean: no reward varies more."""
    mean: float = posterior_mean(now * state.reward_sums[arm], now * state.feedbacks[arm])
    return math.sqrt(mean * (1.0 - mean))


LINEAR = regression(
    "linear",
    "Bayesian linear regression on the context, for each arm",
    link,
    row,
    known_rewards,
    reward_noise,
    adds_up=True,
    width=1.0,
)
