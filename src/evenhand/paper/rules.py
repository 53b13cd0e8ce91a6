"""The rules that decide the claims of Section 5."""

from __future__ import annotations

import math

from evenhand.bounds import paper_eta
from evenhand.paper.claims import Measured
from evenhand.paper.evidence import Evidence, Figure, Pairing
from evenhand.paper.settings import ETAS, NAMES, PANELS, SETTING_1, SETTING_2, Plan

TOLERANCE = 0.001
CLOSE = 0.005
SETTING_1_PANELS = tuple(panel for panel in PANELS if ETAS[panel][0] is SETTING_1)
SETTING_2_PANELS = tuple(panel for panel in PANELS if ETAS[panel][0] is SETTING_2)


def about_003_at_eta_1(evidence: Evidence, pairing: Pairing) -> Measured:
    """Both regrets near 0.03 at eta = 1."""
    figures = [evidence.regret("setting1-eta1", pairing, name) for name in NAMES]
    return Measured(all(0.02 <= figure.value <= 0.04 for figure in figures), figures)


def close_to_zero_at_eta_10(evidence: Evidence, pairing: Pairing) -> Measured:
    """Both regrets near 0 at eta = 10."""
    figures = [evidence.regret("setting1-eta10", pairing, name) for name in NAMES]
    return Measured(all(abs(figure.value) < CLOSE for figure in figures), figures)


def higher_eta_lower_regret(evidence: Evidence, pairing: Pairing) -> Measured:
    """Less regret at eta = 10 than at 1, beyond the intervals."""
    figures, passed = [], True
    for name in NAMES:
        low, high = (evidence.regret(f"setting1-eta{eta}", pairing, name) for eta in (1, 10))
        passed = passed and low.value - low.margin > high.value + high.margin
        figures += [
            Figure(f"η = 1, {low.words}", *low[1:]),
            Figure(f"η = 10, {high.words}", *high[1:]),
        ]
    return Measured(passed, figures)


def negative_near_2000(evidence: Evidence, pairing: Pairing) -> Measured:
    """Both regrets below 0 at round 2,000 of eta = 1000."""
    figures = [evidence.regret("setting1-eta1000", pairing, name, at=2_000) for name in NAMES]
    return Measured(all(figure.value + figure.margin < 0.0 for figure in figures), figures)


def returns_to_positive(evidence: Evidence, pairing: Pairing) -> Measured:
    """Both regrets above 0 at the end of eta = 1000."""
    figures = [evidence.regret("setting1-eta1000", pairing, name) for name in NAMES]
    return Measured(all(figure.value > 0.0 for figure in figures), figures)


def converges_to_opt_nf(evidence: Evidence, pairing: Pairing) -> Measured:
    """Regret without floors near Opt-NF's."""
    figures = []
    for panel in ("setting1-inf", "setting2-inf"):
        best = evidence.optimum(ETAS[panel][0])
        for name in NAMES:
            end = evidence.regret(panel, pairing, name)
            distance = end.value + best.price_of_fairness
            figures.append(Figure(f"{panel}, {end.words}", distance, end.margin))
    return Measured(all(abs(figure.value) < CLOSE for figure in figures), figures)


def opt_nf_below_opt_f(evidence: Evidence, pairing: Pairing) -> Measured:
    """Exact optima in their order."""
    figures = [
        Figure(f"{setting.id}:", -evidence.optimum(setting).price_of_fairness)
        for setting in (SETTING_1, SETTING_2)
    ]
    return Measured(all(figure.value < 0.0 for figure in figures), figures)


def below_lfg_everywhere(evidence: Evidence, pairing: Pairing) -> Measured:
    """TSCSF-B ahead in every panel, beyond the intervals."""
    figures = [evidence.gap(panel, pairing) for panel in PANELS]
    return Measured(all(figure.value - figure.margin > 0.0 for figure in figures), figures)


def gap_larger_in_setting_2(evidence: Evidence, pairing: Pairing) -> Measured:
    """Every gap of setting 2 above every gap of setting 1."""
    first = [evidence.gap(panel, pairing) for panel in SETTING_1_PANELS]
    second = [evidence.gap(panel, pairing) for panel in SETTING_2_PANELS]
    passed = min(gap.value for gap in second) > max(gap.value for gap in first)
    return Measured(passed, [*first, *second])


def floors_kept(cell: str, evidence: Evidence, pairing: Pairing, suffix: str = "") -> Measured:
    """Compare the mean rate of every arm with its floor."""
    figures = []
    for name in NAMES:
        label = pairing.label(name) + suffix
        rates = evidence.results[cell].rates(label)
        floors = dict(zip(rates, evidence.results[cell].floors.tolist(), strict=True))
        worst = min(rates, key=lambda arm: rates[arm] - floors[arm])
        figures.append(Figure(f"{label}, arm {worst}: rate - floor", rates[worst] - floors[worst]))
    return Measured(all(figure.value >= -TOLERANCE for figure in figures), figures)


def floors_kept_in_setting_1(evidence: Evidence, pairing: Pairing) -> Measured:
    """All floors of setting 1 at eta = 1000."""
    return floors_kept("setting1-eta1000", evidence, pairing)


def floors_kept_in_setting_2(evidence: Evidence, pairing: Pairing) -> Measured:
    """All floors of setting 2 at the paper's eta."""
    return floors_kept("setting2-paper", evidence, pairing)


def eta_is_6355(evidence: Evidence, pairing: Pairing) -> Measured:
    """Corollary 1's eta."""
    eta = paper_eta(len(SETTING_2.means), SETTING_2.plays, Plan(quick=False).horizon)
    return Measured(abs(eta - 63.55) < 0.005, [Figure("η =", eta)])


def hardest_arm_of_setting_1(evidence: Evidence, pairing: Pairing) -> Measured:
    """Arm 1 has the highest price."""
    prices = evidence.optimum(SETTING_1).prices
    figures = [Figure(f"price of arm {i + 1}:", float(p)) for i, p in enumerate(prices)]
    return Measured(bool(prices[0] == max(prices) > 0.0), figures)


def hardest_arms_of_setting_2(evidence: Evidence, pairing: Pairing) -> Measured:
    """Arms 2 and 4 have the highest prices."""
    prices = evidence.optimum(SETTING_2).prices
    figures = [Figure(f"price of arm {i + 1}:", float(p)) for i, p in enumerate(prices)]
    others = max(price for i, price in enumerate(prices) if i not in (1, 3))
    return Measured(bool(min(prices[1], prices[3]) > others), figures)


def intervals_are_small(evidence: Evidence, pairing: Pairing) -> Measured:
    """Margins at the end too small to see."""
    figures = []
    for panel in PANELS:
        widest = max((evidence.regret(panel, pairing, name) for name in NAMES), key=_margin)
        figures.append(Figure(f"{panel}:", widest.margin))
    return Measured(all(figure.value < TOLERANCE for figure in figures), figures)


def _margin(figure: Figure) -> float:
    return figure.margin


def bound_below_lfgs(evidence: Evidence, pairing: Pairing) -> Measured:
    """Both bounds in their order."""
    pairs = zip(evidence.tightness("tscsf-b"), evidence.tightness("lfg"), strict=True)
    figures = [
        Figure(f"T = {t:,}, TSCSF-B - LFG:", ours - theirs) for (t, ours), (_, theirs) in pairs
    ]
    return Measured(all(figure.value < 0.0 for figure in figures), figures)


def regret_below_bounds(evidence: Evidence, pairing: Pairing) -> Measured:
    """Regret below the bound at every horizon."""
    figures, passed = [], True
    for name in NAMES:
        for horizon, bound in evidence.tightness(name):
            end = evidence.regret(f"tightness-{horizon}", pairing, name)
            passed = passed and end.value + end.margin < bound
            words = f"T = {horizon:,} (bound {bound:.3f}), {end.words}"
            figures.append(Figure(words, end.value, end.margin))
    return Measured(passed, figures)


def bound_is_far(evidence: Evidence, pairing: Pairing) -> Measured:
    """Bound far above the regret at every horizon."""
    figures = []
    for horizon, bound in evidence.tightness("tscsf-b"):
        end = evidence.regret(f"tightness-{horizon}", pairing, "tscsf-b")
        ratio = bound / end.value if end.value > 0.0 else math.inf
        figures.append(Figure(f"T = {horizon:,}: bound over regret", ratio))
    return Measured(all(figure.value > 10.0 for figure in figures), figures)
