r"""The probability that each arm is among the best, by integration, not by sampling.

Scores that are ``offset_i + slope_i theta_i`` with independent samples theta_i: arm i is among
the best m if fewer than m of the others score higher,

.. math:: P_i = \int P(\#\{j \ne i : \text{score}_j > x\} < m) \, dF_i(x).

The count of the others above x is Poisson-binomial. The integral runs over a grid that is refined
until the expected number of scores above x changes little from point to point, wherever places are
contested; elsewhere the integrand is 0 or 1.

Systematic sampling (Madow 1949) gives each arm exactly its chance, with one random number for all
of them: lay the probabilities end to end and walk along them in steps of 1 from a random start in
[0, 1); the arms that are stepped on are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Masks
from evenhand.core.extras import load
from evenhand.policies.distributions import FARTHEST, Distributions, Normals, Survival

STEP = 0.05
MANY_ENDS = 128
SURE = 16.0
NARROW = 1e-10
TINY = 1e-300
HUGE = 1e290
DEEPEST = 60
CELLS = 4_000_000
SEEDS = 20_000
# More arms have too many draws to go through them all.
MANY_ARMS = 100


class Lines(NamedTuple):
    """Scores as lines: ``offset + slope theta``, in tiers of which the higher always wins."""

    tiers: Floats
    offsets: Floats
    slopes: Floats


def best_of_lines(lines: Lines, samples: Distributions, plays: int, empty: int = 0) -> Floats:
    """Return each arm's probability to be among the best ``plays``.

    ``empty`` are plays that may stay empty: an arm must score at least 0 to have one of those.

    >>> from evenhand.policies.distributions import Betas
    >>> lines = Lines(np.zeros(2), np.array([0.0, 0.0]), np.ones(2))
    >>> best_of_lines(lines, Betas(np.ones(2), np.ones(2)), 1).round(6)
    array([0.5, 0.5])
    >>> best_of_lines(lines, Normals(np.array([0.0, 1.0]), np.ones(2)), 1).round(4)
    array([0.2398, 0.7602])
    """
    arms, left = lines.tiers.size, plays
    if isinstance(samples, Normals):
        lines = _in_range(lines, samples)
    if empty:
        # Above a tier of its own nobody gets to choose: all of them are in one.
        flat = Lines(np.zeros(empty), np.full(empty, -NARROW), np.zeros(empty))
        lines = Lines(*(np.concatenate(pair) for pair in zip(lines, flat, strict=True)))
        samples = samples.take(np.concatenate([np.arange(arms), np.zeros(empty, dtype=np.int64)]))
    result = np.zeros(lines.tiers.size)
    for tier in np.unique(lines.tiers)[::-1]:
        here = np.flatnonzero(lines.tiers == tier)
        if here.size <= left:
            result[here] = 1.0
        elif left > 0:
            result[here] = _best(lines.offsets[here], lines.slopes[here], samples.take(here), left)
        left -= min(here.size, left)
    return result[:arms]


def _in_range(lines: Lines, samples: Normals) -> Lines:
    """Return lines of samples in [0, 1], which stands for the range in which next to all lie."""
    far = FARTHEST * samples.deviations
    offsets = lines.offsets + lines.slopes * (samples.means - far)
    return lines._replace(offsets=offsets, slopes=lines.slopes * 2.0 * far)


def best_of_numbers(scores: Floats, plays: int, empty: int = 0) -> Floats:
    """Return each arm's chance if scores are what they are: 0 or 1, or its share of the last ties.

    ``empty`` are plays that may stay empty, see :func:`best_of_lines`.

    >>> best_of_numbers(np.array([0.5, 0.9, 0.5]), 2)
    array([0.5, 1. , 0.5])
    >>> best_of_numbers(np.array([0.5, -0.1]), 2, empty=2)
    array([1., 0.])
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    if empty:
        padded = np.concatenate([known, np.full(empty, -TINY)])
        return best_of_numbers(padded, plays)[: scores.size]
    last = np.partition(known, -plays, axis=-1)[..., -plays, None]
    above, ties = known > last, known == last
    slots = plays - above.sum(axis=-1, keepdims=True)
    return np.where(above, 1.0, np.where(ties, slots / ties.sum(axis=-1, keepdims=True), 0.0))


def best_of_one_seed(offsets: Floats, slopes: Floats, plays: int) -> Floats:
    """Return each arm's chance if one standard normal z moves all scores ``offset + slope z``.

    >>> best_of_one_seed(np.array([0.0, 0.0]), np.array([1.0, -1.0]), 1)
    array([0.5, 0.5])
    """
    seeds = load("scipy.special").ndtri((np.arange(SEEDS) + 0.5) / SEEDS)
    result = np.zeros(offsets.size)
    for some in np.array_split(seeds, 1 + SEEDS * offsets.size // CELLS):
        result += best_of_numbers(offsets + slopes * some[:, None], plays).sum(axis=0)
    return result / SEEDS


def _best(offsets: Floats, slopes: Floats, samples: Distributions, plays: int) -> Floats:
    """Set aside whose place is as good as certain; integrate over the rest, on its own scale."""
    if offsets.size <= plays:
        return np.ones(offsets.size)
    offsets = np.clip(offsets, -HUGE, HUGE)
    ends = [offsets + slopes * end for end in samples.ends()]
    low, high = np.minimum(*ends), np.maximum(*ends)
    may_pass = offsets.size - np.searchsorted(np.sort(high), low, side="left") - 1
    sure = may_pass < plays
    contested = ~sure & (offsets.size - np.searchsorted(np.sort(low), high, "right") < plays)
    if contested.all():
        return _integrated(offsets, slopes, samples, plays)
    result: Floats = sure.astype(np.float64)
    result[contested] = _best(
        offsets[contested],
        slopes[contested],
        samples.take(contested),
        plays - int(sure.sum()),
    )
    return result


def _integrated(offsets: Floats, slopes: Floats, samples: Distributions, plays: int) -> Floats:
    """Integrate the chance of a free place over each arm's distribution."""
    # Far from 0 there would be no numbers between scores that lie next to each other.
    offsets = offsets - offsets.max()
    down = slopes < 0.0
    low = np.where(down, offsets + slopes, offsets)
    scale = float(np.ptp(np.concatenate([low, low + np.abs(slopes)]))) or 1.0
    # A score without spread is spread evenly over next to nothing: ties break at random.
    flat = np.abs(slopes) < NARROW * scale
    width = np.where(flat, NARROW * scale, np.abs(slopes))
    survival = samples.mirrored(down).survival()

    def above(points: Floats) -> Floats:
        """Return the chance of each arm (column) to score above each point (row)."""
        parts = (points[:, None] - low) / width
        return np.where(flat, np.clip(1.0 - parts, 0.0, 1.0), survival(parts))

    ends = np.unique(np.concatenate([low, low + width]))
    # Densities may jump at their ends: points there keep the integrand smooth in between.
    inner = ends if ends.size <= MANY_ENDS else ends[[0, -1]]
    points = np.unique(np.concatenate([np.linspace(ends[0], ends[-1], 33), inner]))
    survivals = _refined(above, points, plays)
    fine, coarse = survivals[-1].copy(), survivals[-1].copy()
    rows = 1 + 2 * max(1, CELLS // (2 * offsets.size * plays))
    for begin in range(0, len(survivals) - 1, rows - 1):
        part = survivals[begin : begin + rows]
        free = _places_left(part, plays)
        fine += _trapezoids(free, part)
        coarse += _trapezoids(free[::2], part[::2])
    # Halving every step takes the error to a quarter: so the rest of it is known.
    bounded: Floats = np.clip((4.0 * fine - coarse) / 3.0, 0.0, 1.0)
    return bounded


def _trapezoids(free: Floats, survivals: Floats) -> Floats:
    """Return the integral of the chance of a free place over each arm's distribution."""
    total: Floats = ((free[1:] + free[:-1]) / 2 * -np.diff(survivals, axis=0)).sum(axis=0)
    return total


def _refined(above: Survival, points: Floats, plays: int) -> Floats:
    """Return the survival of all arms on a grid that is fine wherever places are contested."""
    survivals = above(points)
    many = plays + SURE + np.sqrt(2.0 * SURE * (plays + SURE))
    few = plays * np.exp(-1.0 - SURE / plays)
    step = STEP * np.sqrt(plays)
    for _ in range(DEEPEST):
        expected = survivals.sum(axis=1)
        wide = (expected[:-1] - expected[1:] > step) & (expected[1:] < many) & (expected[:-1] > few)
        if not wide.any():
            break
        at = np.flatnonzero(wide) + 1
        between = (points[at - 1] + points[at]) / 2
        points = np.insert(points, at, between)
        survivals = np.insert(survivals, at, above(between), axis=0)
    halves = np.arange(1, points.size)
    return np.insert(survivals, halves, above((points[1:] + points[:-1]) / 2), axis=0)


def _places_left(survivals: Floats, plays: int) -> Floats:
    """Return, by point and arm, the chance that fewer than ``plays`` of the others are above."""
    points, arms = survivals.shape
    counts = np.zeros((points, plays))
    counts[:, 0] = 1.0
    before = np.empty((arms, points, plays))
    for i in range(arms):
        before[i] = counts
        counts = _with_arm(counts, survivals[:, i])
    free = np.empty((points, arms))
    counts = np.zeros((points, plays))
    counts[:, 0] = 1.0
    for i in range(arms - 1, -1, -1):
        at_most = np.cumsum(counts, axis=1)[:, ::-1]
        free[:, i] = (before[i] * at_most).sum(axis=1)
        counts = _with_arm(counts, survivals[:, i])
    return free


def _with_arm(counts: Floats, chance: Floats) -> Floats:
    """Return the distribution of a count, cut off at its end, with one more arm in it."""
    grown = counts * (1.0 - chance)[:, None]
    grown[:, 1:] += counts[:, :-1] * chance[:, None]
    return grown


def stepped_on(before: float, after: float, start: float) -> bool:
    """Say whether the part of the way from ``before`` to ``after`` is stepped on.

    >>> stepped_on(0.0, 0.4, start=0.3), stepped_on(0.4, 1.0, start=0.3)
    (True, False)
    """
    return math.ceil(after - start) > math.ceil(before - start)


def draws(inclusion: Floats) -> Iterator[tuple[float, Masks]]:
    """Yield all that may be drawn: with what chance, and which arms.

    >>> [(round(chance, 2), drawn.tolist()) for chance, drawn in draws(np.array([0.4, 0.6]))]
    [(0.4, [True, False]), (0.6, [False, True])]
    """
    ends = np.cumsum(inclusion)
    starts = ends - inclusion
    corners = np.unique(np.concatenate([[0.0, 1.0], ends % 1.0]))
    for low, high in pairwise(corners.tolist()):
        middle = 0.5 * (low + high)
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        yield high - low, np.array([stepped_on(a, b, middle) for a, b in pairs])


def best_of_draws(
    inclusion: Floats, awake: Masks, weights: Floats, samples: Distributions, plays: int
) -> Floats | None:
    """Return with what chance each awake arm is played if those drawn come before all others.

    Among those drawn, and among the others, weighted samples decide. ``inclusion`` are of all arms,
    the rest of the awake ones. None where there are too many arms to go through all draws.
    """
    if inclusion.size > MANY_ARMS:
        return None
    found = np.zeros(weights.size)
    for chance, drawn in draws(inclusion):
        lines = Lines(drawn[awake].astype(np.float64), np.zeros(weights.size), weights)
        found += chance * best_of_lines(lines, samples, plays)
    return found
