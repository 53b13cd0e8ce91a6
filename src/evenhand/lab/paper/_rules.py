"""The rules that decide the claims of Section 5: what is measured, and what it must be."""

from __future__ import annotations

import math
from collections.abc import Callable

from evenhand.lab.judging import Measured, Rule, RunSize
from evenhand.lab.measurement import Bound, Measurement
from evenhand.lab.paper._evidence import Evidence, Pairing
from evenhand.lab.paper.settings import ETAS, NAMES, PANELS, SETTING_1, SETTING_2, horizon_of
from evenhand.optimum.bounds import paper_eta

TOLERANCE = 0.001
CLOSE = 0.005
POSITIVE, NEGATIVE = Bound(low=0.0), Bound(high=0.0)
NEAR_ZERO = Bound(-CLOSE, CLOSE)
FLOOR_KEPT = Bound(low=-TOLERANCE)
SETTING_1_PANELS = tuple(panel for panel in PANELS if ETAS[panel][0] is SETTING_1)
SETTING_2_PANELS = tuple(panel for panel in PANELS if ETAS[panel][0] is SETTING_2)


def _both(cell: str, at: int | None = None) -> Callable[[Evidence, Pairing], Measured]:
    """Measure the regrets of both algorithms in a cell."""

    def measure(evidence: Evidence, pairing: Pairing) -> Measured:
        return Measured([evidence.regret(cell, pairing, name, at=at) for name in NAMES])

    return measure


def _difference(words: str, larger: Measurement, smaller: Measurement) -> Measurement:
    """Return a difference whose interval is above 0 exactly if the two are disjoint."""
    return Measurement(words, larger.value - smaller.value, larger.margin + smaller.margin)


def _higher_eta(evidence: Evidence, pairing: Pairing) -> Measured:
    found, decisive = [], []
    for name in NAMES:
        low, high = (evidence.regret(f"setting1-eta{eta}", pairing, name) for eta in (1, 10))
        found += [
            Measurement(f"η = 1, {low.words}", *low[1:]),
            Measurement(f"η = 10, {high.words}", *high[1:]),
        ]
        decisive.append(_difference(f"η = 1 - η = 10, {low.words}", low, high))
    return Measured(found, decisive)


def _distance_from_opt_nf(evidence: Evidence, pairing: Pairing) -> Measured:
    found = []
    for panel in ("setting1-inf", "setting2-inf"):
        best = evidence.optimum(ETAS[panel][0])
        for name in NAMES:
            end = evidence.regret(panel, pairing, name)
            distance = end.value + best.price_of_fairness
            found.append(Measurement(f"{panel}, {end.words}", distance, end.margin))
    return Measured(found)


def _opt_nf(evidence: Evidence, pairing: Pairing) -> Measured:
    return Measured(
        [
            Measurement(f"{setting.id}:", -evidence.optimum(setting).price_of_fairness)
            for setting in (SETTING_1, SETTING_2)
        ]
    )


def _gaps(evidence: Evidence, pairing: Pairing) -> Measured:
    return Measured([evidence.gap(panel, pairing) for panel in PANELS])


def _gap_of_gaps(evidence: Evidence, pairing: Pairing) -> Measured:
    first = [evidence.gap(panel, pairing) for panel in SETTING_1_PANELS]
    second = [evidence.gap(panel, pairing) for panel in SETTING_2_PANELS]
    smallest, largest = min(second, key=_value), max(first, key=_value)
    words = "smallest gap of setting 2 - largest gap of setting 1:"
    return Measured([*first, *second], [_difference(words, smallest, largest)])


def rates_above_floors(cell: str, suffix: str = "") -> Callable[[Evidence, Pairing], Measured]:
    """Compare the mean rate of every arm with its floor, for both algorithms."""

    def measure(evidence: Evidence, pairing: Pairing) -> Measured:
        labels = [pairing.label(name) + suffix for name in NAMES]
        return Measured([evidence.rate_above_floor(cell, label) for label in labels])

    return measure


def _eta(evidence: Evidence, pairing: Pairing) -> Measured:
    eta = paper_eta(len(SETTING_2.means), SETTING_2.plays, horizon_of(RunSize()))
    return Measured([Measurement("η =", eta)])


def _price_of_arm_1(evidence: Evidence, pairing: Pairing) -> Measured:
    prices = evidence.optimum(SETTING_1).prices.tolist()
    above = prices[0] - max(0.0, *prices[1:])
    return Measured(_prices(prices), [Measurement("price of arm 1 - the next or 0:", above)])


def _prices_of_arms_2_and_4(evidence: Evidence, pairing: Pairing) -> Measured:
    prices = evidence.optimum(SETTING_2).prices.tolist()
    others = max(price for i, price in enumerate(prices) if i not in (1, 3))
    above = min(prices[1], prices[3]) - others
    words = "lower price of arms 2 and 4 - highest of the others:"
    return Measured(_prices(prices), [Measurement(words, above)])


def _prices(prices: list[float]) -> list[Measurement]:
    return [Measurement(f"price of arm {i + 1}:", price) for i, price in enumerate(prices)]


def _margins(evidence: Evidence, pairing: Pairing) -> Measured:
    found = []
    for panel in PANELS:
        widest = max(evidence.regret(panel, pairing, name).margin for name in NAMES)
        found.append(Measurement(f"{panel}:", widest))
    return Measured(found)


def _bounds(evidence: Evidence, pairing: Pairing) -> Measured:
    pairs = zip(evidence.tightness("tscsf-b"), evidence.tightness("lfg"), strict=True)
    return Measured(
        [
            Measurement(f"T = {t:,}, TSCSF-B - LFG:", ours - theirs)
            for (t, ours), (_, theirs) in pairs
        ]
    )


def _room_below_bounds(evidence: Evidence, pairing: Pairing) -> Measured:
    found, decisive = [], []
    for name in NAMES:
        for horizon, bound in evidence.tightness(name):
            end = evidence.regret(f"tightness-{horizon}", pairing, name)
            words = f"T = {horizon:,} (bound {bound:.3f}), {end.words}"
            found.append(Measurement(words, end.value, end.margin))
            room = f"T = {horizon:,}, bound - R(T), {end.words}"
            decisive.append(Measurement(room, bound - end.value, end.margin))
    return Measured(found, decisive)


def _bounds_over_regrets(evidence: Evidence, pairing: Pairing) -> Measured:
    found = []
    for horizon, bound in evidence.tightness("tscsf-b"):
        end = evidence.regret(f"tightness-{horizon}", pairing, "tscsf-b")
        ratio = bound / end.value if end.value > 0.0 else math.inf
        found.append(Measurement(f"T = {horizon:,}: bound over regret", ratio))
    return Measured(found)


def _value(measurement: Measurement) -> float:
    return measurement.value


ABOUT_003_AT_ETA_1 = Rule("R(T) of both is {bound}.", Bound(0.02, 0.04), _both("setting1-eta1"))
CLOSE_TO_ZERO_AT_ETA_10 = Rule("R(T) of both is {bound}.", NEAR_ZERO, _both("setting1-eta10"))
HIGHER_ETA_LOWER_REGRET = Rule(
    "R(T) at η = 1 minus R(T) at η = 10 is {bound} for both, with disjoint 95% intervals.",
    POSITIVE,
    _higher_eta,
)
NEGATIVE_NEAR_2000 = Rule(
    "R(2,000) of both is {bound}.", NEGATIVE, _both("setting1-eta1000", at=2_000)
)
RETURNS_TO_POSITIVE = Rule("R(T) of both is {bound}.", POSITIVE, _both("setting1-eta1000"))
CONVERGES_TO_OPT_NF = Rule(
    "R(T) minus Opt-NF's is {bound} for both (measured: the difference).",
    NEAR_ZERO,
    _distance_from_opt_nf,
)
OPT_NF_BELOW_OPT_F = Rule(
    "The regret of the exact optimum without floors is {bound}.", NEGATIVE, _opt_nf
)
BELOW_LFG_EVERYWHERE = Rule(
    "LFG's R(T) minus TSCSF-B's, paired by replication, is {bound} in every panel.", POSITIVE, _gaps
)
GAP_LARGER_IN_SETTING_2 = Rule(
    "The smallest gap of setting 2 minus the largest gap of setting 1 is {bound}.",
    POSITIVE,
    _gap_of_gaps,
)
INTERVALS_ARE_SMALL = Rule(
    "The wider 95% margin of R(T) is {bound} in every panel.", Bound(high=TOLERANCE), _margins
)
FLOORS_KEPT = "Every arm's mean rate minus its floor is {bound}."
FLOORS_KEPT_IN_SETTING_1 = Rule(FLOORS_KEPT, FLOOR_KEPT, rates_above_floors("setting1-eta1000"))
FLOORS_KEPT_IN_SETTING_2 = Rule(FLOORS_KEPT, FLOOR_KEPT, rates_above_floors("setting2-paper"))
HARDEST_ARM_OF_SETTING_1 = Rule(
    "Its exact price minus the next one, or 0, is {bound}.", POSITIVE, _price_of_arm_1
)
HARDEST_ARMS_OF_SETTING_2 = Rule(
    "The lower of their exact prices minus the highest of the others is {bound}.",
    POSITIVE,
    _prices_of_arms_2_and_4,
)
ETA_IS_6355 = Rule("√(NT / (m ln T)) is {bound}.", Bound(63.545, 63.555), _eta)
BOUND_BELOW_LFGS = Rule(
    "Theorem 2's bound minus LFG's is {bound} at every T (measured: the difference).",
    NEGATIVE,
    _bounds,
)
REGRET_BELOW_BOUNDS = Rule(
    "The bound minus R(T) is {bound} at every T.", POSITIVE, _room_below_bounds
)
BOUND_IS_FAR = Rule(
    "The bound over R(T) is {bound}, or R(T) is not positive, at every T.",
    Bound(low=10.0),
    _bounds_over_regrets,
)
