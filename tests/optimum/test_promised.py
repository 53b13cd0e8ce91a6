"""The optimum with any promises: the paper's program with the rows added, in every nature."""

from __future__ import annotations

import time
from contextlib import suppress
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from evenhand import (
    ByCategory,
    DrawnContexts,
    Environment,
    InfeasiblePromises,
    InputError,
    Joint,
    Problem,
    Promise,
    find_optimum,
)
from evenhand.optimum import Awake
from evenhand.optimum.environment import rows_of as possible_rounds
from evenhand.optimum.solver import solve
from evenhand.promise_rows import rows_of
from evenhand.promises import check_promises
from tests.optimum.brute import all_sets

KINDS = ("at_least", "at_most", "exactly", "both")


def program(values, floors, rows, plays, members, chances):
    """Return the optimum over all (set, choice) pairs, or None; values may differ by set."""
    values = np.broadcast_to(values, members.shape)
    played, earned, owners = [], [], []
    for number, (row, chance) in enumerate(zip(members, chances, strict=True)):
        awake = np.flatnonzero(row) if chance > 0.0 else np.empty(0, dtype=int)
        for size in range(min(plays, awake.size) + 1):
            for choice in combinations(awake, size):
                rates = np.zeros(row.size)
                rates[list(choice)] = chance
                played.append(rates)
                earned.append(rates * values[number])
                owners.append(number)
    played, earned, owners = np.array(played).T, np.array(earned).T, np.array(owners)
    sides = [-played[i] for i in range(len(floors))]
    bounds = [-floor for floor in floors]
    for j, sign in enumerate(rows.sign):
        had = rows.members[j] @ (earned if rows.reward[j] else played)
        sides.append(-sign * had)
        bounds.append(-sign * rows.bound[j])
    sets = np.unique(owners)
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        -earned.sum(axis=0),
        A_ub=np.array(sides),
        b_ub=bounds,
        A_eq=(owners == sets[:, None]).astype(float),
        b_eq=np.ones(sets.size),
        method="highs",
        options=tight,
    )
    return -found.fun if found.status == 0 else None


def random_promises(rng, names, plays):
    """Return ceilings, floors and promises of every kind, overlapping as they happen to."""
    arms = len(names)
    floors = rng.uniform(0, 0.4, arms) * (rng.random(arms) < 0.4) * plays / arms
    ceilings = np.where(rng.random(arms) < 0.4, np.clip(floors + rng.random(arms), 0, 1), 1.0)
    promises = []
    for _ in range(rng.integers(1, 5)):
        group = [name for name in names if rng.random() < 0.5] or names[:1]
        of = "reward" if rng.random() < 0.35 else "plays"
        bound = rng.uniform(0, 0.6) * len(group) / arms * plays * (0.4 if of == "reward" else 1.0)
        kind = KINDS[rng.integers(4)]
        given = {"at_least": bound / 2, "at_most": bound} if kind == "both" else {kind: bound}
        promises.append(Promise(group, **given, of=of))
    return floors, ceilings, promises


def random_case(rng):
    """Return an instance on arrays, and all of its awake sets."""
    arms = int(rng.integers(2, 6))
    plays, names = int(rng.integers(1, arms + 1)), [str(i) for i in range(arms)]
    values = rng.random(arms) * (rng.random(arms) > 0.1) * rng.choice([1.0, 50.0])
    floors, ceilings, promises = random_promises(rng, names, plays)
    try:
        rows = rows_of(names, ceilings, check_promises(names, promises))
    except InputError:
        return None
    if values.max() > 1.0:
        rows = rows._replace(bound=np.where(rows.reward, 50.0 * rows.bound, rows.bound))
    if rng.random() < 0.5:
        likely = rng.uniform(0.2, 1, arms)
        return values, floors, plays, Awake(probabilities=likely), names, rows, *all_sets(likely)
    members = rng.random((int(rng.integers(1, 8)), arms)) < 0.6
    chances = rng.dirichlet(np.ones(len(members)))
    awake = Awake(members=members, set_probabilities=chances)
    return values, floors, plays, awake, names, rows, members, chances


@pytest.mark.parametrize("part", range(6))
def test_it_agrees_with_the_program_and_names_minimal_conflicts(part):
    """50 feasible instances in each part, and about as many that are not."""
    rng, feasible = np.random.default_rng(part), 0
    while feasible < 50:
        case = random_case(rng)
        if case is None:
            continue
        values, floors, plays, awake, names, rows, members, chances = case
        wanted = program(values, floors, rows, plays, members, chances)
        if wanted is not None:
            feasible += 1
            best = solve(values, floors, plays, awake, names, rows=rows)
            scale = max(float(values.max()), 1.0)
            assert best.with_floors == pytest.approx(wanted, abs=1e-8 * scale)
            assert abs(best.gap) < 1e-8 * scale
            for one in best.promises:
                assert one.at_least is None or one.rate > one.at_least - 1e-7 * scale
                assert one.at_most is None or one.rate < one.at_most + 1e-7 * scale
            continue
        with pytest.raises(InfeasiblePromises) as found:
            solve(values, floors, plays, awake, names, rows=rows)
        certificate = found.value.certificate
        assert certificate.promised > certificate.possible
        named = set(certificate.promises)

        def left(kept, case=case):
            values, floors, plays, _, names, rows, members, chances = case
            own = [
                f if f"floor of {n}" in kept else 0.0 for n, f in zip(names, floors, strict=True)
            ]
            some = rows.take([j for j, name in enumerate(rows.names) if name in kept])
            return program(values, own, some, plays, members, chances)

        assert left(named) is None
        assert all(left(named - {one}) is not None for one in named)


def test_prices_are_what_a_little_more_of_a_promise_costs():
    problem = Problem(
        4,
        2,
        promises=[
            Promise(["1", "2"], at_least=0.9, name="group"),
            Promise(["3"], exactly=0.3, name="exact"),
            Promise(["4"], at_most=0.2, of="reward", name="cap"),
        ],
    )
    nature = Environment(problem, [0.2, 0.3, 0.5, 0.9], [0.8, 0.7, 0.9, 0.8])
    best, step = find_optimum(nature), 1e-4
    for index, one in enumerate(best.promises):
        moved = []
        for side in (-step, step):
            promises = list(problem.promises)
            old = promises[index]
            bounds = {
                key: getattr(old, key) + side
                for key in ("at_least", "at_most")
                if getattr(old, key) is not None
            }
            promises[index] = Promise(old.arms, **bounds, of=old.of, name=old.name)
            other = Problem(4, 2, promises=promises)
            means = nature.means, nature.availability
            moved.append(find_optimum(Environment(other, *means)).with_floors)
        slope = (moved[0] - moved[1]) / (2 * step)
        assert one.price == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_contexts_agree_with_the_program_over_everything(seed):
    rng = np.random.default_rng(seed)
    features = {"evening": bool, "land": ["de", "fr", "it"]}
    arms = int(rng.integers(2, 5))
    names, problem = [str(1 + i) for i in range(arms)], None
    while problem is None:
        floors, ceilings, promises = random_promises(rng, names, 1)
        with suppress(InputError, InfeasiblePromises):
            problem = Problem(names, 1, 1.0, floors, features, (), ceilings, promises)
    means = [
        ByCategory("land", dict(zip(features["land"], rng.random(3), strict=True))) for _ in names
    ]
    awake = [ByCategory("evening", {"yes": rng.random(), "no": 1.0}), *rng.random(arms - 1)]
    nature = Environment(problem, means, awake, contexts=DrawnContexts({"evening": 0.3}))
    rounds = possible_rounds(nature)
    parts = [all_sets(likely) for likely in rounds.awake]
    chances = [p * chance for p, (_, chance) in zip(rounds.probabilities, parts, strict=True)]
    values = np.repeat(rounds.values, len(parts[0][0]), axis=0)
    given = np.concatenate([members for members, _ in parts]), np.concatenate(chances)
    wanted = program(values, problem.floors, problem.rows, 1, *given)
    if wanted is None:
        with pytest.raises(InfeasiblePromises):
            find_optimum(nature)
    else:
        best = find_optimum(nature)
        assert best.with_floors == pytest.approx(wanted, abs=1e-8)
        assert best.standard_error == 0.0


def test_ten_thousand_arms_with_groups_and_ceilings_take_a_moment():
    rng, arms = np.random.default_rng(5), 10_000
    order = rng.permutation(arms)
    promises = [
        Promise([str(1 + i) for i in order[50 * g : 50 * g + 50]], at_least=rng.uniform(0.1, 0.45))
        for g in range(200)
    ]
    ceilings = np.ones(arms)
    ceilings[rng.choice(arms, 1_000, replace=False)] = rng.uniform(0.05, 0.4, 1_000)
    means, awake = rng.uniform(0.05, 0.95, arms), rng.uniform(0.3, 1, arms)
    nature = Environment(Problem(arms, 100, promises=promises, ceilings=ceilings), means, awake)
    find_optimum(nature)
    start = time.perf_counter()
    best = find_optimum(nature)
    # Two seconds are the target of the benchmarks; a shared machine gets more.
    assert time.perf_counter() - start < 6.0
    assert abs(best.gap) < 1e-8
    assert all(one.at_least is None or one.rate > one.at_least - 1e-8 for one in best.promises)
    assert np.all(best.rates < ceilings + 1e-8)


def test_many_sets_with_twenty_rows_take_a_moment():
    rng, arms = np.random.default_rng(3), 60
    members = rng.random((5_000, arms)) < rng.uniform(0.3, 0.9, arms)
    promises = []
    for number in range(20):
        group = [str(1 + i) for i in rng.choice(arms, 10, replace=False)]
        bound = [{"at_least": 0.9}, {"at_most": 1.5}, {"exactly": 1.1}][number % 3]
        promises.append(Promise(group, **bound, name=f"g{number}"))
    sets = Joint(members, np.full(5_000, 1 / 5_000))
    nature = Environment(Problem(arms, 8, promises=promises), rng.uniform(0, 1, arms), sets)
    start = time.perf_counter()
    best = find_optimum(nature)
    assert time.perf_counter() - start < 20.0
    assert abs(best.gap) < 1e-8
