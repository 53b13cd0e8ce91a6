"""Each library doing the nearest thing it can: Thompson sampling, the best of the awake arms.

Runs in the peers' own environment, so that it imports nothing of this project but what it names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Masks: TypeAlias = NDArray[np.bool_]


class World(NamedTuple):
    """An instance, and what its awake sets and rewards are drawn with."""

    means: list[float]
    availability: list[float]
    plays: int
    seed: int


class Learner(Protocol):
    """What every library is made to do."""

    def choose(self, awake: Masks) -> list[int]:
        """Return the arms to play of those that are awake, by a mask; more are than are played."""

    def learn(self, chosen: Sequence[int], rewards: Sequence[int]) -> None:
        """Take in the rewards of the arms that were played."""


def places(awake: Masks) -> list[int]:
    """Return the awake arms."""
    found: list[int] = awake.nonzero()[0].tolist()
    return found


def best(values: dict[int, float], plays: int) -> list[int]:
    """Return the arms with the largest values."""
    return sorted(values, key=values.__getitem__)[-plays:]


class Evenhand:
    """Our own agent: compiled, floors allowed, with a decision log."""

    def __init__(self, world: World) -> None:
        evenhand = import_module("evenhand")
        problem = evenhand.Problem(len(world.means), world.plays)
        self.agent = evenhand.Agent(problem, "thompson", seed=world.seed, compiled=True)
        self.places = {name: place for place, name in enumerate(problem.arms)}

    def choose(self, awake: Masks) -> list[int]:
        self.decision = self.agent.ask(awake)
        return list(map(self.places.__getitem__, self.decision.chosen))

    def learn(self, chosen: Sequence[int], rewards: Sequence[int]) -> None:
        names = self.decision.chosen
        self.agent.tell(self.decision.id, dict(zip(names, rewards, strict=True)))


class NumpyLoop:
    """A dozen lines of vectorised NumPy: no names, no checks, no decision log."""

    def __init__(self, world: World) -> None:
        self.rng, self.plays = np.random.default_rng(world.seed), world.plays
        self.good, self.bad = np.ones(len(world.means)), np.ones(len(world.means))

    def choose(self, awake: Masks) -> list[int]:
        here = awake.nonzero()[0]
        samples = self.rng.beta(self.good[here], self.bad[here])
        chosen: list[int] = here[np.argpartition(samples, -self.plays)[-self.plays :]].tolist()
        return chosen

    def learn(self, chosen: Sequence[int], rewards: Sequence[int]) -> None:
        won = np.asarray(rewards, dtype=float)
        self.good[chosen] += won
        self.bad[chosen] += 1.0 - won


class MabWiser:
    """One draw of every arm; the best of those that are awake."""

    def __init__(self, world: World) -> None:
        module = import_module("mabwiser.mab")
        self.arms, self.plays = list(range(len(world.means))), world.plays
        policy = module.LearningPolicy.ThompsonSampling()
        self.bandit = module.MAB(self.arms, policy, seed=world.seed)
        self.bandit.fit(self.arms, [0] * len(self.arms))

    def choose(self, awake: Masks) -> list[int]:
        drawn = self.bandit.predict_expectations()
        return best({i: drawn[i] for i in places(awake)}, self.plays)

    def learn(self, chosen: Sequence[int], rewards: Sequence[int]) -> None:
        self.bandit.partial_fit(list(chosen), list(rewards))


class River:
    """One arm at a time: pulled as often as there are plays, of what is left."""

    def __init__(self, world: World) -> None:
        bandit, proba = import_module("river.bandit"), import_module("river.proba")
        self.policy = bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=world.seed)
        self.plays = world.plays

    def choose(self, awake: Masks) -> list[int]:
        left, chosen = places(awake), []
        for _ in range(self.plays):
            chosen.append(self.policy.pull(left))
            left.remove(chosen[-1])
        return chosen

    def learn(self, chosen: Sequence[int], rewards: Sequence[int]) -> None:
        for arm, reward in zip(chosen, rewards, strict=True):
            self.policy.update(arm, reward)


class PyBandits:
    """One draw of every arm that is not forbidden."""

    def __init__(self, world: World) -> None:
        smab, model = import_module("pybandits.smab"), import_module("pybandits.model")
        self.arms, self.plays = {str(i) for i in range(len(world.means))}, world.plays
        self.bandit = smab.SmabBernoulli(
            actions={str(i): model.Beta() for i in range(len(world.means))},
            random_seed=world.seed,
        )

    def choose(self, awake: Masks) -> list[int]:
        here = {i: str(i) for i in places(awake)}
        _, drawn = self.bandit.predict(forbidden_actions=self.arms.difference(here.values()))
        return best({i: drawn[0][name] for i, name in here.items()}, self.plays)

    def learn(self, chosen: Sequence[int], rewards: Sequence[int]) -> None:
        self.bandit.update(actions=[str(i) for i in chosen], rewards=list(rewards))


class BayesianBandits:
    """All arms in the order of one draw; the first of them that are awake."""

    def __init__(self, world: World) -> None:
        module = import_module("bayesianbandits")
        arms = [
            module.Arm(i, lambda x: x[..., 1], module.DirichletClassifier({0: 1.0, 1: 1.0}))
            for i in range(len(world.means))
        ]
        self.agent = module.Agent(arms, module.ThompsonSampling(), random_seed=world.seed)
        self.size, self.plays = len(arms), world.plays

    def choose(self, awake: Masks) -> list[int]:
        here = set(places(awake))
        [order] = self.agent.pull(top_k=self.size)
        return [i for i in order if i in here][: self.plays]

    def learn(self, chosen: Sequence[int], rewards: Sequence[int]) -> None:
        for arm, reward in zip(chosen, rewards, strict=True):
            self.agent.select_for_update(arm).update(np.array([reward]))


class ContextualBandits:
    """A linear model of one constant feature for every arm; the best draws of awake arms."""

    def __init__(self, world: World) -> None:
        module = import_module("contextualbandits.online")
        self.policy = module.LinTS(len(world.means), random_state=world.seed, njobs=1)
        self.plays, self.one = world.plays, np.ones((1, 1))
        arms = np.arange(len(world.means))
        self.policy.fit(np.ones((arms.size, 1)), arms, np.zeros(arms.size))

    def choose(self, awake: Masks) -> list[int]:
        drawn = self.policy.decision_function(self.one)[0]
        return best({i: drawn[i] for i in places(awake)}, self.plays)

    def learn(self, chosen: Sequence[int], rewards: Sequence[int]) -> None:
        self.policy.partial_fit(
            np.ones((len(chosen), 1)), np.array(chosen), np.array(rewards, dtype=float)
        )


LEARNERS: dict[str, Callable[[World], Any]] = {
    "evenhand": Evenhand,
    "numpy": NumpyLoop,
    "mabwiser": MabWiser,
    "river": River,
    "pybandits": PyBandits,
    "bayesianbandits": BayesianBandits,
    "contextualbandits": ContextualBandits,
}
