"""Verdicts follow from results by the stated rules, whichever way they fall."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from evenhand import simulate
from evenhand.lab.judging import Claim, Measured, Rule, RunSize, judge
from evenhand.lab.measurement import FAILS, HOLDS, OTHER_FORM, UNDECIDED, Bound, Measurement
from evenhand.lab.paper import _rules as rules
from evenhand.lab.paper._evidence import OTHERS, PUBLISHED, Evidence
from evenhand.lab.paper._rules import POSITIVE
from evenhand.lab.paper._section5 import section_5
from evenhand.lab.paper.movielens.claims import movie_claims
from evenhand.lab.paper.settings import ETA_MARK, SEED, experiments

NOTHING = Evidence(RunSize(quick=True), {})


@pytest.fixture(scope="module")
def eta_1():
    experiment = experiments(RunSize(quick=True))["setting1-eta1"]
    policies = {
        label.partition(ETA_MARK)[0]: policy for label, policy in experiment.policies().items()
    }
    environment = experiment.setting.environment()
    return simulate(environment, policies, horizon=4_000, replications=10, seed=SEED)


def claim(measure, bound=POSITIVE):
    """A claim about something made up."""
    return Claim("id", "5.1", "says", Rule("It is {bound}.", bound, measure), ())


def found_by_pairing(values):
    """Measure these values, and 0 with any other pairing."""

    def measure(_, pairing):
        return Measured([Measurement("x", *values.get(pairing.words, (-1.0, 0.0)))])

    return measure


SURE, UNSURE = (1.0, 0.1), (1.0, 2.0)


@pytest.mark.parametrize(
    ("values", "verdict", "forms"),
    [
        ({"as published": SURE, "both reflected": SURE}, HOLDS, "as published"),
        ({"both reflected": SURE}, OTHER_FORM, "both reflected"),
        ({"both cumulative": SURE}, OTHER_FORM, "both cumulative"),
        ({}, FAILS, ""),
        ({"as published": UNSURE}, UNDECIDED, ""),
        ({"as published": UNSURE, "both reflected": SURE}, OTHER_FORM, "both reflected"),
        ({"both reflected": UNSURE}, FAILS, "with no form of the debt"),
    ],
)
def test_a_verdict_is_computed_from_the_rule(values, verdict, forms):
    decided = judge(
        claim(found_by_pairing(values)), Evidence(RunSize(quick=True), {}), PUBLISHED, OTHERS
    )
    assert (decided.verdict, decided.variant) == (verdict, forms)


@pytest.mark.parametrize(
    ("bound", "value", "margin", "verdict"),
    [
        (Bound(low=0), 0.1, 0.05, HOLDS),
        (Bound(low=0), 0.1, 0.1, UNDECIDED),
        (Bound(low=0), -0.1, 0.2, UNDECIDED),
        (Bound(low=0), -0.1, 0.05, FAILS),
        (Bound(low=0), 0.0, 0.0, FAILS),
        (Bound(high=0), -0.1, 0.05, HOLDS),
        (Bound(high=0), 0.1, 0.05, FAILS),
        (Bound(0.02, 0.04), 0.03, 0.005, HOLDS),
        (Bound(0.02, 0.04), 0.03, 0.02, UNDECIDED),
        (Bound(0.02, 0.04), 0.05, 0.005, FAILS),
        (Bound(0.02, 0.04), 0.02, 0.0, HOLDS),
        (Bound(5, 5), 5.0, 0.0, HOLDS),
        (Bound(5, 5), 6.0, 0.0, FAILS),
    ],
)
def test_an_interval_that_reaches_across_the_bound_decides_nothing(bound, value, margin, verdict):
    assert bound.decide(Measurement("x", value, margin)) == verdict


def test_the_worst_of_several_numbers_counts_and_is_the_one_that_decides():
    numbers = [Measurement(f"n{i}", value, 0.5) for i, value in enumerate([3.0, 0.4, 2.0])]
    decided = judge(
        claim(lambda *_: Measured(numbers)), Evidence(RunSize(quick=True), {}), PUBLISHED, OTHERS
    )
    assert (decided.verdict, decided.deciding.words) == (UNDECIDED, "n1")
    numbers += [Measurement("n3", -1.0, 0.5), Measurement("n4", -2.0, 0.5)]
    decided = judge(
        claim(lambda *_: Measured(numbers)), Evidence(RunSize(quick=True), {}), PUBLISHED, OTHERS
    )
    assert (decided.verdict, decided.deciding.words) == (FAILS, "n4")


def test_the_words_of_a_rule_are_made_from_its_number():
    for bound, words in ((Bound(0.02, 0.04), "in [0.02, 0.04]"), (Bound(low=10), "above 10")):
        assert Rule("R is {bound}.", bound, lambda *_: Measured([])).text == f"R is {words}."
    for row in (*section_5(RunSize()), *movie_claims("")):
        assert row.rule.words.count("{bound}") == 1, row.id
        assert not re.search(r"\d\.\d", row.rule.words), row.id


def test_the_regret_at_eta_1_holds_only_with_the_other_form(eta_1):
    evidence = Evidence(RunSize(quick=True), {"setting1-eta1": eta_1})
    claims = [one for one in section_5(evidence.size) if set(one.cells) <= set(evidence.results)]
    by_id = {one.id: judge(one, evidence, PUBLISHED, OTHERS) for one in claims}
    row = by_id["regret-eta1"]
    assert (row.verdict, row.variant) == (OTHER_FORM, "both reflected")
    assert all(number.margin > 0 for number in row.measurements)
    assert "below-lfg" not in by_id, "claims whose cells are missing are not judged"


def test_other_results_give_another_verdict(eta_1):
    """Make TSCSF-B lose 0.03 a round: then the claim holds as published."""
    worse = eta_1.expected.copy()
    worse[0] -= 0.03 * eta_1.rounds
    evidence = Evidence(RunSize(quick=True), {"setting1-eta1": replace(eta_1, expected=worse)})
    assert decide(rules.ABOUT_003_AT_ETA_1, evidence) == HOLDS


def decide(rule, evidence):
    return rule.decide(rule.measure(evidence, PUBLISHED))


def test_a_missed_floor_is_seen(eta_1):
    played = eta_1.played.copy()
    played[0, :, 0] = 0.4 * 4_000
    for cell in ("setting1-eta1000", "setting2-paper"):
        good = Evidence(RunSize(quick=True), {cell: eta_1})
        bad = Evidence(RunSize(quick=True), {cell: replace(eta_1, played=played)})
        measure = rules.rates_above_floors(cell)
        rule = Rule("{bound}", rules.FLOOR_KEPT, measure)
        assert decide(rule, good) == HOLDS
        assert decide(rule, bad) == FAILS
        assert measure(bad, PUBLISHED).measurements[0].value == pytest.approx(-0.1)


def test_the_gap_is_paired_by_replication(eta_1):
    evidence = Evidence(RunSize(quick=True), {"setting1-eta1": eta_1})
    gap = evidence.gap("setting1-eta1", OTHERS[0])
    ours, theirs = (eta_1.expected[i, :, -1] / 4_000 for i in (1, 3))
    assert gap.value == pytest.approx((ours - theirs).mean())
    assert gap.margin < np.hypot(ours.std(), theirs.std())


def test_every_claim_has_a_rule_a_place_and_known_cells():
    plan = RunSize()
    cells = {
        experiment.cell(horizon)
        for experiment in experiments(plan).values()
        for horizon in experiment.horizons
    }
    claims = section_5(plan)
    assert len({claim.id for claim in claims}) == len(claims) >= 14
    for row in claims:
        assert row.says
        assert row.rule
        assert row.where
        assert set(row.cells) <= cells
