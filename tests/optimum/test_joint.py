"""The optimum of tables of awake sets, against the brute-force program and at its limits."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import EvenhandError, InfeasibleFloors
from evenhand.optimum import Awake, solve
from evenhand.optimum._joint import best_mixture, distinct, rates_of, widest_mixture
from tests.optimum.brute import brute_force, limit_of


@pytest.mark.parametrize("block", range(4))
def test_joint_tables_agree_with_the_brute_force_program(block):
    for seed in range(25 * block, 25 * block + 25):
        rng = np.random.default_rng(1_000 + seed)
        arms, rows = int(rng.integers(1, 7)), int(rng.integers(1, 30))
        plays = int(rng.integers(1, arms + 1))
        members = rng.random((rows, arms)) < rng.uniform(size=arms)
        chances = rng.dirichlet(np.ones(rows))
        values = np.round(rng.uniform(size=arms), 1 + seed % 3)
        floors = rng.uniform(size=arms) * (chances @ members)
        awake = Awake(np.empty(0), members, chances)
        limit = limit_of(values, floors, plays, awake)
        floors *= 1.0 if np.isinf(limit) else limit * rng.choice([0.5, 0.98, 1.0, 1.03])
        wanted = brute_force(values, np.maximum(floors - 1e-10, 0), plays, members, chances)
        if wanted is None:
            with pytest.raises(InfeasibleFloors) as caught:
                solve(values, floors, plays, awake)
            index = [int(arm) - 1 for arm in caught.value.certificate.arms]
            possible = chances @ np.minimum(plays, members[:, index].sum(axis=1))
            assert caught.value.certificate.possible == pytest.approx(possible)
            assert floors[index].sum() > possible
        else:
            best = solve(values, floors, plays, awake)
            assert best.with_floors == pytest.approx(wanted, abs=1e-8)
            assert best.bound == pytest.approx(best.with_floors, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e5, 1e9])
def test_the_joint_optimum_scales_with_the_values(scale):
    members = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1]], dtype=bool)
    awake = Awake(np.empty(0), members, np.full(4, 0.25))
    values, floors = np.array([0.41, 0.87, 0.04, 0.67]), np.array([0.06, 0.09, 0.11, 0.14])
    one, other = solve(values, floors, 2, awake), solve(values * scale, floors, 2, awake)
    assert other.with_floors == pytest.approx(one.with_floors * scale, rel=1e-9)
    assert other.prices == pytest.approx(one.prices * scale, rel=1e-6, abs=1e-9 * scale)
    assert other.bound == pytest.approx(other.with_floors, rel=1e-9)


def test_tiny_floors_of_a_joint_table_do_no_harm():
    awake = Awake(np.empty(0), np.array([[True, True], [False, True]]), np.array([0.5, 0.5]))
    best = solve(np.array([0.5, 0.6]), np.array([1e-9, 1e-9]), 1, awake)
    assert best.with_floors == pytest.approx(0.6, abs=1e-8)


def heavy_tailed(seed):
    """A table whose probabilities differ by many orders of magnitude."""
    rng = np.random.default_rng(seed)
    arms, rows = int(rng.integers(2, 9)), int(rng.integers(2, 60))
    chances = rng.dirichlet(np.full(rows, 0.05))
    return rng, rng.random((rows, arms)) < 0.5, chances / chances.sum()


@pytest.mark.parametrize("block", range(4))
def test_heavy_tailed_tables_have_an_optimum(block):
    """200 of them; the brute-force program drops sets below 1e-9, and is given the benefit."""
    for seed in range(50 * block, 50 * block + 50):
        rng, members, chances = heavy_tailed(seed)
        arms = members.shape[1]
        plays, values = int(rng.integers(1, arms + 1)), rng.uniform(size=arms)
        floors = rng.uniform(size=arms) * (chances @ members)
        awake = Awake(np.empty(0), members, chances)
        limit = limit_of(values, floors, plays, awake)
        floors *= limit * rng.choice([0.5, 0.9, 1.0])
        best = solve(values, floors, plays, awake)
        assert abs(best.gap) < 1e-8
        assert (best.rates >= floors - 1e-9).all()
        wanted = brute_force(values, np.maximum(floors - 1e-7, 0), plays, members, chances)
        assert best.with_floors == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("small", [1e-10, 3e-10, 1e-9, 3e-9, 1e-8])
def test_floors_of_very_different_sizes_have_an_optimum(small):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        members = rng.random((20, 6)) < 0.6
        members[0] = True
        awake = Awake(np.empty(0), members, np.full(20, 0.05))
        floors = rng.uniform(size=6) * 0.2
        floors[rng.random(6) < 0.5] *= small
        room = limit_of(rng.uniform(size=6), floors, 2, awake)
        best = solve(rng.uniform(size=6), floors * room, 2, awake)
        assert abs(best.gap) < 1e-8
        assert (best.rates >= floors * room - 1e-9).all()


@pytest.mark.parametrize("floor", [1e-300, 1e-12, 0.1])
def test_an_arm_that_no_set_holds_cannot_be_promised_anything(floor):
    awake = Awake(np.empty(0), np.array([[True, False], [True, False]]), np.array([0.5, 0.5]))
    with pytest.raises(InfeasibleFloors, match="arm 'gone' is promised") as caught:
        solve(np.array([0.5, 0.5]), np.array([0.9, floor]), 1, awake, ["a", "gone"])
    assert caught.value.certificate.arms == ("gone",)
    assert caught.value.floor_headroom == 0.0


def test_a_hundred_arms_and_twenty_thousand_sets_take_few_steps(monkeypatch):
    """Steps are counted, not seconds: without smoothing this one takes over five hundred."""
    orders = []

    def counting(table, order):
        orders.append(order)
        return rates_of(table, order)

    monkeypatch.setattr("evenhand.optimum._joint.rates_of", counting)
    rng = np.random.default_rng(0)
    members = rng.random((20_000, 100)) < rng.uniform(0.1, 0.9, 100)
    table = distinct(members, np.full(20_000, 1 / 20_000), 10)
    values, floors = rng.uniform(0.05, 0.95, 100), rng.uniform(size=100) * table.availability
    widest = widest_mixture(table, floors)
    kept = floors * widest.value * 0.5
    best = best_mixture(table, values, kept, widest.choices)
    assert len(orders) < 600
    assert best.bound == pytest.approx(best.value, rel=1e-9)
    assert (best.rates >= kept - 1e-9).all()
    slack = best.rates - kept
    assert best.multipliers @ slack == pytest.approx(0.0, abs=1e-8)


def test_an_optimum_that_is_not_found_in_time_says_how_far_it_got(monkeypatch):
    monkeypatch.setattr("evenhand.optimum._joint.MOST_STEPS", 1)
    members = np.random.default_rng(1).random((50, 8)) < 0.5
    awake = Awake(np.empty(0), members, np.full(50, 0.02))
    with pytest.raises(EvenhandError, match="can be had, but the most is proved to be"):
        solve(np.linspace(0.1, 0.9, 8), np.full(8, 0.05), 2, awake)
