"""The shape of a belief: arrays of its own, and the plain functions that draw and learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evenhand.core.round import StepOptions, draw_samples, given_samples
from evenhand.core.schema import new
from evenhand.core.state import NoStatistics, State


def unit_noise(state: State, arm: int, now: float) -> float:
    """Return 1: the sums of a belief are already in units of its noise."""
    return 1.0


@dataclass(frozen=True)
class Belief:
    """What is known of the rewards of every arm, and how it is learned.

    The functions are plain Python on scalars and arrays: they are interpreted and compiled, and
    give the same bits.

    Attributes
    ----------
    name, summary
        What it is called, and what it assumes.
    statistics
        The arrays it has beside the state, declared as :mod:`evenhand.core.schema` describes.
    draw
        ``draw(samples, awake, state, belief, options, rng)`` writes a sample of every awake arm.
    given
        Does the same with standard normal numbers that stand in ``samples`` already.
    learn
        ``learn(belief, state, context, arm, reward, weight, options)`` takes in a reward.
    prior
        ``prior(mean, count)``: the weight and the weighted response of rewards known before.
    value
        The reward that a linear value stands for.
    refresh
        ``refresh(belief, arm, options, now)`` computes what is derived of one arm's sums.
    adds_up
        Whether the statistics are sums over feedback, in any order.
    width
        The default of a policy's ``width``, which scales samples.
    noise
        ``noise(state, arm, now)``: the standard deviation of a row's response around its mean.
    """

    name: str
    summary: str
    statistics: type[Any] = NoStatistics
    draw: Callable[..., None] = draw_samples
    given: Callable[..., None] = given_samples
    learn: Callable[..., None] | None = None
    refresh: Callable[..., None] | None = None
    value: Callable[[float], float] = float
    prior: Callable[[float, float], tuple[float, float]] | None = None
    adds_up: bool = True
    width: float = 1.0
    noise: Callable[..., float] = unit_noise

    @property
    def regresses(self) -> bool:
        """Whether it looks at contexts."""
        return self.learn is not None

    def start(self, arms: int, features: int) -> Any:
        """Return its arrays before the first reward, without priors."""
        return NoStatistics() if not self.regresses else new(self.statistics, arms, features)

    def add_prior(self, belief: Any, arm: int, mean: float, count: float) -> None:
        """Add what is known of an arm before the first reward, to its intercept."""
        if self.prior is not None:
            weight, response = self.prior(mean, count)
            belief.grams[arm, 0, 0] += weight
            belief.targets[arm, 0] += response

    def refresh_all(self, belief: Any, options: StepOptions, now: float) -> None:
        """Compute all that is derived of the sums, which count ``now`` times."""
        if self.refresh is not None:
            for arm in range(len(belief.means)):
                self.refresh(belief, arm, options, now)
