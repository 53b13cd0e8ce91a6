"""Figures of every moment of a run, not only of its end: their settings and results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import Limits, check_number, check_whole, fail
from evenhand.results.promises import PromiseMoments

LONGEST_BURN_IN = 1_000
PART = 10


class AnytimeSettings(NamedTuple):
    """What the figures of one horizon are measured against."""

    burn_in: int
    tolerance: float
    window: int


@dataclass(frozen=True, kw_only=True)
class Anytime:
    """How the figures of every moment are measured.

    Parameters
    ----------
    burn_in
        After how many rounds ``largest_debt_after`` begins; by default 1,000 or a tenth of the
        horizon, whichever is less.
    tolerance
        By more than how many plays an arm is *behind*.
    window
        How many rounds the window has in which a floor is missed worst; a tenth of the horizon by
        default.

    Examples
    --------
    >>> Anytime().settings_for(20_000)
    AnytimeSettings(burn_in=1000, tolerance=3.0, window=2000)
    >>> Anytime(window=100, tolerance=1).settings_for(500)
    AnytimeSettings(burn_in=50, tolerance=1.0, window=100)
    """

    burn_in: int | None = None
    tolerance: float = 3.0
    window: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("burn_in", 0), ("window", 1)):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, check_whole(name, given, least=least))
        tolerance = check_number("tolerance", self.tolerance, Limits(0.0))
        object.__setattr__(self, "tolerance", tolerance)

    def settings_for(self, horizon: int) -> AnytimeSettings:
        """Return what figures of a horizon are measured against."""
        burn_in = min(LONGEST_BURN_IN, horizon // PART) if self.burn_in is None else self.burn_in
        window = max(horizon // PART, 1) if self.window is None else self.window
        if burn_in >= horizon:
            fail("burn_in", f"below the horizon, {horizon}", burn_in)
        if window > horizon:
            fail("window", f"at most the horizon, {horizon}", window)
        return AnytimeSettings(burn_in, self.tolerance, window)


# The default settings.
USUAL = Anytime()


def check_anytime(given: object) -> Anytime:
    """Return the settings, or raise InputError."""
    if not isinstance(given, Anytime):
        fail("anytime", "an Anytime", given)
    return given


class Moments(NamedTuple):
    """What was kept of every moment of a run, or of many.

    Attributes
    ----------
    behind
        In how many rounds so far some arm was behind, at each kept round.
    largest_debts, largest_debts_after
        The most plays that each arm was ever behind, and after the burn-in.
    longest_gaps
        The most rounds from one play of each arm to the next.
    window_shortfalls
        Each arm's worst shortfall in a window.
    """

    behind: Integers
    largest_debts: Floats
    largest_debts_after: Floats
    longest_gaps: Integers
    window_shortfalls: Floats


# What a run leaves: totals and tallies, and what was kept of every moment.
RUN_LISTS = ("expected", "realised", "played", "estimates")
RUN_COLUMNS = (*RUN_LISTS, *Moments._fields, *PromiseMoments._fields)
# Those of them with one number for each arm.
BY_ARM = Moments._fields[1:]


class AnytimeFigures(NamedTuple):
    r"""How a policy stood at every moment; means over replications.

    Attributes
    ----------
    largest_debt, largest_debt_after
        The most plays that any arm was ever behind, max over i and t of
        :math:`t k_i - \text{played}_i(t)`, and from round ``burn_in`` + 1 on. At least 0.
    burn_in
        After how many rounds the second begins.
    share_behind
        The share of rounds after which some arm was more than ``tolerance`` plays behind.
    tolerance
        By more than how many plays an arm is behind.
    longest_gap
        Of each arm, the most rounds from one play to the next. The start counts as a play, and the
        rounds since the last play count, so that an arm that was never played has the horizon.
    worst_window_shortfall
        The worst shortfall of any arm in any ``window`` rounds on end: floor minus rate played. Of
        windows longer than 1,000 rounds, those that begin every so many rounds, about 1,000 of them
        at any time.
    window
        How many rounds a window has.
    """

    largest_debt: float
    largest_debt_after: float
    burn_in: int
    share_behind: float
    tolerance: float
    longest_gap: dict[str, float]
    worst_window_shortfall: float
    window: int
