"""What every policy must do, for authors of their own policies."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields

import numpy as np

from evenhand.agent import Agent
from evenhand.core.arrays import Integers
from evenhand.core.schema import copied, to_lists
from evenhand.environment import Environment
from evenhand.learner.learner import Learner
from evenhand.learner.reasons import probabilities
from evenhand.policies import Policy, register_policy, registered_policies
from evenhand.policies.policy import plain
from evenhand.problem import Problem
from evenhand.results import Results
from evenhand.rewards import Beta
from evenhand.simulation import Geometric, simulate

# NumPy and the compiler add these up in different orders.
REDUCTIONS = frozenset({"sum", "mean", "dot", "prod", "cumsum"})
ROUNDS = 300
ASKED = 60


def check_policy(policy: type[Policy] | Policy, *, compiled: bool = True) -> None:
    """Check that a policy does what every policy must, with its defaults or as it is given.

    It is well declared and plain; interpreted and compiled it gives the same bits; it chooses no
    more arms than there are plays, and only awake ones; its decisions survive a snapshot; many at a
    time are the same as one by one; and the probabilities that it tells add up to the plays.

    Parameters
    ----------
    policy
        A class, or a policy with parameters of its own.
    compiled
        Whether to compare with machine code, which needs the extra ``lab``.

    Raises
    ------
    AssertionError
        With what is wrong.
    InputError
        If the policy cannot be registered under its name.

    Examples
    --------
    >>> from evenhand import make_policy
    >>> check_policy(make_policy("tscsf-b", surplus=3), compiled=False)
    """
    kind = policy if isinstance(policy, type) else type(policy)
    if registered_policies().get(getattr(kind, "name", "")) is not kind:
        register_policy(kind)
    made = kind() if isinstance(policy, type) else policy
    _check_declaration(made)
    _check_plain(made)
    engines = ("reference", "compiled") if compiled else ("reference",)
    for environment in _environments():
        _check_engines(made, environment, engines)
    if not made.knows_nature:
        _check_agents(made, compiled)
        _check_many(made)
        _check_probabilities(made)


def _check_declaration(policy: Policy) -> None:
    """Check parameters, label and description."""
    kind, name = type(policy), policy.name
    assert all(field.kw_only for field in fields(policy)), f"{name}: parameters must be kw_only"
    try:
        policy.not_a_parameter = 1  # type: ignore[attr-defined]
    except FrozenInstanceError:
        pass
    else:
        raise AssertionError(f"{name}: it must be a frozen dataclass")
    assert kind().label() == name, f"{name}: at its defaults its label must be its name"
    assert 10 < len(policy.summary) < 90, f"{name}: its docstring must begin with one line"
    again = kind(**json.loads(json.dumps(plain(policy.parameters()))))
    assert again == policy, f"{name}: its parameters must survive JSON, with 'inf' for infinity"
    assert policy.randomness in ("samples", "none", "own", "both"), f"{name}: {policy.randomness!r}"


def _check_plain(policy: Policy) -> None:
    """Check that the scoring function is one that interpreter and compiler agree on."""
    module = inspect.getmodule(policy.score)
    assert module is None or "numba" not in vars(module), f"{policy.name}: numba is imported"
    tree = ast.parse(textwrap.dedent(inspect.getsource(policy.score)))
    called = {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert not called & REDUCTIONS, f"{policy.name}: score must not use {called & REDUCTIONS}"


def _environments() -> Iterator[Environment]:
    """Yield a few worlds: the paper's first, weighted arms, and one with too many plays."""
    problem = Problem(3, plays=2, floors=[0.5, 0.6, 0.4])
    yield Environment(problem, [0.4, 0.5, 0.7], [0.9, 0.8, 0.7])
    weighted = Problem(5, plays=1, weights=[1, 2, 0.5, 1, 3], floors=[0.1, 0.2, 0, 0.05, 0.1])
    yield Environment(weighted, [0.1, 0.5, 0.9, 0.3, 0.4], [0.9, 0.5, 0.7, 1, 0.6], Beta(5))
    few = Problem.of_arms_left(("a", "b"), 4, 1.0, 0.1)
    yield Environment(few, [0.2, 0.8], [0.5, 0.5])


def _check_engines(policy: Policy, environment: Environment, engines: tuple[str, ...]) -> None:
    """Check that engines give the same bits, and that plays are within what is possible."""
    found: list[Results] = []
    for engine in engines:
        for delay in (0, Geometric(3)):
            given = {"horizon": ROUNDS, "replications": 2, "seed": 5, "delay": delay}
            found.append(
                simulate(environment, [policy], **given, engine=engine, progress=False)  # type: ignore[arg-type]
            )
    name, most = policy.name, environment.problem.plays
    for results in found:
        assert results.played.sum(axis=-1).max() <= ROUNDS * most, f"{name}: too many plays"
    for one, other in zip(found[:2], found[2:], strict=False):
        for what in ("expected", "realised", "played", "estimates"):
            same = np.array_equal(getattr(one, what), getattr(other, what))
            assert same, f"{name}: {what} must be the same, interpreted and compiled"


def _play(agent: Agent, rounds: int, seed: int) -> list[tuple[str, ...]]:
    """Ask and tell with random awake sets and rewards, some of them never told."""
    rng, chosen = np.random.default_rng(seed), []
    for number in range(rounds):
        awake = [arm for arm in agent.problem.arms if rng.random() < 0.7]
        decision = agent.ask(awake)
        few = min(len(awake), agent.problem.plays)
        assert len(decision.chosen) == few, f"{agent.policy.name}: {few} arms must be chosen"
        assert set(decision.chosen) <= set(awake), f"{agent.policy.name}: only awake arms"
        chosen.append(decision.chosen)
        if number % 3:
            agent.tell(decision.id, {arm: float(rng.random()) for arm in decision.chosen})
    return chosen


def _check_agents(policy: Policy, compiled: bool) -> None:
    """Check that agents decide alike, compiled or not, and go on from their snapshots."""
    problem = Problem(12, plays=3, floors=0.1)
    agents = [
        Agent(problem, policy, seed=3, horizon=1_000, compiled=machine)
        for machine in (False, True)[: 1 + compiled]
    ]
    made = [_play(agent, ASKED, seed=1) for agent in agents]
    assert all(one == made[0] for one in made), f"{policy.name}: compiled decisions must be same"
    twin = Agent.restore(agents[0].snapshot(), compiled=False)
    same = _play(twin, ASKED, seed=2) == _play(agents[0], ASKED, seed=2)
    assert same, f"{policy.name}: a restored agent must go on as before"


def _learner(policy: Policy) -> Learner:
    """Return a learner that has seen a little."""
    problem = Problem(6, plays=2, weights=[1, 2, 1, 1, 1, 1], floors=[0.3, 0, 0.4, 0.2, 0.1, 0])
    learner = Learner(problem, policy, seed=4, horizon=1_000, compiled=False)
    rng = np.random.default_rng(6)
    for _ in range(ASKED):
        chosen: Integers = learner.decide(np.flatnonzero(rng.random(6) < 0.8))[0]
        learner.learn(chosen, rng.random(chosen.size).tolist(), learner.rounds)
    return learner


def _check_many(policy: Policy) -> None:
    """Check that decisions made in one call are those made one by one."""
    together, alone = _learner(policy), _learner(policy)
    everyone = together.table.everyone
    many = together.decide_many(20, everyone)
    if many is None:
        return
    for chosen in many.chosen:
        same = chosen.tolist() == alone.decide(everyone)[0].tolist()
        assert same, f"{policy.name}: decisions must not depend on how many are made at a time"
    same = to_lists(together.state) == to_lists(alone.state)
    assert same, f"{policy.name}: its state must not depend on how many are made at a time"


def _check_probabilities(policy: Policy) -> None:
    """Check that known probabilities are some, add up to the plays, and change nothing."""
    learner = _learner(policy)
    view, memory = learner.view(learner.table.everyone), copied(learner.engine.memory)
    before = to_lists(view.state), to_lists(memory)
    found = probabilities(policy, view, learner.engine.constants, memory)
    assert (to_lists(view.state), to_lists(memory)) == before, f"{policy.name}: nothing may change"
    if found is None:
        return
    name, total = policy.name, float(found.sum())
    assert np.all((found >= 0.0) & (found <= 1.0)), f"{name}: probabilities must be in [0, 1]"
    assert abs(total - 2.0) < 0.01, f"{name}: probabilities must add up to the plays, got {total}"
