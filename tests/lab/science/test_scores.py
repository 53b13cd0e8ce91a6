"""Who wins where, on scores made up by hand."""

from __future__ import annotations

import pytest

from evenhand.lab.science.games import Scope
from evenhand.lab.science.scores import Score, summarise, winners
from evenhand.lab.science.study import against_debts, as_json, winners_table


def score(label, shortfall, regret, instance=0, world="w", horizon=1_000):
    figures = shortfall, regret, 1.0, 5.0, 2.0, 0.1, 30.0, 0.2
    return Score(world, horizon, label, instance, *figures, None)


def both(label, *pairs):
    return [score(label, *pair, instance=number) for number, pair in enumerate(pairs)]


def test_means_and_largest_are_over_instances():
    (row,) = summarise(both("priced", (0.01, 0.2), (0.03, 0.4)))
    assert (row.instances, row.largest_shortfall, row.largest_regret) == (2, 0.03, 0.4)
    assert (row.shortfall, row.regret) == pytest.approx((0.02, 0.3))
    assert row.lacking == pytest.approx(20.0)


def test_the_winner_has_the_least_regret_of_those_within_a_play():
    scores = [
        score("priced", 0.0015, 0.02),
        score("keeper", 0.001, 0.5),
        score("close", 0.002, 0.01),
        score("careless", 0.0021, -0.9),
    ]
    (found,) = winners(scores)
    assert (found.keeper.label, found.winner.label, found.ours.label) == (
        "keeper",
        "close",
        "priced",
    )
    assert found.better == ()


def test_who_is_better_in_both_is_named_and_whether_that_is_clear():
    scores = [
        *both("priced", (0.02, 0.02), (0.02, 0.02), (0.02, 0.02)),
        *both("clear", (0.01, 0.01), (0.011, 0.01), (0.01, 0.011)),
        *both("lucky", (0.01, 0.01), (0.01, 0.05), (0.01, -0.04)),
        *both("half", (0.01, 0.03), (0.01, 0.03), (0.01, 0.03)),
        *both("priced, forgetting", (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)),
    ]
    (found,) = winners(scores)
    assert [str(rival) for rival in found.better] == ["clear", "lucky (within chance)"]
    _, (row,) = winners_table([found])
    assert row[-1] == "clear, lucky (within chance)"
    (told,) = as_json(Scope(), scores)["winners"]
    assert told["better_than_priced"][0] == {"label": "clear", "clear": True}


def test_worlds_and_horizons_are_apart():
    scores = [
        score("priced", 0.1, 0.1, horizon=100),
        score("priced", 0.2, 0.1, horizon=200),
        score("priced", 0.3, 0.1, world="v", horizon=200),
    ]
    assert [one.ours.shortfall for one in winners(scores)] == [0.1, 0.2, 0.3]


def test_priced_is_compared_with_plain_debts_at_the_eta_that_has_its_regret():
    """Between regrets of 2% and 1%, the shortfall of plain debts grows from 0.001 to 0.004."""
    scores = [
        score("priced", 0.0002, 0.015),
        score("priced, logistic", 0.0002, 0.012),
        score("priced, no contexts", 0.0002, 0.20),
        score("tscsf-b η=50", 0.001, 0.02),
        score("tscsf-b η=100", 0.004, 0.01),
    ]
    words = against_debts(summarise(scores))
    assert "plain debts miss floors by 0.00200: 10.0 times as much" in words
    assert "larger by 0.0050 of the optimum" in words
    assert "20% less regret than `linear`" in words
    assert "earn 23% more than no contexts" in words
