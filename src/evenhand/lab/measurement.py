"""Measured numbers, and the bounds that decide claims about them."""

from __future__ import annotations

import math
from typing import NamedTuple

HOLDS = "holds"
OTHER_FORM = "holds only with the other debt form"
UNDECIDED = "undecided"
FAILS = "does not hold"


class Measurement(NamedTuple):
    """A measured number with half the width of its 95% interval (0 if it is exact)."""

    words: str
    value: float
    margin: float = 0.0

    @property
    def number(self) -> str:
        """The number alone.

        >>> Measurement("x", 0.03, 0.001).number, Measurement("x", 28356.0).number
        ('0.03000 ± 0.00100', '28,356')
        """
        if self.margin:
            return f"{self.value:.5f} ± {self.margin:.5f}"
        return f"{self.value:,.0f}" if abs(self.value) >= 1_000 else f"{self.value:.7g}"

    def __str__(self) -> str:
        return f"{self.words} {self.number}"


class Bound(NamedTuple):
    """Where a number must be for a claim to hold: between two others, or beyond one.

    >>> str(Bound(0.02, 0.04)), str(Bound(low=0)), str(Bound(high=0.005))
    ('in [0.02, 0.04]', 'above 0', 'below 0.005')
    """

    low: float = -math.inf
    high: float = math.inf

    def __str__(self) -> str:
        if self.low == self.high:
            return f"exactly {self.low:,.10g}"
        if math.isinf(self.high):
            return f"above {self.low:g}"
        if math.isinf(self.low):
            return f"below {self.high:g}"
        return f"in [{self.low:.10g}, {self.high:.10g}]"

    def decide(self, measurement: Measurement) -> str:
        """Say whether a number is inside: undecided if its interval reaches across an end.

        >>> Bound(low=0).decide(Measurement("x", 0.1, 0.2))
        'undecided'
        """
        value, margin = measurement.value, measurement.margin
        if self._room(value - margin) and self._room(value + margin):
            return HOLDS
        apart = value + margin < self.low or value - margin > self.high
        return FAILS if apart or not margin else UNDECIDED

    def slack(self, measurement: Measurement) -> float:
        """Return how far inside a number is; negative if it is outside."""
        return min(measurement.value - self.low, self.high - measurement.value)

    def _room(self, value: float) -> bool:
        """Say whether a number is inside; an end belongs to a bound only if there are two."""
        if math.isinf(self.low) or math.isinf(self.high):
            return self.low < value < self.high
        return self.low <= value <= self.high
