"""How the samples of many arms are distributed: quantiles and survival functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats, Masks
from evenhand.core.extras import load

Survival: TypeAlias = Callable[[Floats], Floats]
NODES = 96
OUTSIDE = 1e-9
# Beyond so many standard deviations lies next to nothing.
FARTHEST = 6.5
TINY = 1e-300


class Betas(NamedTuple):
    """Samples that are Beta-distributed."""

    alphas: Floats
    betas: Floats

    def take(self, where: Any) -> Betas:
        """Return the distributions of some arms."""
        return Betas(self.alphas[where], self.betas[where])

    def mirrored(self, where: Masks) -> Betas:
        """Return the distributions of 1 - theta where that is wanted."""
        first = np.where(where, self.betas, self.alphas)
        return Betas(first, np.where(where, self.alphas, self.betas))

    def ends(self) -> tuple[Floats, Floats]:
        """Return between what values next to all of each distribution lies."""
        special = load("scipy.special")
        inverses = special.betaincinv, special.betainccinv
        low, high = (inverse(self.alphas, self.betas, OUTSIDE) for inverse in inverses)
        return low, high

    def survival(self) -> Survival:
        """Return the function of each distribution's mass beyond points in [0, 1]."""
        return Tails(self.alphas, self.betas).beyond


class Normals(NamedTuple):
    """Samples that are normally distributed; within the range that matters, scaled to [0, 1]."""

    means: Floats
    deviations: Floats

    def take(self, where: Any) -> Normals:
        """Return the distributions of some arms."""
        return Normals(self.means[where], self.deviations[where])

    def mirrored(self, where: Masks) -> Normals:
        """Return the distributions as they are: they are symmetric."""
        return self

    def ends(self) -> tuple[Floats, Floats]:
        """Return between what values next to all of each distribution lies."""
        return np.zeros(self.means.size), np.ones(self.means.size)

    def survival(self) -> Survival:
        """Return the function of each distribution's mass beyond points in [0, 1]."""
        normal = load("scipy.special").ndtr
        return lambda points: normal(FARTHEST - 2.0 * FARTHEST * points)


class LogisticNormals(NamedTuple):
    """Samples whose log-odds are normally distributed."""

    means: Floats
    deviations: Floats

    def take(self, where: Any) -> LogisticNormals:
        """Return the distributions of some arms."""
        return LogisticNormals(self.means[where], self.deviations[where])

    def mirrored(self, where: Masks) -> LogisticNormals:
        """Return the distributions of 1 - theta where that is wanted."""
        return self._replace(means=np.where(where, -self.means, self.means))

    def ends(self) -> tuple[Floats, Floats]:
        """Return between what values next to all of each distribution lies."""
        far, expit = FARTHEST * self.deviations, load("scipy.special").expit
        return expit(self.means - far), expit(self.means + far)

    def survival(self) -> Survival:
        """Return the function of each distribution's mass beyond points in [0, 1]."""
        special, wide = load("scipy.special"), np.maximum(self.deviations, TINY)

        def beyond(points: Floats) -> Floats:
            logits = special.logit(np.clip(points, 0.0, 1.0))
            found: Floats = special.ndtr((self.means - logits) / wide)
            return found

        return beyond


class Tails:
    """Survival functions of many Beta distributions, interpolated.

    Cubic between nodes at which value and density are exact; the nodes lie where the mass is,
    closest to each other at both ends, where a density may rise steeply.
    """

    def __init__(self, alphas: Floats, betas: Floats) -> None:
        special = load("scipy.special")
        self._low = special.betaincinv(alphas, betas, OUTSIDE)
        self._span = special.betainccinv(alphas, betas, OUTSIDE) - self._low
        angles = np.cos(np.pi * np.arange(NODES + 1) / NODES)
        self._nodes = self._low + self._span * (1.0 - angles[:, None]) / 2.0
        self._values = special.betaincc(alphas, betas, self._nodes)
        powers = special.xlogy(alphas - 1.0, self._nodes)
        powers += special.xlog1py(betas - 1.0, -self._nodes)
        self._densities = np.exp(powers - special.betaln(alphas, betas))
        # The densities at the very ends say little about the steep rise beside them.
        slopes = -np.diff(self._values, axis=0) / np.diff(self._nodes, axis=0)
        self._densities[0], self._densities[-1] = slopes[0], slopes[-1]

    def beyond(self, points: Floats) -> Floats:
        """Return each distribution's (column's) mass beyond the points in its column."""
        shares = np.clip((points - self._low) / self._span, 0.0, 1.0)
        at = (np.arccos(1.0 - 2.0 * shares) * (NODES / np.pi)).astype(np.int64)
        at = np.minimum(at, NODES - 1)
        columns = np.arange(self._low.size)
        left, right = self._nodes[at, columns], self._nodes[at + 1, columns]
        step = right - left
        part = np.clip((self._low + self._span * shares - left) / step, 0.0, 1.0)
        before, after = self._values[at, columns], self._values[at + 1, columns]
        falls = -step * self._densities[at, columns], -step * self._densities[at + 1, columns]
        curve = part * part * (3.0 - 2.0 * part)
        found: Floats = before + (after - before) * curve
        found += part * (1.0 - part) * ((1.0 - part) * falls[0] - part * falls[1])
        return np.clip(found, 0.0, 1.0)


Distributions: TypeAlias = Betas | Normals | LogisticNormals
