"""The claims of Section 5 (and of the abstract where it is numerical), in the paper's order."""

from __future__ import annotations

from evenhand.lab.judging import Claim, RunSize
from evenhand.lab.paper import _rules as rules
from evenhand.lab.paper.settings import PANELS, tightness_horizons

REGRET = "5.1, time-averaged regret"
SET_UP, FAIRNESS = "5.1, set-up", "5.1, fairness constraints"
BOUNDS = "5.2 and abstract"


def section_5(size: RunSize) -> tuple[Claim, ...]:
    """Return the claims, in the paper's order."""
    tight = tuple(f"tightness-{horizon}" for horizon in tightness_horizons(size))
    return (
        Claim("regret-eta1", REGRET,
              "At η = 1 the regrets of both algorithms come down to about 0.03 in setting 1.",
              rules.ABOUT_003_AT_ETA_1, ("setting1-eta1",)),
        Claim("regret-eta10", REGRET,
              "At η = 10 both are much closer to Opt-F.",
              rules.CLOSE_TO_ZERO_AT_ETA_10, ("setting1-eta10",)),
        Claim("higher-eta", REGRET,
              "A higher η gives a lower regret (η = 1 against η = 10).",
              rules.HIGHER_ETA_LOWER_REGRET, ("setting1-eta1", "setting1-eta10")),
        Claim("negative-near-2000", REGRET,
              "At η = 1000 the regret is negative near round 2,000.",
              rules.NEGATIVE_NEAR_2000, ("setting1-eta1000",)),
        Claim("returns-to-positive", REGRET,
              "At η = 1000 the regret recovers to positive values afterwards.",
              rules.RETURNS_TO_POSITIVE, ("setting1-eta1000",)),
        Claim("converges-to-opt-nf", REGRET,
              "With η = ∞ the regrets converge to Opt-NF in both settings.",
              rules.CONVERGES_TO_OPT_NF, ("setting1-inf", "setting2-inf")),
        Claim("opt-nf-below-opt-f", REGRET,
              "Opt-NF's regret is always below Opt-F's, which is 0.",
              rules.OPT_NF_BELOW_OPT_F, ("setting1-inf", "setting2-inf")),
        Claim("below-lfg", REGRET,
              "TSCSF-B has a lower regret than LFG in every panel.",
              rules.BELOW_LFG_EVERYWHERE, PANELS),
        Claim("gap-larger-in-setting2", REGRET,
              "The gap between TSCSF-B and LFG is larger in setting 2.",
              rules.GAP_LARGER_IN_SETTING_2, PANELS),
        Claim("intervals-too-small", SET_UP,
              "Confidence intervals are too small to be seen in the figures "
              "(here: at the horizon).",
              rules.INTERVALS_ARE_SMALL, PANELS),
        Claim("floors-setting1", FAIRNESS,
              "At η = 1000 all floors of setting 1 are satisfied in the end.",
              rules.FLOORS_KEPT_IN_SETTING_1, ("setting1-eta1000",)),
        Claim("hardest-arm-setting1", FAIRNESS,
              "Arm 1 is the one whose floor is hard to satisfy in setting 1.",
              rules.HARDEST_ARM_OF_SETTING_1, ("setting1-eta1000",)),
        Claim("floors-setting2", FAIRNESS,
              "At the paper's η (63.55 at T = 20,000) all floors of setting 2 are satisfied.",
              rules.FLOORS_KEPT_IN_SETTING_2, ("setting2-paper",)),
        Claim("hardest-arms-setting2", FAIRNESS,
              "Arms 2 and 4 are the ones whose floors are hard to satisfy in setting 2.",
              rules.HARDEST_ARMS_OF_SETTING_2, ("setting2-paper",)),
        Claim("eta-6355", SET_UP,
              "Corollary 1's η is 63.55 in setting 2 at T = 20,000.",
              rules.ETA_IS_6355, ("setting2-paper",)),
        Claim("bound-below-lfgs", BOUNDS,
              "TSCSF-B's upper bound is below LFG's at every horizon.",
              rules.BOUND_BELOW_LFGS, tight),
        Claim("regret-below-bounds", BOUNDS,
              "The time-averaged regret is bounded by Theorem 2 (and LFG's by its own bound).",
              rules.REGRET_BELOW_BOUNDS, tight),
        Claim("bound-is-far", "5.2",
              "There is a big gap between TSCSF-B's bound and its regret.",
              rules.BOUND_IS_FAR, tight),
    )  # fmt: skip
