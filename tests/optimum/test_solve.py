"""The exact optimum against the brute-force program, the laws of duality, and the paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import (
    Environment,
    InfeasibleFloors,
    InputError,
    Joint,
    Problem,
    Trace,
    find_optimum,
)
from evenhand.core.jit import compiled
from evenhand.optimum import Awake, solve, solve_mixture
from evenhand.optimum.independent import solve_independent
from tests.optimum.brute import all_sets, brute_force, limit_of

NO_SETS = np.empty((0, 0), dtype=bool), np.empty(0)


def independent(probabilities):
    return Awake(np.asarray(probabilities, dtype=float), *NO_SETS)


def instance(seed):
    """A random instance: ties, zeros and ones, weights, floors inside, on or beyond the limit."""
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(1, 11))
    plays = int(rng.integers(1, arms + 1))
    probabilities = rng.uniform(size=arms)
    probabilities[rng.random(arms) < 0.1] = 1.0
    probabilities[rng.random(arms) < 0.1] = 0.0
    means = rng.uniform(size=arms)
    if seed % 3 == 0:
        means = np.round(means * 4) / 4
    means[rng.random(arms) < 0.1] = 0.0
    values = means * (rng.uniform(0, 5, arms) if seed % 2 else 1.0)
    floors = rng.uniform(size=arms) * probabilities
    floors[rng.random(arms) < 0.2] = 0.0
    if seed % 7 == 0:
        floors[:] = floors.mean()
    room = solve(values, np.zeros(arms), plays, independent(probabilities))
    assert room.floor_headroom == np.inf
    limit = limit_of(values, floors, plays, independent(probabilities))
    if np.isfinite(limit) and limit > 0:
        floors *= limit * rng.choice([0.3, 0.7, 0.97, 1.0, 1.0, 1.05])
    return values, floors, plays, probabilities


@pytest.mark.parametrize("block", range(12))
def test_independent_arms_agree_with_the_brute_force_program(block):
    """360 instances in all; the program is given the benefit of 1e-9 on the boundary."""
    for seed in range(30 * block, 30 * block + 30):
        values, floors, plays, probabilities = instance(seed)
        members, chances = all_sets(probabilities)
        try:
            best = solve(values, floors, plays, independent(probabilities))
        except InfeasibleFloors as error:
            assert brute_force(values, floors, plays, members, chances) is None
            certificate = error.certificate
            index = [int(arm) - 1 for arm in certificate.arms]
            counts = np.minimum(plays, members[:, index].sum(axis=1))
            assert certificate.promised == pytest.approx(floors[index].sum())
            assert certificate.possible == pytest.approx(chances @ counts)
            assert certificate.promised > certificate.possible
            continue
        eased = np.maximum(floors - 1e-10, 0)
        assert best.with_floors == pytest.approx(
            brute_force(values, eased, plays, members, chances), abs=1e-8
        )
        assert best.without_floors == pytest.approx(
            brute_force(values, np.zeros(len(floors)), plays, members, chances), abs=1e-8
        )


unit = st.floats(0, 1).map(lambda x: round(x, 3))


@st.composite
def problems(draw):
    arms = draw(st.integers(1, 7))
    each = st.lists(unit, min_size=arms, max_size=arms).map(np.array)
    share = draw(st.sampled_from([0.0, 0.5, 0.9, 1.0]))
    values, probabilities, floors = draw(each), draw(each), draw(each)
    plays = draw(st.integers(1, arms))
    floors = floors * probabilities
    limit = limit_of(values, floors, plays, independent(probabilities))
    if np.isfinite(limit):
        floors = floors * share * limit
    return values, floors, plays, probabilities


@given(problem=problems())
@settings(max_examples=150, deadline=None)
def test_the_laws_of_duality_hold(problem):
    values, floors, plays, probabilities = problem
    best = solve(values, floors, plays, independent(probabilities))
    assert best.bound == pytest.approx(best.with_floors, abs=1e-10)
    assert (best.rates >= floors - 1e-12).all()
    assert (best.prices >= 0).all()
    above = best.rates > floors + 1e-9
    assert (best.prices[above] <= 1e-12).all()
    members, chances = all_sets(probabilities)
    for subset in members:
        most = chances @ np.minimum(plays, (members & subset).sum(axis=1))
        assert best.rates[subset].sum() <= most + 1e-10


@given(problem=problems())
@settings(max_examples=100, deadline=None)
def test_floors_fit_up_to_the_headroom_and_no_hair_further(problem):
    values, floors, plays, probabilities = problem
    best = solve(values, floors, plays, independent(probabilities))
    if np.isinf(best.floor_headroom):
        assert not floors.any()
        return
    edge = floors * best.floor_headroom
    solve(values, edge, plays, independent(probabilities))
    with pytest.raises(InfeasibleFloors):
        solve(values, edge * (1 + 1e-6), plays, independent(probabilities))


@given(problem=problems())
@settings(max_examples=60, deadline=None)
def test_the_largest_common_floor_fits_and_no_hair_more(problem):
    values, _, plays, probabilities = problem
    common = solve(values, np.zeros(len(values)), plays, independent(probabilities))
    floor = np.full(len(values), common.largest_common_floor)
    solve(values, floor, plays, independent(probabilities))
    with pytest.raises(InfeasibleFloors):
        solve(values, floor * (1 + 1e-6) + 1e-8, plays, independent(probabilities))


@given(problem=problems())
@settings(max_examples=60, deadline=None)
def test_a_price_is_what_a_raised_floor_costs(problem):
    """The value is concave in the floors, and the prices are its slope."""
    values, floors, plays, probabilities = problem
    best = solve(values, floors, plays, independent(probabilities))
    lower = solve(values, floors * 0.9, plays, independent(probabilities))
    drop = floors * 0.1
    assert lower.with_floors - best.with_floors <= best.prices @ drop + 1e-10
    assert lower.with_floors - best.with_floors >= lower.prices @ drop - 1e-10


@given(problem=problems())
@settings(max_examples=60, deadline=None)
def test_the_mixture_of_orders_attains_the_rates(problem):
    values, floors, plays, probabilities = problem
    best = solve(values, floors, plays, independent(probabilities))
    members, chances = all_sets(probabilities)
    mixture = solve_mixture(values, floors, plays, independent(probabilities))
    assert mixture_rates(mixture, members, chances, plays) == pytest.approx(best.rates, abs=1e-9)


def mixture_rates(mixture, members, chances, plays):
    """Play every combination of the blocks' orders in every awake set."""
    arms = members.shape[1]
    rates = np.zeros(arms)
    choices = [(np.zeros(arms), 1.0)]
    for b in range(mixture.first.size - 1):
        inside = np.flatnonzero(mixture.block == b)
        orders = range(mixture.first[b], mixture.first[b + 1])
        weights = np.diff(mixture.cumulative[list(orders)], prepend=0.0)
        longer = []
        for rank, chance in choices:
            for order, weight in zip(orders, weights, strict=True):
                grown = rank.copy()
                place = mixture.ranks[mixture.offset[order] + mixture.slot[inside]]
                grown[inside] = mixture.start[b] + place
                longer.append((grown, chance * weight))
        choices = longer
    for rank, weight in choices:
        for row, chance in zip(members, chances, strict=True):
            awake = np.flatnonzero(row)
            rates[awake[np.argsort(rank[awake])][:plays]] += weight * chance
    return rates


def test_interpreted_and_compiled_give_the_same_bits():
    fast = compiled(solve_independent)
    for seed in range(40):
        values, floors, plays, probabilities = instance(seed)
        if limit_of(values, floors, plays, independent(probabilities)) >= 1:
            for one, two in zip(
                solve_independent(values, floors, probabilities, plays),
                fast(values, floors, probabilities, plays),
                strict=True,
            ):
                assert np.array_equal(one, two)


def large(arms, plays, seed=0, tightness=0.9):
    rng = np.random.default_rng(seed)
    probabilities = rng.uniform(0.2, 1, arms)
    values = rng.uniform(size=arms)
    floors = rng.uniform(size=arms) * probabilities
    floors *= tightness * limit_of(values, floors, plays, independent(probabilities))
    return values, floors, plays, probabilities


@pytest.mark.parametrize(("tightness", "seed"), [(0.5, 1), (0.97, 2), (1.0, 3)])
def test_a_hundred_thousand_arms_lose_nothing_to_rounding(tightness, seed):
    values, floors, plays, probabilities = large(100_000, 100, seed, tightness)
    best = solve(values, floors, plays, independent(probabilities))
    assert (best.rates - floors).min() >= -1e-9
    assert best.bound == pytest.approx(best.with_floors, rel=1e-9)
    assert best.rates.sum() <= plays + 1e-9


def test_the_papers_settings(setting_1):
    first = find_optimum(setting_1)
    assert (first.with_floors, first.without_floors) == pytest.approx((1.038, 1.0484), abs=1e-12)
    problem = Problem(6, plays=3, floors=[0.4, 0.45, 0.3, 0.45, 0.3, 0.4])
    means = [0.52, 0.51, 0.49, 0.48, 0.7, 0.8]
    second = find_optimum(Environment(problem, means, [0.7, 0.6, 0.7, 0.8, 0.7, 0.6]))
    assert second.with_floors == pytest.approx(1.77281712, abs=1e-12)
    assert second.without_floors == pytest.approx(1.78390728, abs=1e-12)
    assert second.prices == pytest.approx([0, 0.01, 0.03, 0.04, 0, 0], abs=1e-12)


def test_a_joint_table_of_independent_arms_has_the_same_optimum(setting_1):
    sets, chances = all_sets([0.9, 0.8, 0.7])
    joint = Environment(setting_1.problem, setting_1.means, Joint(sets, chances))
    one, two = find_optimum(setting_1), find_optimum(joint)
    assert one.with_floors == pytest.approx(two.with_floors, abs=1e-9)
    assert one.rates == pytest.approx(two.rates, abs=1e-9)
    assert one.prices == pytest.approx(two.prices, abs=1e-9)
    assert one.floor_headroom == pytest.approx(two.floor_headroom, abs=1e-9)
    assert one.largest_common_floor == pytest.approx(two.largest_common_floor, abs=1e-9)


def test_a_trace_has_the_optimum_of_the_sets_it_holds():
    """Arm b is awake only beside arm a, and one play is to be had: promises must share it."""
    problem = Problem(["a", "b"], plays=1, floors=[0.0, 0.25])
    best = find_optimum(Environment(problem, [0.9, 0.1], Trace([[1, 1], [1, 0]] * 10)))
    assert best.rates == pytest.approx([0.75, 0.25])
    assert best.prices == pytest.approx([0.0, 0.8])
    assert best.floor_headroom == pytest.approx(2.0)


def test_the_certificate_is_a_sentence_and_names_floors_above_availability():
    problem = Problem(["day", "night"], plays=1, floors=[0.3, 0.7])
    with pytest.raises(InfeasibleFloors) as caught:
        find_optimum(Environment(problem, 0.5, [0.9, 0.6]))
    error = caught.value
    assert str(error).startswith(
        "The floors cannot all be kept: arm 'night' is promised 0.7 plays a round, "
        "but at most 0.6 can be given."
    )
    assert "The floor of arm 'night', 0.7, exceeds its availability, 0.6." in str(error)
    assert error.too_high == (("night", 0.7, 0.6),)
    assert error.floor_headroom == pytest.approx(0.6 / 0.7)


def test_an_arm_that_never_wakes_cannot_be_promised_anything():
    problem = Problem(["a", "gone"], plays=2, floors=[0.1, 0.01])
    with pytest.raises(InfeasibleFloors) as caught:
        find_optimum(Environment(problem, 0.5, [0.5, 0.0]))
    assert caught.value.certificate.arms == ("gone",)
    assert caught.value.floor_headroom == 0.0
    with pytest.raises(InfeasibleFloors, match="arm '2' is promised 1e-300"):
        solve(np.array([0.5, 0.5]), np.array([0.1, 1e-300]), 1, independent([0.5, 0.0]))


def test_a_problem_is_no_environment():
    with pytest.raises(InputError, match="environment must be an Environment: the optimum"):
        find_optimum(Problem(["a", "b"], plays=1))
