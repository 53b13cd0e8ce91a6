"""Agent: ask which arms to play now, tell what they returned, whenever that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from evenhand.agent import _snapshot as snapshot
from evenhand.agent._decision import Decision
from evenhand.core.arrays import Integers, Masks
from evenhand.core.checks import check_number, fail
from evenhand.core.state import (
    copied,
    cumulative_debts,
)
from evenhand.errors import FeedbackError, InputError, SnapshotError
from evenhand.learner import arm_table as rosters
from evenhand.learner.arm_table import took_part
from evenhand.learner.arms import Arms
from evenhand.learner.cancelling import as_if_never_made
from evenhand.learner.decision_log import (
    END_WORDS,
    Entry,
    Receipt,
    check_numbers,
    check_rewards,
    new_rewards,
    packed,
)
from evenhand.learner.deltas import Deltas, added, check_deltas, difference
from evenhand.learner.engine import Compiled
from evenhand.learner.reasons import Reason, prices_of, reasons


class Agent(Arms):
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
    memory
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
    >>> agent.tell(decision.id, {"arts": 1.0}).learned
    ('arts',)
    >>> agent.tell(decision.id, {"arts": 1.0}).repeated
    ('arts',)
    >>> agent.debts()
    {'news': 0.0, 'sport': 0.3, 'arts': 0.0}
    """

    def ask(
        self,
        awake: Iterable[str] | Iterable[int] | Masks | None = None,
        *,
        explain: bool = False,
    ) -> Decision:
        """Decide which of the awake arms to play in this round.

        Clock and debts advance at once: a decision counts whether or not feedback ever comes.

        Parameters
        ----------
        awake
            Names of arms, their places in ``problem.arms``, or a mask with one truth value for
            each; left out, all of them. Paused arms never are.
        explain
            Whether the decision shall have reasons; working out probabilities takes its time.
        """
        with self._lock:
            roster, state = self._roster, self._state
            here = roster.everyone if awake is None else rosters.awake_places(roster, awake)
            before = self._moment(here) if explain else None
            owed = state.debts.copy() if self._reflected else None
            chosen, samples, scores = self._desk.decide(here, self._rng)
            arms, round_ = roster.problem.arms, state.rounds.item()
            picked = tuple([arms[place] for place in chosen.tolist()])
            bits = None if awake is None else packed(here, roster)
            entry = Entry(round_, picked, chosen, roster, bits)
            entry.time += state.cancelled.item()
            if owed is not None:
                entry.before = owed[chosen]
            decision_id = self._ledger.add(entry)
            if before is not None:
                drawn = samples, scores[: here.size].copy(), prices_of(self._desk.memory)
        if before is None:
            return Decision(decision_id, round_, picked, arms, here)
        # Probabilities take their time: the others need not wait for them.
        entry.reasons = reasons(self._policy, arms, before, chosen, *drawn)
        return Decision(decision_id, round_, picked, arms, here, entry.reasons)

    def tell(self, decision_id: int, rewards: Mapping[str, float]) -> Receipt:
        """Learn the rewards of some or all arms of a decision; in any order, once each.

        Telling the same again changes nothing, and the receipt says so; so it does of feedback on
        a decision that has expired, or that is so old that it has been forgotten.

        Raises
        ------
        FeedbackError
            For a decision never made or cancelled, an arm it did not choose, a reward outside
            [0, 1], or one that contradicts an earlier value. Nothing is learned then, not even the
            valid part.
        """
        with self._lock:
            plain = self._ledger.plain_feedback(decision_id, rewards)
            if plain is not None and self._learned_at_once(*plain):
                return Receipt(decision_id, plain[0].chosen)
            entry = self._ledger.find(decision_id)
            check_rewards(rewards)
            if entry is None:
                check_numbers(rewards)
                return Receipt(decision_id, (), expired=tuple(rewards))
            if entry.end == "cancelled":
                raise FeedbackError(
                    f"decision must be one that was made, got {decision_id}: {END_WORDS[entry.end]}"
                )
            news = new_rewards(decision_id, entry, rewards)
            if len(news) == len(rewards):
                repeated: tuple[str, ...] = ()
            else:
                repeated = tuple(arm for arm in rewards if arm not in news)
            if entry.end == "expired":
                return Receipt(decision_id, (), repeated, expired=tuple(news))
            return self._take_in(decision_id, entry, news, repeated)

    def cancel(self, decision_id: int) -> None:
        """Take back a decision that was never shown: it is as if it had not been made.

        Clock, plays, awake counts and debts go back; the random numbers that it drew are gone. What
        is forgotten goes by all decisions, also by those that others followed before they were
        taken back.

        Raises
        ------
        FeedbackError
            If anything has been heard of it, or it was cancelled, has expired or is forgotten.
        """
        with self._lock:
            entry = self._ledger.unheard(decision_id, "cancel")
            if entry.roster is None:
                fail("decision to cancel", "one of this version", f"{decision_id}, an older one's")
            later = self._ledger.later_than(decision_id)
            given = self._roster, self._state, self._policy.forms
            self._roster = as_if_never_made(decision_id, entry, later, *given)
            self._desk.bind(self._roster.terms, self._desk.memory)
            entry.end = "cancelled"

    def expire(self, decision_id: int, reward: float | None = None) -> Receipt:
        """Await no more feedback on a decision.

        The arms of which nothing was heard count as nothing, or as having returned ``reward``.
        What is told later is answered as expired.

        Raises
        ------
        FeedbackError
            If the decision was cancelled, has expired before or is forgotten.
        """
        default = None if reward is None else check_number("reward", reward)
        with self._lock:
            entry = self._ledger.remembered(decision_id)
            if entry.end:
                raise FeedbackError(
                    f"decision to expire must await feedback, got {decision_id}: "
                    f"{END_WORDS[entry.end]}"
                )
            entry.end, awaited = "expired", entry.awaited
            if default is None:
                return Receipt(decision_id, (), expired=awaited)
            return self._take_in(decision_id, entry, dict.fromkeys(awaited, default), ())

    def explain(self, decision_id: int) -> tuple[Reason, ...]:
        """Return the reasons of a decision that was asked for with ``explain=True``.

        Raises
        ------
        FeedbackError
            If the decision is unknown or forgotten, or was made without reasons.
        """
        with self._lock:
            entry = self._ledger.remembered(decision_id)
        if entry.reasons is None:
            raise FeedbackError(
                f"decision to explain must have been asked for with explain=True, got {decision_id}"
            )
        return entry.reasons

    def deltas(self) -> Deltas:
        """Return what this agent has seen since it last said so, for others to :meth:`apply`.

        Raises
        ------
        InputError
            If the policy's state does not add up: reflected debts depend on the order of events.
        """
        with self._lock:
            self._check_sums()
            arms, half_life = self.problem.arms, self._policy.memory_half_life
            found = difference(arms, half_life, self._state, self._base)
            self._base = copied(self._state)
            return found

    def apply(self, deltas: Deltas) -> None:
        """Add what another agent of the same arms has seen; in any order, the totals are the same.

        What takes back more than has been heard of waits for what it takes back.

        Raises
        ------
        InputError
            If the deltas are of other arms, or of a policy that forgets in another way.
        """
        with self._lock:
            self._check_sums()
            arms = self.problem.arms
            checked = check_deltas(deltas, arms, self._policy.memory_half_life)
            self._early = added([*self._early, checked], (self._state, self._base), arms)
            self._state.debts[:] = cumulative_debts(self._state, self._roster.terms)
            self._desk.read()

    def snapshot(self) -> str:
        """Return the whole agent as JSON, random state included; its policy is a registered one."""
        with self._lock:
            return snapshot.write(
                snapshot.Pieces(
                    self._policy,
                    self._horizon,
                    self._roster,
                    self._state,
                    self._base,
                    self._desk.memory,
                    self._early,
                    self._ledger,
                    self._rng,
                )
            )

    @classmethod
    def restore(cls, text: str, *, compiled: Compiled = "auto") -> Agent:
        """Return the agent that a snapshot holds; it goes on with exactly the same decisions."""
        pieces = snapshot.read(text)
        try:
            agent = cls(
                pieces.roster.problem, pieces.policy, horizon=pieces.horizon, compiled=compiled
            )
        except InputError as error:
            raise SnapshotError(f"snapshot must be undamaged, got {error}") from None
        agent._adopt(pieces.roster, pieces.state, pieces.base)
        agent._desk.bind(pieces.roster.terms, pieces.memory)
        agent._early, agent._ledger, agent._rng = pieces.early, pieces.ledger, pieces.rng
        return agent

    def _learned_at_once(self, entry: Entry, rewards: list[float]) -> bool:
        """Learn all rewards of a decision, if its arms are as they were and the rewards right."""
        if entry.roster is not self._roster:
            return False
        if not self._desk.learn(entry.places, rewards, entry.time, self._rng):
            return False
        entry.rewards = list(map(float, rewards))
        return True

    def _take_in(
        self, decision_id: int, entry: Entry, news: dict[str, float], repeated: tuple[str, ...]
    ) -> Receipt:
        """Learn what is news of a decision, of the arms that are still there."""
        learned: tuple[str, ...] = tuple(news)
        if entry.roster is self._roster and learned == entry.chosen:
            places: Integers = entry.places
        else:
            learned = tuple(arm for arm in news if took_part(self._roster, arm, decision_id))
            places = np.array([self._roster.position[arm] for arm in learned], dtype=np.int64)
        rewards = [news[arm] for arm in learned]
        self._desk.learn(places, rewards, entry.time, self._rng)
        if news and not entry.end:
            entry.tell(news)
        if len(learned) == len(news):
            return Receipt(decision_id, learned, repeated)
        ignored = tuple(arm for arm in news if arm not in learned)
        return Receipt(decision_id, learned, repeated, ignored)

    def _check_sums(self) -> None:
        if not self._policy.adds_up:
            rule = "one whose state adds up: with cumulative debts"
            fail("policy of an agent that exchanges deltas", rule, self._policy.label())
