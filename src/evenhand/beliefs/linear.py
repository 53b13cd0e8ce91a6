r"""Bayesian linear regression for each arm: rewards are linear in the context.

.. math:: \theta_i(x) \sim \mathcal N(x^\top \mu_i, v^2 x^\top A_i^{-1} x)

References
----------
Agrawal, Goyal: Thompson Sampling for Contextual Bandits with Linear Payoffs, ICML 2013. As an upper
bound: Li, Chu, Langford, Schapire: A Contextual-Bandit Approach to Personalized News Article
Recommendation, WWW 2010.
"""

from __future__ import annotations

from evenhand.beliefs.regression import link, regression, row


def known_rewards(mean: float, count: float) -> tuple[float, float]:
    """Return the weight and the weighted response of rewards known before."""
    return count, count * mean


LINEAR = regression(
    "linear",
    "Bayesian linear regression on the context, for each arm",
    link,
    row,
    known_rewards,
    adds_up=True,
    width=0.25,
    # No reward in [0, 1] varies more.
    noise=0.5,
)
