"""Prices from the latest rounds, against the exact optimum of those very rounds."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand import Agent, Environment, Joint, Problem, find_optimum, make_policy, simulate
from evenhand.core.jit import compiled
from evenhand.core.schema import new
from evenhand.core.state import NoPromises, NoStatistics, State
from evenhand.policies.sampled_prices import LARGEST_PRICE, RING, SampledMemory, solve_sampled

REFRESHES = 3


def random_world(seed):
    """Return an environment of dependent arms with floors, and the rounds it is made of."""
    rng = np.random.default_rng(seed)
    arms, plays = int(rng.integers(3, 9)), int(rng.integers(1, 3))
    sets = rng.random((6, arms)) < 0.6
    sets[:, 0] |= ~sets.any(axis=1)
    rounds = rng.integers(0, 6, RING)
    shares = np.bincount(rounds, minlength=6) / RING
    rates = np.minimum(shares @ sets, 1.0)
    means, floors = rng.uniform(0.1, 0.9, arms), rng.random(arms) * rates * plays / arms
    problem = Problem(arms, plays, floors=floors)
    return Environment(problem, means, Joint(sets.astype(int), shares)), sets[rounds]


def solved(environment, rounds, floors=None):
    arms = len(environment.problem.arms)
    memory, state = new(SampledMemory, arms), new(State, arms)
    state.feedbacks[:], state.rounds[0] = 1e12, 1
    state.reward_sums[:] = environment.means * 1e12
    memory.present[:] = rounds
    memory.seen[0] = RING
    wanted = environment.problem.floors.copy() if floors is None else floors
    nothing = NoStatistics(), NoPromises()
    given = environment.problem.arrays, *nothing, memory, wanted, np.inf
    for _ in range(REFRESHES):
        compiled(solve_sampled)(state, *given)
    return memory.prices


def dual_value(environment, rounds, prices):
    """Return what the prices promise: by duality no less than the optimum, and equal at best."""
    problem = environment.problem
    scores = np.where(rounds, environment.means + prices, 0.0)
    best = -np.sort(-scores, axis=1)[:, : problem.plays]
    return float(best.sum(axis=1).mean() - prices @ problem.floors)


@pytest.mark.parametrize("seed", range(10))
def test_they_solve_the_dual_of_the_exact_optimum_of_the_same_rounds(seed):
    environment, rounds = random_world(seed)
    optimum, prices = find_optimum(environment), solved(environment, rounds)
    gap = dual_value(environment, rounds, prices) - optimum.with_floors
    assert -1e-9 < gap < 0.001
    # Where several prices are optimal, others may be found.
    assert np.median(np.abs(prices - optimum.prices)) < 0.002


def test_prices_of_floors_that_cannot_be_kept_are_bounded():
    environment, rounds = random_world(1)
    prices = solved(environment, rounds, np.full(len(environment.problem.arms), 1.0))
    assert prices.max() <= LARGEST_PRICE
    assert np.isfinite(prices).all()


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_without_rounds_there_are_no_prices(engine):
    problem = Problem(3, plays=1, floors=0.2)
    environment = Environment(problem, [0.2, 0.5, 0.8], 0.9)
    sampled = make_policy("priced", prices="sample")
    results = simulate(
        environment, [sampled], horizon=30, replications=1, engine=engine, progress=False
    )
    assert results.horizon == 30


def test_on_independent_arms_they_keep_up_with_exact_ones():
    problem = Problem(6, plays=2, floors=[0.3, 0.25, 0.2, 0.1, 0.0, 0.3])
    environment = Environment(problem, [0.2, 0.3, 0.4, 0.5, 0.9, 0.7], 0.8)
    policies = {how: make_policy("priced", prices=how) for how in ("exact", "sample")}
    results = simulate(environment, policies, horizon=10_000, replications=8, seed=4)
    regret = {how: results.regret(how) for how in policies}
    shortfall = {how: max(results.shortfall(how).values()) for how in policies}
    assert shortfall["sample"] < shortfall["exact"] + 0.0005
    assert float(np.ravel(regret["sample"])[-1]) < float(np.ravel(regret["exact"])[-1]) + 0.004


def test_on_arms_that_exclude_each_other_they_lose_less():
    """The exact prices take the arms to wake independently, and cost reward."""
    problem = Problem(4, plays=1, floors=[0.3, 0.3, 0.0, 0.0])
    sets = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]]
    environment = Environment(problem, [0.2, 0.3, 0.9, 0.6], Joint(sets, [0.4, 0.4, 0.2]))
    policies = {how: make_policy("priced", prices=how) for how in ("exact", "sample")}
    results = simulate(environment, policies, horizon=10_000, replications=8, seed=4)
    for how in policies:
        assert max(results.shortfall(how).values()) < 0.002
    best = find_optimum(environment).with_floors
    lost = {how: float(np.ravel(results.regret(how))[-1]) / best for how in policies}
    assert lost["sample"] < lost["exact"] + 0.002


def test_an_agent_finds_the_prices_of_the_exact_joint_optimum():
    """Arms that exclude each other: what is missing is what the estimated means are off."""
    problem, means = Problem(4, plays=1, floors=[0.3, 0.1, 0.15, 0.1]), [0.2, 0.6, 0.3, 0.8]
    sets, chances = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1]]), [0.5, 0.3, 0.2]
    agent = Agent(problem, make_policy("priced", prices="sample"), seed=1)
    rng, truth = np.random.default_rng(5), dict(zip(problem.arms, means, strict=True))
    for row in rng.choice(3, 20_000, p=chances):
        decision = agent.ask(awake=np.flatnonzero(sets[row]))
        agent.tell(decision, {arm: float(rng.random() < truth[arm]) for arm in decision.chosen})
    reasons = agent.ask(explain=True).reasons
    prices, estimates = (
        np.array([getattr(one, name) for one in reasons]) for name in ("price", "estimate")
    )
    exact, learned = (
        find_optimum(Environment(problem, known, Joint(sets, chances))).prices
        for known in (means, estimates)
    )
    assert exact == pytest.approx([0.4, 0.0, 0.5, 0.0])
    # The prices are up to a tenth of the rounds old.
    assert prices == pytest.approx(learned, abs=0.01)
    assert prices == pytest.approx(exact, abs=0.03)
