"""What simulations leave behind, and what it says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import check_known, check_whole
from evenhand.errors import InputError
from evenhand.promise_rows import AT_LEAST, AT_MOST
from evenhand.results._files import (
    arms_table,
    promises_table,
    read_results,
    rounds_table,
    write_results,
)
from evenhand.results.anytime import RUN_LISTS, AnytimeFigures, AnytimeSettings, Moments
from evenhand.results.promises import (
    NO_ROWS,
    NOTHING_KEPT,
    PromiseFigures,
    PromiseMoments,
    RowFacts,
    promise_figures,
)

if TYPE_CHECKING:
    import polars

_ROUNDING = 1e-12
Kind = TypeVar("Kind", Moments, PromiseMoments)
_BULK = 0.95


class Estimate(NamedTuple):
    """A mean over replications with its standard error, which is NaN for a single one."""

    mean: float
    standard_error: float


class WorstShortfall(NamedTuple):
    """The largest shortfall of any arm: its mean, and what 95% of the replications stay within.

    Most replications lack next to nothing and a few lack more, so that an interval of the mean
    would not cover it; a quantile says what it says of any distribution.
    """

    mean: float
    bulk: float


class Curve(NamedTuple):
    """A mean over replications at each kept round, with a 95% interval."""

    rounds: Integers
    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Results:
    """Totals of every policy and replication at the checkpoints, and each arm's final tally.

    Attributes
    ----------
    arms, floors, means
        Names, floors and true means of the arms.
    labels, policies
        One label per policy of the comparison, and the policies' registered names.
    rounds
        The rounds at which totals were kept; the last one is the horizon.
    expected, realised
        Weighted reward so far (policy x replication x kept round): the chosen arms' means added
        up, and the rewards that came.
    played, estimates
        Rounds played and estimated mean at the end (policy x replication x arm).
    with_floors, without_floors
        Rewards per round of the optimum, Opt-F (None if the floors are infeasible) and Opt-NF.
    seconds
        Time taken, compilation not counted.
    provenance
        Settings, seed, versions and commit.
    optimum_error
        The standard error of Opt-F, where it was computed on a sample of contexts; else 0.
    optima
        Opt-F per round up to each kept round, in a world that changes; None in one that does not.
    moments, marks
        What was kept of every moment (policy x replication first), and what it is measured against.
    rows, kept
        The sides of promises beyond floors, and what was kept of each of them.
    """

    arms: tuple[str, ...]
    floors: Floats
    means: Floats
    labels: tuple[str, ...]
    policies: tuple[str, ...]
    rounds: Integers
    expected: Floats
    realised: Floats
    played: Integers
    estimates: Floats
    with_floors: float | None
    without_floors: float
    seconds: float
    provenance: Mapping[str, Any]
    moments: Moments
    marks: AnytimeSettings
    optima: Floats | None = None
    optimum_error: float = 0.0
    rows: RowFacts = NO_ROWS
    kept: PromiseMoments = NOTHING_KEPT

    @classmethod
    def of_columns(cls, columns: Mapping[str, NDArray[Any]], **facts: Any) -> Results:
        """Return results of the columns that a run leaves, :data:`RUN_COLUMNS`, and their facts.

        A column has policies first, then replications.
        """
        moments = Moments(*(columns[name] for name in Moments._fields))
        lists: dict[str, Any] = {name: columns[name] for name in RUN_LISTS}
        kept = PromiseMoments(*(columns[name] for name in PromiseMoments._fields))
        return cls(**lists, moments=moments, kept=kept, **facts)

    @property
    def horizon(self) -> int:
        """The number of rounds."""
        return int(self.rounds[-1])

    @property
    def replications(self) -> int:
        """The number of replications."""
        return int(self.expected.shape[1])

    @property
    def rounds_per_second(self) -> float:
        """Rounds of all policies and replications per second."""
        return len(self.labels) * self.replications * self.horizon / max(self.seconds, 1e-9)

    def reward(self, label: str) -> Estimate:
        """Return the expected weighted reward per round, averaged over replications."""
        per_round = self.expected[self._index(label), :, -1] / self.horizon
        return Estimate(float(per_round.mean()), float(_standard_error(per_round)))

    def margin(self, label: str) -> float:
        """Return half the width of Student's 95% interval around :meth:`reward`."""
        return self.reward(label).standard_error * self.quantile()

    def regret(self, label: str, optimum: float | Floats | None = None) -> Curve:
        r"""Return the time-averaged regret with a 95% interval, against Opt-F by default.

        .. math:: R(t) = \text{optimum} - \frac{1}{t} \sum_{\tau \le t} \sum_{i \in A(\tau)} w_i u_i

        It may be negative and is never clipped. The interval is Student's, and takes the standard
        error of Opt-F into account, if it has one.
        """
        best = self._optimum() if optimum is None else optimum
        error = self.optimum_error if optimum is None else 0.0
        return self._curve(best - self.expected[self._index(label)] / self.rounds, error)

    def recent_regret(self, label: str, window: int) -> Curve:
        r"""Return the regret per round over the latest ``window`` rounds, with a 95% interval.

        .. math:: \frac{t R(t) - s R(s)}{t - s}, \qquad s = \max(t - \text{window}, 0)

        Between kept rounds totals are taken to grow evenly.
        """
        check_whole("window", window, least=1)
        lost = self._optimum() * self.rounds - self.expected[self._index(label)]
        before = np.maximum(self.rounds - window, 0)
        known = np.concatenate([[0], self.rounds])
        earlier = [np.interp(before, known, np.concatenate([[0.0], row])) for row in lost]
        recent = (lost - np.array(earlier)) / (self.rounds - before)
        return self._curve(recent, self.optimum_error)

    def rates(self, label: str) -> dict[str, float]:
        """Return the fraction of rounds in which each arm was played."""
        return self._by_arm(self.all_rates()[self._index(label)])

    def shortfall(self, label: str) -> dict[str, float]:
        """Return ``max(0, floor - rate)`` of each arm, averaged over replications."""
        return self._by_arm(self.all_shortfalls()[self._index(label)])

    def promises(self, label: str) -> dict[str, PromiseFigures]:
        """Return what became of each promise beyond floors: rate, shortfall and excess."""
        return promise_figures(self.rows, self._kept(label), self.horizon)

    def worst_shortfall(self, label: str) -> WorstShortfall:
        """Return the largest shortfall of any floor or other lower bound, over replications.

        A promise of reward counts in reward a round, the others in plays a round.
        """
        lower = self._misses(label)[:, self.rows.side(AT_LEAST)]
        return _worst_of(np.hstack([self.all_shortfalls()[self._index(label)], lower]))

    def worst_excess(self, label: str) -> WorstShortfall:
        """Return by how much any upper bound was exceeded at most, over replications."""
        return _worst_of(self._misses(label)[:, self.rows.side(AT_MOST)])

    def worst_miss(self, label: str) -> WorstShortfall:
        """Return by how much any promise was missed at most, on either side."""
        shortfalls = self.all_shortfalls()[self._index(label)]
        return _worst_of(np.hstack([shortfalls, self._misses(label)]))

    def all_kept(self, label: str) -> float:
        """Return the share of replications in which no promise lacks more than one play.

        Of a promise of reward, one unit of reward.
        """
        floors = self.floors * self.horizon - self.played[self._index(label)]
        missing = np.hstack([floors, self._misses(label) * self.horizon])
        return float((missing.max(axis=1) <= 1.0 + _ROUNDING * self.horizon).mean())

    def _kept(self, label: str) -> PromiseMoments:
        """Return what was kept of the promises of one policy."""
        index = self._index(label)
        return PromiseMoments(*(part[index] for part in self.kept))

    def _misses(self, label: str) -> Floats:
        """Return by how much each side of a promise was missed, by replication."""
        if not self.rows.names:
            return np.empty((len(self.played[self._index(label)]), 0))
        return self.rows.misses(self._kept(label).amounts, self.horizon)

    def anytime(self, label: str) -> AnytimeFigures:
        """Return how a policy stood at every moment, not only at the end."""
        index, moments, marks = self._index(label), self.moments, self.marks
        share = moments.behind[index, :, -1] / self.horizon
        return AnytimeFigures(
            largest_debt=_worst(moments.largest_debts[index]),
            largest_debt_after=_worst(moments.largest_debts_after[index]),
            burn_in=marks.burn_in,
            share_behind=float(share.mean()),
            tolerance=marks.tolerance,
            longest_gap=self._by_arm(moments.longest_gaps[index]),
            worst_window_shortfall=_worst(self._window_misses(index)),
            window=marks.window,
        )

    def _window_misses(self, index: int) -> Floats:
        """Return by how much floors and other promises were missed in the worst window."""
        floors = self.moments.window_shortfalls[index]
        return np.hstack([floors, self.kept.window_misses[index]]) if self.rows.names else floors

    def mean_estimates(self, label: str) -> dict[str, float]:
        """Return each arm's estimated mean at the end."""
        return self._by_arm(self.estimates[self._index(label)])

    @classmethod
    def stacked(cls, parts: Sequence[Results]) -> Results:
        """Return replications of the same comparison as one, in the order given."""
        first = parts[0]
        return replace(
            first,
            expected=np.concatenate([part.expected for part in parts], axis=1),
            realised=np.concatenate([part.realised for part in parts], axis=1),
            played=np.concatenate([part.played for part in parts], axis=1),
            estimates=np.concatenate([part.estimates for part in parts], axis=1),
            moments=_joined([part.moments for part in parts]),
            kept=_joined([part.kept for part in parts]) if first.rows.names else first.kept,
            seconds=sum(part.seconds for part in parts),
        )

    def rounds_table(self) -> polars.DataFrame:
        """Return the long table of totals: one line per policy, replication and kept round."""
        return rounds_table(self)

    def arms_table(self) -> polars.DataFrame:
        """Return the table of tallies: one line per policy, replication and arm."""
        return arms_table(self)

    def promises_table(self) -> polars.DataFrame:
        """Return one line per policy, replication and side of a promise beyond floors."""
        return promises_table(self)

    def save(self, folder: Path | str, *, overwrite: bool = False) -> None:
        """Write all tables as Parquet and their provenance as JSON, all of them or none.

        Each file carries a checksum, and the provenance those of the tables.
        """
        write_results(self, Path(folder), overwrite=overwrite)

    @classmethod
    def load(cls, folder: Path | str) -> Results:
        """Read what :meth:`save` wrote; files that are damaged or not of one set are refused."""
        return cls(**read_results(Path(folder)))

    def quantile(self) -> float:
        """Return Student's factor between a standard error and a 95% margin."""
        # Half of the time it takes to load all of this: not before it is needed.
        student = import_module("scipy.special").stdtrit
        return float(student(max(self.replications - 1, 1), 0.975))

    def _optimum(self) -> float | Floats:
        """Return what regret is against: one number, or one for each kept round."""
        if self.with_floors is None:
            raise InputError("regret must have an optimum to be against: floors are infeasible")
        return self.with_floors if self.optima is None else self.optima

    def _curve(self, rows: Floats, error: float = 0.0) -> Curve:
        """Return the mean over replications with Student's interval, for each kept round."""
        mean, spread = rows.mean(axis=0), np.hypot(_standard_error(rows), error) * self.quantile()
        return Curve(self.rounds, mean, mean - spread, mean + spread)

    def _index(self, label: str) -> int:
        check_known("policy label", [label], self.labels)
        return self.labels.index(label)

    def _by_arm(self, values: Floats) -> dict[str, float]:
        return dict(zip(self.arms, values.mean(axis=0).tolist(), strict=True))

    def all_rates(self) -> Floats:
        """Return the fraction of rounds in which each arm was played, by policy and replication."""
        rates: Floats = self.played / self.horizon
        return rates

    def all_shortfalls(self) -> Floats:
        """Return each arm's shortfall, by policy and replication."""
        return np.maximum(self.floors - self.all_rates(), 0.0)


def _worst(by_arm: Floats) -> float:
    """Return the mean over replications of the worst arm's."""
    return float(by_arm.max(axis=1).mean())


def _worst_of(misses: Floats) -> WorstShortfall:
    """Return the mean and the bulk over replications of the worst; 0 of nothing."""
    worst = misses.max(axis=1, initial=0.0)
    return WorstShortfall(float(worst.mean()), float(np.quantile(worst, _BULK, method="higher")))


def _joined(parts: Sequence[Kind]) -> Kind:
    """Return the moments of all replications."""
    arrays = (np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True))
    return type(parts[0])(*arrays)


def _standard_error(values: Floats) -> Floats:
    """Return the standard error over the first axis; NaN where there is only one value."""
    if len(values) < 2:
        return np.full(values.shape[1:], math.nan)
    error: Floats = values.std(axis=0, ddof=1) / math.sqrt(len(values))
    return error
