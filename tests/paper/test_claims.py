"""Verdicts follow from results by the stated rules, whichever way they fall."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenhand import simulate
from evenhand.paper import rules
from evenhand.paper.claims import FAILS, HOLDS, OTHER_FORM, Claim, Measured, judge, judge_all
from evenhand.paper.evidence import OTHERS, PUBLISHED, Evidence, Figure
from evenhand.paper.section5 import section_5
from evenhand.paper.settings import SEED, Plan, experiments


@pytest.fixture(scope="module")
def eta_1():
    (cell,) = experiments(Plan(quick=True))["setting1-eta1"].cells
    environment, policies = cell.setting.environment(), cell.policies()
    return simulate(environment, policies, horizon=4_000, replications=10, seed=SEED)


def claim(passes):
    """A claim that holds for the pairings named."""
    return Claim(
        "id", "5.1", "says", "rule", (), lambda _, p: Measured(p.words in passes, [Figure("x", 1)])
    )


@pytest.mark.parametrize(
    ("passes", "verdict", "forms"),
    [
        (["as published", "both reflected"], HOLDS, ""),
        (["both reflected"], OTHER_FORM, "both reflected"),
        (["both cumulative"], OTHER_FORM, "both cumulative"),
        ([], FAILS, ""),
    ],
)
def test_a_verdict_is_computed_from_the_rule(passes, verdict, forms):
    decided = judge(claim(passes), Evidence(Plan(quick=True), {}))
    assert (decided.verdict, decided.forms) == (verdict, forms)


def test_a_verdict_names_the_form_only_where_the_form_matters():
    def check(_, pairing):
        return Measured(False, [Figure(pairing.words, 1.0)])

    row = Claim("id", "5.1", "says", "rule", (), check)
    assert judge(row, Evidence(Plan(quick=True), {})).forms == "with no form of the debt"


def test_the_regret_at_eta_1_holds_only_with_the_other_form(eta_1):
    evidence = Evidence(Plan(quick=True), {"setting1-eta1": eta_1})
    by_id = {row.claim.id: row for row in judge_all(section_5(evidence.plan), evidence)}
    row = by_id["regret-eta1"]
    assert (row.verdict, row.forms) == (OTHER_FORM, "both reflected")
    assert all(figure.margin > 0 for figure in row.figures)
    assert "below-lfg" not in by_id, "claims whose cells are missing are not judged"


def test_other_results_give_another_verdict(eta_1):
    """Make TSCSF-B lose 0.03 a round: then the claim holds as published."""
    worse = eta_1.expected.copy()
    worse[0] -= 0.03 * eta_1.rounds
    evidence = Evidence(Plan(quick=True), {"setting1-eta1": replace(eta_1, expected=worse)})
    assert rules.about_003_at_eta_1(evidence, PUBLISHED).passed


def test_a_missed_floor_is_seen(eta_1):
    played = eta_1.played.copy()
    played[0, :, 0] = 0.4 * 4_000
    for cell in ("setting1-eta1000", "setting2-paper"):
        good = Evidence(Plan(quick=True), {cell: eta_1})
        bad = Evidence(Plan(quick=True), {cell: replace(eta_1, played=played)})
        assert rules.floors_kept(cell, good, PUBLISHED).passed
        measured = rules.floors_kept(cell, bad, PUBLISHED)
        assert not measured.passed
        assert measured.figures[0].value == pytest.approx(-0.1)


def test_the_gap_is_paired_by_replication(eta_1):
    evidence = Evidence(Plan(quick=True), {"setting1-eta1": eta_1})
    gap = evidence.gap("setting1-eta1", OTHERS[0])
    ours, theirs = (eta_1.expected[i, :, -1] / 4_000 for i in (1, 3))
    assert gap.value == pytest.approx((ours - theirs).mean())
    assert gap.margin < np.hypot(ours.std(), theirs.std())


def test_every_claim_has_a_rule_a_place_and_known_cells():
    plan = Plan(quick=False)
    cells = {cell.id for experiment in experiments(plan).values() for cell in experiment.cells}
    claims = section_5(plan)
    assert len({claim.id for claim in claims}) == len(claims) >= 14
    for row in claims:
        assert row.says
        assert row.rule
        assert row.where
        assert set(row.cells) <= cells
