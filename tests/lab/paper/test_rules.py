"""Every rule can pass and can fail: on evidence made up to be just inside and just outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenhand import simulate
from evenhand.lab.judging import RunSize
from evenhand.lab.measurement import FAILS, HOLDS
from evenhand.lab.paper import _rules as rules
from evenhand.lab.paper._evidence import PUBLISHED, Evidence
from evenhand.lab.paper.movielens import claims as movie_rules
from evenhand.lab.paper.movielens.experiment import policies_of
from evenhand.lab.paper.settings import PANELS, SETTING_1, SETTING_2, label_of, tightness_horizons

QUICK = RunSize(quick=True)
SETTING_OF = {"1": SETTING_1, "2": SETTING_2}


def decide(rule, evidence):
    return rule.decide(rule.measure(evidence, PUBLISHED))


def made_up(cell, ours, theirs, spread=0.0):
    """Results of a cell in which TSCSF-B and LFG have these regrets at every round."""
    setting = SETTING_2 if cell.startswith("tightness") else SETTING_OF[cell[7]]
    labels = [label_of(n, d) for n in ("tscsf-b", "lfg") for d in ("cumulative", "reflected")]
    results = simulate(
        setting.environment(), dict.fromkeys(labels, "uniform"), horizon=2_000, replications=6
    )
    regrets = np.array([ours, ours, theirs, theirs])[:, None]
    noise = spread * np.array([-1, 1, -1, 1, -1, 1.0])
    per_round = results.with_floors - regrets - noise
    expected = per_round[:, :, None] * results.rounds
    return replace(results, expected=expected)


def evidence(**cells):
    return Evidence(
        QUICK, {c.replace("_", "-"): made_up(c.replace("_", "-"), *r) for c, r in cells.items()}
    )


def panels(**regrets):
    given = dict.fromkeys(PANELS, (0.001, 0.002))
    given.update({name.replace("_", "-"): value for name, value in regrets.items()})
    return Evidence(QUICK, {panel: made_up(panel, *value) for panel, value in given.items()})


def tightness(ours, theirs):
    return Evidence(
        QUICK,
        {
            f"tightness-{t}": made_up(f"tightness-{t}", ours, theirs)
            for t in tightness_horizons(QUICK)
        },
    )


CASES = [
    (
        rules.ABOUT_003_AT_ETA_1,
        evidence(setting1_eta1=(0.03, 0.03)),
        evidence(setting1_eta1=(0.03, 0.041)),
    ),
    (
        rules.CLOSE_TO_ZERO_AT_ETA_10,
        evidence(setting1_eta10=(0.004, -0.004)),
        evidence(setting1_eta10=(0.004, 0.006)),
    ),
    (
        rules.HIGHER_ETA_LOWER_REGRET,
        evidence(setting1_eta1=(0.03, 0.03), setting1_eta10=(0.01, 0.01)),
        evidence(setting1_eta1=(0.03, 0.01, 0.01), setting1_eta10=(0.01, 0.009, 0.01)),
    ),
    (
        rules.NEGATIVE_NEAR_2000,
        evidence(setting1_eta1000=(-0.01, -0.01)),
        evidence(setting1_eta1000=(-0.01, -0.01, 0.02)),
    ),
    (
        rules.RETURNS_TO_POSITIVE,
        evidence(setting1_eta1000=(0.001, 0.001)),
        evidence(setting1_eta1000=(0.001, -0.001)),
    ),
    (
        rules.CONVERGES_TO_OPT_NF,
        evidence(setting1_inf=(-0.0104, -0.0104), setting2_inf=(-0.011, -0.011)),
        evidence(setting1_inf=(-0.0104, 0.0), setting2_inf=(-0.011, -0.011)),
    ),
    (rules.BELOW_LFG_EVERYWHERE, panels(), panels(setting2_inf=(0.002, 0.001))),
    (
        rules.GAP_LARGER_IN_SETTING_2,
        panels(setting2_paper=(0.0, 0.01), setting2_inf=(0.0, 0.01)),
        panels(setting2_paper=(0.0, 0.01)),
    ),
    (rules.INTERVALS_ARE_SMALL, panels(), panels(setting1_inf=(0.001, 0.002, 0.01))),
    (rules.REGRET_BELOW_BOUNDS, tightness(0.1, 0.1), tightness(0.1, 1.5)),
    (rules.BOUND_IS_FAR, tightness(0.01, 0.5), tightness(0.2, 0.5)),
]


@pytest.mark.parametrize(("rule", "good", "bad"), CASES, ids=[case[0].text for case in CASES])
def test_a_rule_decides_both_ways(rule, good, bad):
    assert decide(rule, good) == HOLDS
    assert decide(rule, bad) != HOLDS


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        (rules.OPT_NF_BELOW_OPT_F, True),
        (rules.HARDEST_ARM_OF_SETTING_1, True),
        (rules.HARDEST_ARMS_OF_SETTING_2, False),
        (rules.ETA_IS_6355, True),
        (rules.BOUND_BELOW_LFGS, True),
    ],
)
def test_rules_on_exact_numbers(rule, verdict):
    """Prices of setting 2 are (0, .01, .03, .04, 0, 0): arm 3's is above arm 2's."""
    assert (decide(rule, Evidence(QUICK, {})) == HOLDS) is verdict


def test_a_gap_has_a_margin_of_differences_not_of_values():
    """All worlds differ by 0.1, and the two algorithms by 0.001 in each of them."""
    gap = Evidence(QUICK, {"setting1-eta1": made_up("setting1-eta1", 0.001, 0.002, 0.1)}).gap(
        "setting1-eta1", PUBLISHED
    )
    assert gap.value == pytest.approx(0.001)
    assert gap.margin < 1e-9


# The movies


def movies(**changes):
    """Five arms with rates of 0.3 and more, TSCSF-B ahead by 0.01, and believing the truth."""
    environment = SETTING_1.environment()
    labels = list(policies_of("paper"))
    results = simulate(environment, dict.fromkeys(labels, "uniform"), horizon=2_000, replications=4)
    means = np.broadcast_to(environment.means, results.estimates.shape)
    expected = np.array([1.0 if "TSCSF-B" in label else 0.99 for label in labels])
    good = {
        "played": np.full(results.played.shape, 1_300),
        "estimates": means.copy(),
        "expected": expected[:, None, None] * np.ones((1, 4, 1)) * results.rounds,
    }
    fixed = replace(results, **{**good, **changes})
    return Evidence(QUICK, {"movies": fixed}, {"optimum": {"paper_scaled": 0.5}})


def test_movie_rules_pass_on_what_the_paper_describes():
    for rule in (
        movie_rules.ESTIMATES_CLOSER,
        movie_rules.LFG_TOO_HIGH,
        movie_rules.FLOORS_KEPT,
        movie_rules.REGRET_BELOW_LFG,
        movie_rules.BELOW_THE_PAPERS_OPT_F,
    ):
        assert decide(rule, movies()) == HOLDS, rule.text


def test_movie_rules_fail_on_the_opposite():
    good = movies().results["movies"]
    wrong = good.estimates.copy()
    wrong[:4] = np.where(np.arange(4)[:, None, None] < 2, 0.99, 0.2)
    assert decide(movie_rules.ESTIMATES_CLOSER, movies(estimates=wrong)) == FAILS
    assert decide(movie_rules.LFG_TOO_HIGH, movies(estimates=wrong)) == FAILS
    few = np.full(good.played.shape, 900)
    assert decide(movie_rules.FLOORS_KEPT, movies(played=few)) == FAILS
    behind = good.expected[::-1].copy()
    behind[:4] = good.expected[[2, 3, 0, 1]]
    assert decide(movie_rules.REGRET_BELOW_LFG, movies(expected=behind)) == FAILS
    poor = good.expected * 0.4
    assert decide(movie_rules.BELOW_THE_PAPERS_OPT_F, movies(expected=poor)) == FAILS
    assert decide(movie_rules.USERS, movies()) == FAILS
