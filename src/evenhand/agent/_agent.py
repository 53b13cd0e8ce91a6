"""Agent: ask which arms to play now, tell what they returned, whenever that is known."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evenhand.agent import _snapshot as snapshot
from evenhand.agent._decision_log import DecisionLog
from evenhand.agent._deltas import (
    Deltas,
    Sums,
    added,
    carried_sums,
    check_deltas,
    copied_sums,
    difference,
)
from evenhand.agent._history import history_rows
from evenhand.core.arrays import Floats, Integers, Masks
from evenhand.core.checks import brief, check_number, check_whole, fail
from evenhand.core.promises import PromiseArrays, PromiseState
from evenhand.core.round import begin_epoch
from evenhand.errors import FeedbackError, InputError, SnapshotError
from evenhand.learner.awake import awake_indices, packed
from evenhand.learner.decision import (
    Decision,
    DecisionRecord,
    Reason,
    Receipt,
    awaited,
    id_of,
)
from evenhand.learner.engine import Compiled
from evenhand.learner.feedback import END_WORDS, rule_on
from evenhand.learner.learner import Learner
from evenhand.learner.promises import PromiseStatus, keys_of
from evenhand.learner.reasons import reasons
from evenhand.policies import Policy
from evenhand.problem import Problem
from evenhand.promises import Promise

# Half the width of the middle 95% of a normal distribution, in standard deviations.
MIDDLE = 1.959963984540054
Context: TypeAlias = Mapping[str, Any] | Sequence[float] | Floats | None


class Coefficient(NamedTuple):
    """A coefficient of a regression: its mean, and the middle 95% of its posterior."""

    mean: float
    low: float
    high: float


class Agent:
    """Decides which of the awake arms to play, and learns from feedback that may come late.

    All methods may be called from any thread; each is done as a whole before another begins.

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
    log_size
        How many of the latest decisions can still be told about; older ones count as expired, so
        that feedback which never comes does not fill the memory.
    compiled
        Whether decisions are compiled, here and now (the first time ever takes seconds, later ones
        find machine code on the disk): True, False, or ``"auto"``, where numba is installed and
        there are ten arms or more. The decisions are the same.

    Examples
    --------
    >>> from evenhand import Problem
    >>> agent = Agent(Problem(["news", "sport", "arts"], plays=2, floors=0.3), seed=7)
    >>> decision = agent.ask(awake=["news", "arts"])
    >>> decision.chosen
    ('news', 'arts')
    >>> agent.tell(decision, {"arts": 1.0}).learned
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
        log_size: int = 100_000,
        compiled: Compiled = "auto",
    ) -> None:
        self._learner = Learner(
            problem, policy, seed=seed, horizon=horizon, compiled=compiled, strict=True
        )
        self._log = DecisionLog(check_whole("log_size", log_size, least=1))
        self._lock = threading.RLock()
        # As much of the state as other agents know already, and what came from them too early.
        self._base = copied_sums(self._sums)
        self._early: list[Deltas] = []

    @property
    def problem(self) -> Problem:
        """The arms as they are now."""
        return self._learner.problem

    @property
    def policy(self) -> Policy:
        """The policy in use."""
        return self._learner.policy

    @property
    def rounds(self) -> int:
        """How many decisions have been made, but those that were cancelled."""
        return self._learner.rounds

    @property
    def compiled(self) -> bool:
        """Whether decisions are compiled."""
        return self._learner.engine.compiled

    def ask(
        self,
        awake: Iterable[str] | Iterable[int] | Masks | None = None,
        *,
        context: Context = None,
        explain: bool = False,
    ) -> Decision:
        """Decide which of the awake arms to play in this round.

        Clock and debts advance at once: a decision counts whether or not feedback ever comes.

        Parameters
        ----------
        awake
            Names of arms, their indices in ``problem.arms``, or a mask with one truth value for
            each; left out, all of them. Paused arms never are.
        context
            What is known of this round: a mapping from the problem's features to values, or an
            array of numbers in their order. Left out if the problem has no features.
        explain
            Whether the decision has reasons; computing probabilities is slow.
        """
        with self._lock:
            learner, table = self._learner, self._learner.table
            here = table.everyone if awake is None else awake_indices(table, awake)
            known = learner.encode(context)
            before = learner.before(here, known) if explain else None
            drawn = learner.decide(here, known)
            indices, owed, *_ = drawn
            arms = table.problem.arms
            chosen = tuple([arms[index] for index in indices.tolist()])
            bits = None if awake is None else packed(here, table)
            record = learner.record(indices, owed, bits, chosen, known)
            self._log.add(record)
            basis = None if before is None else learner.basis(*before, drawn)
        if basis is not None:
            # Computing probabilities is slow: other threads need not wait for it.
            record.reasons = reasons(basis)
        return Decision(record.number, record.round, chosen, record.reasons or (), (arms, here))

    def tell(self, decision: Decision | int | str, rewards: Mapping[str, float]) -> Receipt:
        """Learn the rewards of some or all arms of a decision, given as such or by its id.

        Rewards may come in any order, and are learned once each.

        Telling the same again changes nothing, and the receipt says so; so it does of feedback on
        a decision that has expired, or that is so old that it has been forgotten.

        Raises
        ------
        FeedbackError
            For a decision never made or cancelled, an arm it did not choose, a reward outside
            [0, 1], or one that contradicts an earlier value. Nothing is learned then, not even the
            valid part.
        """
        decision_id = decision if type(decision) is int else id_of(decision)
        with self._lock:
            plain = self._log.plain_feedback(decision_id, rewards)
            if plain is not None and self._learned_at_once(*plain):
                return Receipt(decision_id, plain[0].chosen)
            if not isinstance(rewards, Mapping):
                raise FeedbackError(f"feedback must map arms to rewards, got {brief(rewards)}")
            ruling = rule_on(decision_id, self._log.known(decision_id), rewards)
            if ruling.refused:
                raise FeedbackError(ruling.detail)
            if ruling.outcome == "expired":
                return Receipt(decision_id, (), ruling.repeated, expired=tuple(ruling.news))
            record = self._log.records[int(decision_id)]
            return self._take_in(decision_id, record, ruling.news, ruling.repeated)

    def cancel(self, decision: Decision | int | str) -> None:
        """Cancel a decision that was never shown: it is as if it had not been made.

        Clock, plays, awake counts and debts go back; the random numbers that it drew are gone. What
        is forgotten goes by all decisions, also by those that others followed before they were
        cancelled.

        Raises
        ------
        FeedbackError
            If anything has been heard of it, or it was cancelled, has expired or is forgotten.
        """
        with self._lock:
            record = self._log.unheard(id_of(decision), "cancel")
            self._learner.cancel(record, self._log.later_than(record.number))
            record.end = "cancelled"

    def expire(self, decision: Decision | int | str, reward: float | None = None) -> Receipt:
        """Await no more feedback on a decision.

        The arms of which nothing was heard count as nothing, or as having returned ``reward``.
        What is told later is answered as expired.

        Raises
        ------
        FeedbackError
            If the decision was cancelled, has expired before or is forgotten.
        """
        default = None if reward is None else check_number("reward", reward)
        decision_id = id_of(decision)
        with self._lock:
            record = self._log.remembered(decision_id)
            if record.end:
                raise FeedbackError(
                    f"decision to expire must await feedback, got {decision_id}: "
                    f"{END_WORDS[record.end]}"
                )
            record.end, waiting = "expired", awaited(record.chosen, record.told)
            if default is None:
                return Receipt(decision_id, (), expired=waiting)
            return self._take_in(decision_id, record, dict.fromkeys(waiting, default), ())

    def explain(self, decision: Decision | int | str) -> tuple[Reason, ...]:
        """Return the reasons of a decision that was asked for with ``explain=True``.

        Raises
        ------
        FeedbackError
            If the decision is unknown or forgotten, or was made without reasons.
        """
        with self._lock:
            record = self._log.remembered(id_of(decision))
        if record.reasons is None:
            raise FeedbackError(
                "decision to explain must have been asked for with explain=True, "
                f"got {record.number}"
            )
        return record.reasons

    def join(
        self,
        name: str | Iterable[str],
        *,
        floor: object = 0.0,
        weight: object = 1.0,
        prior: tuple[float, float] | None = None,
        ceiling: object = 1.0,
        promises: Iterable[str] = (),
    ) -> None:
        """Add an arm, or many; their debts count from now on.

        One floor, weight or ceiling stands for all of many, or there is a list with one for each.
        ``prior`` is ``(mean, count)``: as if so many rewards of that mean had been seen.
        ``promises`` are the names of promises that the arms are to be part of; those of
        ``"all"`` arms have them anyway.
        """
        with self._lock:
            before = self.problem.arms
            self._learner.join(name, floor, weight, prior, ceiling, promises)
            self._carry(before)
            self._base.know_priors(self._sums, before, self.problem.arms)

    def retire(self, name: str | Iterable[str]) -> None:
        """Remove an arm, or many; pending feedback on them will be ignored.

        A promise goes on with the arms that it has left, and ends with the last of them.
        """
        with self._lock:
            before = self.problem.arms
            self._learner.retire(name)
            self._carry(before)

    def change(
        self,
        name: str | Iterable[str],
        *,
        floor: object = None,
        weight: object = None,
        ceiling: object = None,
    ) -> None:
        """Change the floor, the weight or the ceiling of an arm, or of many.

        A new floor counts from now on: what the arm is owed stays, earlier plays beyond its old
        floor are not set against the new one. A ceiling of 1 is none.
        """
        with self._lock:
            before = self.problem.arms
            self._learner.change(name, floor, weight, ceiling)
            self._carry(before)

    def set_promise(self, promise: Promise) -> None:
        """Make a promise beyond floors, or change the bounds and the arms of the one of its name.

        A new bound counts from now on: what is owed stays, and what the promise was ahead of its
        old bound is forgiven.

        Raises
        ------
        InfeasiblePromises
            If all promises do not fit even if all arms are always awake; nothing has changed then.
        """
        with self._lock:
            self._learner.set_promise(promise)
            self._carry(self.problem.arms)

    def remove_promise(self, name: str) -> None:
        """Take back a promise beyond floors; nothing is owed to it any more."""
        with self._lock:
            self._learner.remove_promise(name)
            self._carry(self.problem.arms)

    def promises(self) -> dict[str, PromiseStatus]:
        """Return how each promise beyond floors stands: rate, bounds, debt and price.

        >>> from evenhand import Problem, Promise
        >>> local = Promise(["farm", "dairy"], at_least=0.5, name="local")
        >>> agent = Agent(Problem(["farm", "dairy", "mall"], plays=1, promises=[local]), seed=1)
        >>> _ = agent.ask(["mall"])
        >>> agent.promises()["local"].debt
        0.5
        """
        with self._lock:
            return self._learner.statuses()

    def set_plays(self, plays: int) -> None:
        """Change at most how many arms are played in a round."""
        with self._lock:
            self._learner.set_plays(plays)

    def pause(self, name: str | Iterable[str]) -> None:
        """Pause an arm, or many: it is not played, and its debt does not grow.

        Nor does that of a promise all of whose arms are paused.
        """
        with self._lock:
            self._learner.pause(name)

    def resume(self, name: str | Iterable[str]) -> None:
        """Resume a paused arm, or many."""
        with self._lock:
            counted = self._learner.resume(name)
            begin_epoch(self._base.state, int(self._learner.state.epoch[0]))
            self._base.state.awake_counts[:] += counted

    def debts(self) -> dict[str, float]:
        """Return how many plays each arm is behind; 0 if it is ahead."""
        with self._lock:
            return self.problem.by_arm(self._learner.debts())

    def targets(self) -> dict[str, float]:
        """Return as much of every floor as looks attainable under the awake rates measured so far.

        That is the floor itself, or less where the floors do not all fit: then what lacks is
        shared fairly. Arms are taken to wake independently; for information only.
        """
        with self._lock:
            return self.problem.by_arm(self._learner.targets())

    def posterior_means(self) -> dict[str, float]:
        """Return the estimated mean reward of each arm."""
        with self._lock:
            return self.problem.by_arm(self._learner.posterior_means())

    def rates(self) -> dict[str, float]:
        """Return the fraction of rounds since it joined, without pauses, that each arm played."""
        with self._lock:
            return self.problem.by_arm(self._learner.rates())

    def coefficients(self) -> dict[str, dict[str, Coefficient]]:
        """Return the coefficient of each number of an encoded context, by arm.

        Of the linear belief they are in rewards, of the logistic one in log-odds; a number is
        scaled to [-1, 1], yes and no are 1 and -1, and a category is 1 if it is the one.

        Raises
        ------
        InputError
            If the belief is no regression.
        """
        with self._lock:
            columns, arms = self.problem.features.columns, self.problem.arms
            means, deviations = self._learner.coefficients()
        return {
            arm: {
                column: Coefficient(mean, mean - MIDDLE * far, mean + MIDDLE * far)
                for column, mean, far in zip(columns, own, wide, strict=True)
            }
            for arm, own, wide in zip(arms, means.tolist(), deviations.tolist(), strict=True)
        }

    def learn_history(self, frame: object) -> int:
        """Learn rewards that no decision of this agent was made for; return how many.

        Clock, plays and debts stay as they are. All rows are checked before the first is learned.

        Parameters
        ----------
        frame
            A polars or pandas frame, or a list of mappings, with ``arm`` and ``reward`` and, if the
            problem has features, a column for each of them, or one with the ``context``.
        """
        with self._lock:
            rows = history_rows(frame, self.problem)
            self._learner.learn_history(rows)
        return len(rows)

    def deltas(self) -> Deltas:
        """Return what this agent has seen since it last said so, for others to :meth:`apply`.

        Raises
        ------
        InputError
            If the policy's state does not add up: with a finite surplus, debts depend on the order
            of events.
        """
        with self._lock:
            self._check_sums()
            half_life = self._learner.options.half_life
            found = difference(self.problem.arms, half_life, self._sums, self._base)
            self._base = copied_sums(self._sums)
            return found

    def apply(self, deltas: Deltas) -> None:
        """Add what another agent of the same arms has seen; in any order, the totals are the same.

        Deltas that would make a total negative (cancellations that arrive before their decisions)
        wait until the decisions arrive.

        Raises
        ------
        InputError
            If the deltas are of other arms, or of a policy that forgets in another way.
        """
        with self._lock:
            self._check_sums()
            arms, half_life = self.problem.arms, self._learner.options.half_life
            checked = check_deltas(deltas, arms, half_life, self._sums)
            self._early = added([*self._early, checked], (self._sums, self._base), arms)
            self._learner.settle_debts()

    def snapshot(self) -> str:
        """Return the whole agent as JSON, random state included; its policy is a registered one."""
        with self._lock:
            learner = self._learner
            return snapshot.write(
                snapshot.SnapshotParts(
                    learner.policy,
                    learner.horizon,
                    learner.table,
                    learner.state,
                    self._base,
                    learner.engine.memory,
                    learner.belief,
                    learner.promises,
                    self._early,
                    self._log,
                    learner.rng,
                )
            )

    @classmethod
    def restore(cls, text: str, *, compiled: Compiled = "auto") -> Agent:
        """Return the agent that a snapshot holds; it continues with exactly the same decisions."""
        parts = snapshot.read(text)
        try:
            agent = cls(parts.table.problem, parts.policy, horizon=parts.horizon, compiled=compiled)
        except InputError as error:
            raise SnapshotError(f"snapshot must be undamaged, got {error}") from None
        own = parts.memory, parts.belief, parts.promises
        agent._learner.adopt(parts.table, parts.state, *own)
        agent._learner.rng, agent._learner.decisions = parts.rng, parts.log.latest
        agent._base, agent._early, agent._log = parts.base, parts.early, parts.log
        return agent

    def _learned_at_once(self, record: DecisionRecord, rewards: list[float]) -> bool:
        """Learn all rewards of a decision, if its arms are as they were and the rewards right."""
        if record.table is not self._learner.table:
            return False
        if not self._learner.learn(record.indices, rewards, record.time, record.context):
            return False
        record.rewards = list(map(float, rewards))
        return True

    def _take_in(
        self,
        decision_id: int | str,
        record: DecisionRecord,
        news: dict[str, float],
        repeated: tuple[str, ...],
    ) -> Receipt:
        """Learn what is news of a decision, of the arms that are still there."""
        learned = self._learner.still_there(record, news)
        if record.table is self._learner.table and learned == record.chosen:
            indices: Integers = record.indices
        else:
            position = self._learner.table.position
            indices = np.array([position[arm] for arm in learned], dtype=np.int64)
        told = [news[arm] for arm in learned]
        self._learner.learn(indices, told, record.time, record.context)
        if news and not record.end:
            record.tell(news)
        ignored = tuple(arm for arm in news if arm not in learned)
        return Receipt(decision_id, learned, repeated, ignored)

    @property
    def _sums(self) -> Sums:
        """Everything that adds up over decisions and feedback."""
        learner = self._learner
        promises: Any = learner.promises
        if isinstance(promises, PromiseArrays):
            promises = PromiseState(promises.debts, promises.delivered)
        keys = tuple(keys_of(learner.problem.rows))
        return Sums(learner.state, learner.belief, promises, keys)

    def _carry(self, before: Sequence[str]) -> None:
        """Keep what other agents know already for the arms and promises there are now."""
        self._base = carried_sums(self._base, before, self._sums, self.problem.arms)

    def _check_sums(self) -> None:
        if not self._learner.adds_up:
            rule = "one whose state adds up: with an infinite surplus, and not the logistic belief"
            fail("policy of an agent that exchanges deltas", rule, self.policy.label())
