r"""Bayesian regression for each arm, by sums and a factor that is updated with each reward.

Of arm i, with encoded contexts x, weights s and responses y:

.. math:: A_i = \rho I + \sum s\, x x^\top = L_i L_i^\top, \quad b_i = \sum s\, y\, x,
    \quad \mu_i = A_i^{-1} b_i

What differs from one regression to another are three functions: :func:`link`, :func:`row` and the
noise of a response.

A reward costs O(d^2): the Cholesky factor L and ``L^-1 b`` are updated by rotations (Golub and Van
Loan, Matrix Computations, section 6.5.4), and the mean is solved for. A sample costs O(d^2), too:
:math:`x^\top \mu + v \sigma \sqrt{x^\top A^{-1} x / D}\, z`, where the root of x' A^-1 x is the
length of :math:`L^{-1} x`, sigma the standard deviation of a reward and D the number of directions
in which contexts vary (:func:`measure_dimension`). No matrix is inverted. Only a policy that
forgets has the factor computed anew in each round, since its sums fade and the prior, rho, does
not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from evenhand.beliefs.belief import Belief, unit_noise
from evenhand.core.arrays import Floats, Integers, Random
from evenhand.core.jit import inlined, interpreted
from evenhand.core.round import StepOptions
from evenhand.core.schema import Column, Shape, fading_scaler
from evenhand.core.state import State, faded

TABLE: Shape = ("arm", "feature", "feature")
ROW: Shape = ("arm", "feature")


class Regression(NamedTuple):
    """The arrays of a regression.

    Attributes
    ----------
    context
        The encoded context of the decision that is being made.
    epoch
        From when the weights of the sums count, as in the state.
    grams, targets
        The sums of s x x' and of s y x, for each arm.
    factors, solved, means
        The lower Cholesky factor L of each A, ``L^-1 b``, and the solution of ``A mu = b``.
    log_determinants
        The logarithm of ``det(A / rho)`` of each A.
    dimensions
        In how many directions each arm's contexts have varied, the intercept counted: see
        :func:`measure_dimension`.
    scratch
        Room for one vector.
    """

    context: Annotated[Floats, Column("feature", derived=True)]
    epoch: Annotated[Integers, Column("one")]
    grams: Annotated[Floats, Column(TABLE, adds_up=True, fades=True)]
    targets: Annotated[Floats, Column(ROW, adds_up=True, fades=True)]
    factors: Annotated[Floats, Column(TABLE, derived=True)]
    solved: Annotated[Floats, Column(ROW, derived=True)]
    means: Annotated[Floats, Column(ROW, derived=True)]
    log_determinants: Annotated[Floats, Column("arm", derived=True)]
    dimensions: Annotated[Floats, Column("arm", derived=True)]
    scratch: Annotated[Floats, Column("feature", derived=True)]


scale_fading = fading_scaler(Regression)


def location(belief: Regression, arm: int, context: Floats) -> float:
    """Return ``x . mu`` of an arm."""
    total = 0.0
    for a in range(context.size):
        total += context[a] * belief.means[arm, a]
    return total


def spread(belief: Regression, arm: int, context: Floats) -> float:
    """Return the standard deviation of ``x . theta``, the root of x' A^-1 x."""
    total = 0.0
    for a in range(context.size):
        value = context[a]
        for b in range(a):
            value -= belief.factors[arm, a, b] * belief.scratch[b]
        value /= belief.factors[arm, a, a]
        belief.scratch[a] = value
        total += value * value
    return math.sqrt(total)


def add_row(belief: Regression, arm: int, context: Floats, weight: float, response: float) -> None:
    """Add a row of a weight to the sums of an arm; ``response`` is already weighted."""
    for a in range(context.size):
        belief.targets[arm, a] += response * context[a]
        for b in range(context.size):
            belief.grams[arm, a, b] += weight * context[a] * context[b]


def update_factor(
    belief: Regression, arm: int, context: Floats, weight: float, response: float
) -> None:
    """Bring the factor of an arm, ``L^-1 b`` and the log-determinant up to date with a new row."""
    size, root = context.size, math.sqrt(weight)
    for a in range(size):
        belief.scratch[a] = root * context[a]
    target, shrunk = response / root if root > 0.0 else 0.0, 1.0
    for a in range(size):
        before, entry = belief.factors[arm, a, a], belief.scratch[a]
        after = math.sqrt(before * before + entry * entry)
        inverse = 1.0 / after
        cosine, sine = before * inverse, entry * inverse
        shrunk *= cosine
        belief.factors[arm, a, a] = after
        known = belief.solved[arm, a]
        belief.solved[arm, a] = cosine * known + sine * target
        target = cosine * target - sine * known
        for b in range(a + 1, size):
            lower, rest = belief.factors[arm, b, a], belief.scratch[b]
            belief.factors[arm, b, a] = cosine * lower + sine * rest
            belief.scratch[b] = cosine * rest - sine * lower
    belief.log_determinants[arm] -= 2.0 * math.log(shrunk)


def solve_mean(belief: Regression, arm: int) -> None:
    """Solve ``L' mu = L^-1 b`` for the mean of an arm."""
    size = belief.context.size
    for k in range(size):
        a = size - 1 - k
        value = belief.solved[arm, a]
        for b in range(a + 1, size):
            value -= belief.factors[arm, b, a] * belief.means[arm, b]
        belief.means[arm, a] = value / belief.factors[arm, a, a]


def refresh(belief: Regression, arm: int, options: StepOptions, now: float) -> None:
    """Compute the factor and the mean of an arm from its sums, which count ``now`` times."""
    belief.log_determinants[arm] = 0.0
    for a in range(belief.context.size):
        for b in range(a + 1):
            value = now * belief.grams[arm, a, b] + (options.ridge if a == b else 0.0)
            for k in range(b):
                value -= belief.factors[arm, a, k] * belief.factors[arm, b, k]
            if a == b:
                # Rounding aside, no pivot is below the prior.
                value = max(value, options.ridge)
                belief.factors[arm, a, a] = math.sqrt(value)
                belief.log_determinants[arm] += math.log(value / options.ridge)
            else:
                belief.factors[arm, a, b] = value / belief.factors[arm, b, b]
        target = now * belief.targets[arm, a]
        for b in range(a):
            target -= belief.factors[arm, a, b] * belief.solved[arm, b]
        belief.solved[arm, a] = target / belief.factors[arm, a, a]
    solve_mean(belief, arm)
    measure_dimension(belief, arm, options.ridge)


def measure_dimension(belief: Regression, arm: int, ridge: float) -> None:
    r"""Compute in how many directions an arm's contexts have varied, between 1 and d.

    .. math:: D_i = \frac{\ln \det (A_i / \rho)}{\ln (A_{i,00} / \rho)}

    where A_00 counts the rewards. With many rewards it is near 1 for contexts that are all alike,
    and near d for independent columns.
    """
    first, whole = belief.factors[arm, 0, 0], belief.log_determinants[arm]
    count = math.log(first * first / ridge)
    belief.dimensions[arm] = whole / count if whole > count > 0.0 else 1.0


def follow_epoch(belief: Regression, epoch: int) -> None:
    """Count the weights of the sums from another epoch, if the state does."""
    if belief.epoch[0] != epoch:
        scale_fading(belief, math.ldexp(1.0, int(belief.epoch[0] - epoch)))
        belief.epoch[0] = epoch


def link(value: float) -> float:
    """Return the reward that a linear value stands for; a belief's own stands in for this one."""
    return value


def row(
    belief: Regression, arm: int, context: Floats, reward: float, weight: float
) -> tuple[float, float]:
    """Return the weight of a reward's row, and its weighted response; stood in for, too."""
    return weight, weight * reward


def draw(
    samples: Floats,
    awake: Integers,
    state: State,
    belief: Regression,
    options: StepOptions,
    rng: Random,
) -> None:
    """Draw a sample of every awake arm, or write its upper bound, if the policy wants either."""
    if not options.sampled:
        return
    for j in range(awake.size):
        samples[j] = 1.0 if options.optimistic else rng.standard_normal()
    given(samples, awake, state, belief, options, rng)


def given(
    samples: Floats,
    awake: Integers,
    state: State,
    belief: Regression,
    options: StepOptions,
    rng: Any,
) -> None:
    """Make samples of standard normal numbers; of ones, upper bounds, of at most 1."""
    now = faded(state, options.half_life)
    follow_epoch(belief, state.epoch[0])
    for j in range(min(samples.size, awake.size)):
        i = awake[j]
        if options.half_life < math.inf:
            refresh(belief, i, options, now)
        scale = 1.0
        if not options.optimistic:
            scale = unit_noise(state, i, now) / math.sqrt(belief.dimensions[i])
        far = options.width * scale * spread(belief, i, belief.context) * samples[j]
        sample = link(location(belief, i, belief.context) + far)
        samples[j] = min(sample, 1.0) if options.optimistic else sample


def learn(
    belief: Regression,
    state: State,
    context: Floats,
    arm: int,
    reward: float,
    weight: float,
    options: StepOptions,
) -> None:
    """Take in the reward of an arm that was played in a context, of a weight in the state."""
    follow_epoch(belief, state.epoch[0])
    slope, response = row(belief, arm, context, reward, weight)
    add_row(belief, arm, context, slope, response)
    if options.half_life == math.inf:
        update_factor(belief, arm, context, slope, response)
        solve_mean(belief, arm)
        measure_dimension(belief, arm, options.ridge)
    else:
        # The next reward may need the mean before a decision does.
        refresh(belief, arm, options, faded(state, options.half_life))


def regression(
    name: str,
    summary: str,
    link: Callable[[float], float],
    row: Callable[..., tuple[float, float]],
    prior: Callable[[float, float], tuple[float, float]],
    noise: Callable[..., float] = unit_noise,
    *,
    adds_up: bool,
    width: float,
) -> Belief:
    """Return a belief that regresses rewards on contexts."""
    # A nested call costs machine code a reference count for every array that it passes.
    taking = learn
    for step in (follow_epoch, add_row, update_factor, solve_mean, measure_dimension):
        taking = inlined(taking, step.__name__, step)
    own = interpreted(given, link=link, unit_noise=noise)
    return Belief(
        name,
        summary,
        statistics=Regression,
        draw=interpreted(draw, given=own),
        given=own,
        learn=inlined(taking, "row", row),
        refresh=refresh,
        value=link,
        prior=prior,
        adds_up=adds_up,
        width=width,
        noise=noise,
    )
