r"""Bayesian logistic regression for each arm: the log-odds of a reward are linear in the context.

One Newton step for each reward r, from the mean at that moment:

.. math:: p = \sigma(x^\top \mu), \quad A \leftarrow A + p (1 - p) x x^\top, \quad
    \mu \leftarrow \mu + A^{-1} x (r - p)

which is regression on the working response ``x . mu + (r - p) / (p (1 - p))`` with the weight
``p (1 - p)``, so that the sums of the linear belief serve here, too. They depend on the order in
which rewards arrive, and do not add up. A sample is

.. math:: \theta_i(x) = \sigma(x^\top \mu_i + v \sqrt{x^\top A_i^{-1} x / D_i}\, z), \quad
    z \sim \mathcal N(0, 1)

References
----------
Chapelle, Li: An Empirical Evaluation of Thompson Sampling, NIPS 2011 (with one Newton step in place
of a fit); Spiegelhalter, Lauritzen: Sequential Updating of Conditional Probabilities, 1990.
"""

from __future__ import annotations

import math

from evenhand.beliefs.regression import Regression, location, regression
from evenhand.core.arrays import Floats
from evenhand.core.contexts import sigmoid
from evenhand.core.jit import inlined

# Beyond it the weight of a reward is so small that its response could not be told from noise.
FARTHEST = 12.0


def newton_row(
    belief: Regression, arm: int, context: Floats, reward: float, weight: float
) -> tuple[float, float]:
    """Return the weight and the weighted working response of a reward."""
    value = location(belief, arm, context)
    logit = min(max(value, -FARTHEST), FARTHEST)
    chance = sigmoid(logit)
    slope = weight * chance * (1.0 - chance)
    return slope, slope * logit + weight * (reward - chance)


def known_rewards(mean: float, count: float) -> tuple[float, float]:
    """Return the weight and the weighted response of rewards known before, at their log-odds."""
    chance = min(max(mean, sigmoid(-FARTHEST)), sigmoid(FARTHEST))
    weight = count * chance * (1.0 - chance)
    return weight, weight * math.log(chance / (1.0 - chance))


LOGISTIC = regression(
    "logistic",
    "Bayesian logistic regression on the context, for each arm; for rewards of 0 or 1",
    sigmoid,
    inlined(newton_row, "location", location),
    known_rewards,
    adds_up=False,
    width=0.7,
)
