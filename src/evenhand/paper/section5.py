"""The claims of Section 5 (and of the abstract where it is numerical), in the paper's order."""

from __future__ import annotations

from evenhand.paper import rules
from evenhand.paper.claims import Claim
from evenhand.paper.settings import PANELS, Plan


def section_5(plan: Plan) -> tuple[Claim, ...]:
    """Return the claims, in the paper's order."""
    tight = tuple(f"tightness-{horizon}" for horizon in plan.horizons)
    return (
        Claim(
            "regret-eta1",
            "5.1, time-averaged regret",
            "At η = 1 the regrets of both algorithms come down to about 0.03 in setting 1.",
            "R(T) of both lies in [0.02, 0.04].",
            ("setting1-eta1",),
            rules.about_003_at_eta_1,
        ),
        Claim(
            "regret-eta10",
            "5.1, time-averaged regret",
            "At η = 10 both are much closer to Opt-F.",
            f"|R(T)| of both is below {rules.CLOSE}.",
            ("setting1-eta10",),
            rules.close_to_zero_at_eta_10,
        ),
        Claim(
            "higher-eta",
            "5.1, time-averaged regret",
            "A higher η gives a lower regret (η = 1 against η = 10).",
            "R(T) at η = 10 is below R(T) at η = 1 for both, with disjoint 95% intervals.",
            ("setting1-eta1", "setting1-eta10"),
            rules.higher_eta_lower_regret,
        ),
        Claim(
            "negative-near-2000",
            "5.1, time-averaged regret",
            "At η = 1000 the regret is negative near round 2,000.",
            "R(2,000) of both is below 0 by more than its 95% margin.",
            ("setting1-eta1000",),
            rules.negative_near_2000,
        ),
        Claim(
            "returns-to-positive",
            "5.1, time-averaged regret",
            "At η = 1000 the regret recovers to positive values afterwards.",
            "R(T) of both is above 0.",
            ("setting1-eta1000",),
            rules.returns_to_positive,
        ),
        Claim(
            "converges-to-opt-nf",
            "5.1, time-averaged regret",
            "With η = ∞ the regrets converge to Opt-NF in both settings.",
            f"R(T) is within {rules.CLOSE} of Opt-NF's for both (figures: the distance).",
            ("setting1-inf", "setting2-inf"),
            rules.converges_to_opt_nf,
        ),
        Claim(
            "opt-nf-below-opt-f",
            "5.1, time-averaged regret",
            "Opt-NF's regret is always below Opt-F's, which is 0.",
            "The exact optimum without floors exceeds the one with floors (figures: its regret).",
            ("setting1-inf", "setting2-inf"),
            rules.opt_nf_below_opt_f,
        ),
        Claim(
            "below-lfg",
            "5.1, time-averaged regret",
            "TSCSF-B has a lower regret than LFG in every panel.",
            "LFG's R(T) minus TSCSF-B's, paired by replication, exceeds its 95% margin everywhere.",
            PANELS,
            rules.below_lfg_everywhere,
        ),
        Claim(
            "gap-larger-in-setting2",
            "5.1, time-averaged regret",
            "The gap between TSCSF-B and LFG is larger in setting 2.",
            "The smallest gap of setting 2 exceeds the largest gap of setting 1.",
            PANELS,
            rules.gap_larger_in_setting_2,
        ),
        Claim(
            "intervals-too-small",
            "5.1, set-up",
            "Confidence intervals are too small to be seen in the figures (here: at the horizon).",
            f"The wider 95% margin of R(T) is below {rules.TOLERANCE} in every panel.",
            PANELS,
            rules.intervals_are_small,
        ),
        Claim(
            "floors-setting1",
            "5.1, fairness constraints",
            "At η = 1000 all floors of setting 1 are satisfied in the end.",
            f"No arm's mean rate is below its floor by more than {rules.TOLERANCE}.",
            ("setting1-eta1000",),
            rules.floors_kept_in_setting_1,
        ),
        Claim(
            "hardest-arm-setting1",
            "5.1, fairness constraints",
            "Arm 1 is the one whose floor is hard to satisfy in setting 1.",
            "Its exact price is positive and the highest.",
            ("setting1-eta1000",),
            rules.hardest_arm_of_setting_1,
        ),
        Claim(
            "floors-setting2",
            "5.1, fairness constraints",
            "At the paper's η (63.55 at T = 20,000) all floors of setting 2 are satisfied.",
            f"No arm's mean rate is below its floor by more than {rules.TOLERANCE}.",
            ("setting2-paper",),
            rules.floors_kept_in_setting_2,
        ),
        Claim(
            "hardest-arms-setting2",
            "5.1, fairness constraints",
            "Arms 2 and 4 are the ones whose floors are hard to satisfy in setting 2.",
            "Their exact prices are the two highest.",
            ("setting2-paper",),
            rules.hardest_arms_of_setting_2,
        ),
        Claim(
            "eta-6355",
            "5.1, set-up",
            "Corollary 1's η is 63.55 in setting 2 at T = 20,000.",
            "√(NT / (m ln T)) rounds to 63.55.",
            ("setting2-paper",),
            rules.eta_is_6355,
        ),
        Claim(
            "bound-below-lfgs",
            "5.2 and abstract",
            "TSCSF-B's upper bound is below LFG's at every horizon.",
            "Theorem 2's bound minus LFG's is negative at every T (figures: the difference).",
            tight,
            rules.bound_below_lfgs,
        ),
        Claim(
            "regret-below-bounds",
            "5.2 and abstract",
            "The time-averaged regret is bounded by Theorem 2 (and LFG's by its own bound).",
            "R(T) plus its 95% margin is below the bound at every T.",
            tight,
            rules.regret_below_bounds,
        ),
        Claim(
            "bound-is-far",
            "5.2",
            "There is a big gap between TSCSF-B's bound and its regret.",
            "The bound is over 10 times R(T), or R(T) is not positive, at every T.",
            tight,
            rules.bound_is_far,
        ),
    )
