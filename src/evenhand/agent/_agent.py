"""Agent: ask which arms to play now, tell what they returned, whenever that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from evenhand._base.arrays import Floats, Integers
from evenhand._base.checks import WEIGHT, check_known, check_names, check_number, check_whole, fail
from evenhand._base.terms import Terms
from evenhand.agent import _snapshot as snapshot
from evenhand.agent._ledger import Decision, Ledger, Receipt
from evenhand.errors import InputError, SnapshotError
from evenhand.optimum._feasibility import attainable
from evenhand.policies import Policy, Situation, make_policy
from evenhand.policies._state import (
    State,
    awake_rates,
    new_state,
    only_arms,
    posterior_means,
    with_new_arm,
)
from evenhand.policies._steps import advance, choose, learn
from evenhand.problem import Problem


class Agent:
    """Decides which of the awake arms to play, and learns from feedback that may come late.

    Parameters
    ----------
    problem
        The arms, how many may be played, weights and floors.
    policy
        A policy or its registered name; one that knows nature's secrets cannot serve.
    seed
        Of the agent's random numbers; left out, the operating system gives one.
    horizon
        How many decisions are planned, for policies that want to know (``eta="paper"``).
    memory
        How many of the latest decisions can still be told about; older ones are forgotten, so
        that feedback which never comes does not fill the memory.

    Examples
    --------
    >>> agent = Agent(Problem(["news", "sport", "arts"], plays=2, floors=0.3), seed=7)
    >>> decision = agent.ask(awake=["news", "arts"])
    >>> decision.chosen
    ('news', 'arts')
    >>> agent.tell(decision.id, {"arts": 1.0}).learned
    ('arts',)
    >>> agent.tell(decision.id, {"arts": 1.0}).repeated
    ('arts',)
    >>> agent.debts()
    {'news': 0.0, 'sport': 0.3, 'arts': 0.0}
    """

    def __init__(
        self,
        problem: Problem,
        policy: Policy | str = "priced",
        *,
        seed: int | None = None,
        horizon: int | None = None,
        memory: int = 100_000,
    ) -> None:
        if not isinstance(problem, Problem):
            fail("problem", "a Problem", problem)
        self._policy = policy if isinstance(policy, Policy) else make_policy(policy)
        self._horizon = None if horizon is None else check_whole("horizon", horizon, least=1)
        self._ledger = Ledger(check_whole("memory", memory, least=1))
        self._rng = np.random.default_rng(
            None if seed is None else check_whole("seed", seed, least=0)
        )
        self._adopt(problem, problem.terms, new_state(len(problem.arms)))

    @property
    def problem(self) -> Problem:
        """The arms as they are now."""
        return self._problem

    @property
    def policy(self) -> Policy:
        """The policy in use."""
        return self._policy

    @property
    def rounds(self) -> int:
        """How many decisions have been made."""
        return int(self._state.rounds[0])

    def ask(self, awake: Iterable[str] | None = None) -> Decision:
        """Decide which of the awake arms (all of them by default) to play in this round.

        Clock and debts advance at once: a decision counts whether or not feedback ever comes.
        """
        arms, terms = self._problem.arms, self._terms
        here = self._indices(arms if awake is None else awake)
        chosen = np.empty(len(arms), dtype=np.int64)
        scores, scratch = np.zeros(len(arms)), np.empty(len(arms))
        if here.size > terms.plays:
            given = terms, self._constants, self._memory
            self._policy.score(scores, here, self._state, *given, self._rng)
        count = choose(chosen, here, scores, scratch, terms.plays, self._rng)
        advance(self._state, terms, here, chosen[:count], self._policy.reflected)
        picked = tuple(arms[i] for i in chosen[:count])
        decision_id = self._ledger.add(picked)
        return Decision(decision_id, picked, tuple(arms[i] for i in here))

    def tell(self, decision_id: int, rewards: Mapping[str, float]) -> Receipt:
        """Learn the rewards of some or all arms of a decision; in any order, once each.

        Telling the same again changes nothing, and the receipt says so.

        Raises
        ------
        FeedbackError
            For an unknown decision, an arm it did not choose, a reward outside [0, 1], or one
            that contradicts an earlier value. Nothing is learned then, not even the valid part.
        """
        news = self._ledger.new_rewards(decision_id, rewards)
        learned = [arm for arm in news if self._was_there(arm, decision_id)]
        for arm in learned:
            learn(self._state, self._position[arm], news[arm], self._policy.binarised, self._rng)
        self._ledger.record(decision_id, news)
        return Receipt(
            decision_id,
            learned=tuple(learned),
            repeated=tuple(arm for arm in rewards if arm not in news),
            ignored=tuple(arm for arm in news if arm not in learned),
        )

    def join(self, name: str, *, floor: float = 0.0, weight: float = 1.0) -> None:
        """Let a new arm take part; its debt counts from now on."""
        before, terms = self._problem, self._terms
        problem = Problem(
            (*before.arms, name),
            before.plays,
            [*before.weights.tolist(), weight],
            [*before.floors.tolist(), floor],
        )
        now = float(self.rounds)
        joined, since = np.append(terms.joined, now), np.append(terms.since, now)
        promised = np.append(terms.promised, 0.0)
        kept = problem.terms._replace(joined=joined, since=since, promised=promised)
        self._adopt(problem, kept, with_new_arm(self._state))

    def retire(self, name: str) -> None:
        """Let an arm leave; feedback on it that is still under way will be ignored."""
        gone = self._index(name)
        if len(self._problem.arms) == 1:
            fail("the arm to retire", "one of several", name)
        left = [i for i in range(len(self._problem.arms)) if i != gone]
        problem = Problem(
            [self._problem.arms[i] for i in left],
            self._problem.plays,
            self._problem.weights[left],
            self._problem.floors[left],
        )
        terms = self._terms
        kept = problem.terms._replace(
            joined=terms.joined[left], since=terms.since[left], promised=terms.promised[left]
        )
        self._adopt(problem, kept, only_arms(self._state, left))

    def change(self, name: str, *, floor: float | None = None, weight: float | None = None) -> None:
        """Change an arm's floor or weight.

        A new floor counts from now on: what the arm is owed stays, earlier plays beyond its old
        floor are not set against the new one.
        """
        index, state = self._index(name), self._state
        floors, weights = self._problem.floors.copy(), self._problem.weights.copy()
        old = floors[index]
        if floor is not None:
            floors[index] = check_number(f"floor of arm {name!r}", floor)
        if weight is not None:
            weights[index] = check_number(f"weight of arm {name!r}", weight, WEIGHT)
        problem = Problem(self._problem.arms, self._problem.plays, weights, floors)
        since, promised = self._terms.since.copy(), self._terms.promised.copy()
        if floor is not None and floors[index] != old:
            since[index] = self.rounds
            promised[index] = state.played[index] + state.debts[index]
        joined = self._terms.joined
        terms = problem.terms._replace(joined=joined, since=since, promised=promised)
        self._adopt(problem, terms, state)

    def debts(self) -> dict[str, float]:
        """Return how many plays each arm is behind."""
        return self._problem.by_arm(self._state.debts)

    def targets(self) -> dict[str, float]:
        """Return as much of every floor as looks attainable under the awake rates measured so far.

        That is the floor itself, or less where the floors do not all fit: then what lacks is
        shared fairly. Arms are taken to wake independently; a reading, which nothing depends on.
        """
        problem, state = self._problem, self._state
        if self.rounds == 0:
            return problem.by_arm(problem.floors)
        plays = min(problem.plays, len(problem.arms))
        return problem.by_arm(attainable(problem.floors, awake_rates(state, self._terms), plays))

    def posterior_means(self) -> dict[str, float]:
        """Return the estimated mean reward of each arm."""
        return self._problem.by_arm(posterior_means(self._state))

    def rates(self) -> dict[str, float]:
        """Return the fraction of rounds since it joined in which each arm was played."""
        rates: Floats = self._state.played / np.maximum(self.rounds - self._terms.joined, 1)
        return self._problem.by_arm(rates)

    def snapshot(self) -> str:
        """Return the whole agent as JSON, random state included; its policy is a registered one."""
        return snapshot.write(
            snapshot.Pieces(
                self._problem,
                self._policy,
                self._horizon,
                self._terms,
                self._state,
                self._memory,
                self._ledger,
                self._rng,
            )
        )

    @classmethod
    def restore(cls, text: str) -> Agent:
        """Return the agent that a snapshot holds; it goes on with exactly the same decisions."""
        pieces = snapshot.read(text)
        try:
            agent = cls(pieces.problem, pieces.policy, horizon=pieces.horizon)
        except InputError as error:
            raise SnapshotError(f"snapshot must be undamaged, got {error}") from None
        agent._terms, agent._state, agent._memory = pieces.terms, pieces.state, pieces.memory
        agent._ledger, agent._rng = pieces.ledger, pieces.rng
        return agent

    def _adopt(self, problem: Problem, terms: Terms, state: State) -> None:
        """Go on with other arms; the constants come first, since they can be refused."""
        self._constants = self._policy.constants(Situation(problem, self._horizon))
        self._problem, self._terms, self._state = problem, terms, state
        self._memory = self._policy.new_memory(len(problem.arms))
        self._position = {arm: i for i, arm in enumerate(problem.arms)}

    def _was_there(self, arm: str, decision_id: int) -> bool:
        """Say whether it was this arm, not an earlier one of its name, that was decided about."""
        return arm in self._position and self._terms.joined[self._position[arm]] < decision_id

    def _index(self, name: str) -> int:
        check_known("arm", [name], self._position)
        return self._position[name]

    def _indices(self, awake: Iterable[str]) -> Integers:
        """Return the positions of the awake arms in ascending order."""
        given = check_names("awake arms", awake)
        check_known("awake arm", given, self._position)
        return np.array(sorted(self._position[name] for name in given), dtype=np.int64)
