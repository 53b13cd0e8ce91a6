"""The paper's bounds: figures by hand, conditions checked."""

from __future__ import annotations

import math

import pytest

from evenhand import InputError
from evenhand.optimum.bounds import lfg_bound, paper_eta, tscsf_b_bound


def test_the_papers_eta_in_setting_2():
    assert paper_eta(6, 3, 20_000) == pytest.approx(63.55, abs=0.005)


def test_theorem_2_by_hand():
    """N = 2, m = 1, T = 100, eta = 4, w = 3: 0.25 + (12 sqrt(200 ln 100) + 15.06) / 100."""
    wanted = 0.25 + (12 * math.sqrt(200 * math.log(100)) + 15.06) / 100
    assert tscsf_b_bound(2, 1, 100, 4, 3) == pytest.approx(wanted)


def test_lfgs_bound_by_hand():
    wanted = 0.25 + (2 * math.sqrt(6 * 200 * math.log(100)) + 10.22) / 100
    assert lfg_bound(2, 1, 100, 4) == pytest.approx(wanted)


def test_an_infinite_eta_leaves_the_price_of_learning():
    assert tscsf_b_bound(6, 3, 1_000, math.inf) == pytest.approx(
        tscsf_b_bound(6, 3, 1_000, 5) - 0.6
    )


@pytest.mark.parametrize("horizon", [2, 10, 1_000, 100_000])
def test_tscsf_bs_bound_is_always_the_lower_one(horizon):
    assert tscsf_b_bound(2, 2, horizon, 10) < lfg_bound(2, 2, horizon, 10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((6, 7, 100, 1), "plays must be at most the number of arms, 6, got 7"),
        ((6, 0, 100, 1), "plays must be a whole number of at least 1"),
        ((6, 3, 1, 1), "horizon must be a whole number of at least 2, got 1"),
        ((6, 3, 100, 0), "eta must be a number above 0, got 0"),
        ((6, 3, 100, 1, 0), "largest weight must be a number above 0, got 0"),
    ],
)
def test_the_conditions_are_checked(arguments, message):
    with pytest.raises(InputError, match=message):
        tscsf_b_bound(*arguments)


def test_corollary_1_wants_at_least_as_many_rounds_as_arms():
    with pytest.raises(InputError, match=r"horizon for the paper's eta must be .* at least 50"):
        paper_eta(50, 3, 49)
