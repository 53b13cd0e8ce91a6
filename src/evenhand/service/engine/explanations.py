"""The basis of recent decisions, kept in memory, so that reasons can be computed on request.

Computing reasons takes longer than deciding. So the state and the samples of a few dozen decisions
are kept, and reasons are computed when a client asks for them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers, Random
from evenhand.core.round import given_samples, never, round_of
from evenhand.core.schema import copied
from evenhand.core.state import DecisionView
from evenhand.learner.decision import Reason
from evenhand.learner.reasons import Basis, prices_of, reasons
from evenhand.policies import Policy

KEPT = 50
# Limits: numbers kept per bandit, and bandits.
KEPT_NUMBERS = 10_000
KEPT_BANDITS = 64
ASIDE = {"explore": never, "draw_samples": given_samples}


class BatchBasis(NamedTuple):
    """The basis of consecutive decisions: the view before the first one, and the samples.

    Only for policies whose scores are functions of samples, and whose memory does not depend on
    them. Samples are kept of the last decisions.
    """

    policy: Policy
    arms: tuple[str, ...]
    view: DecisionView
    memory: Any
    constants: Any
    chosen: Sequence[Integers]
    samples: Sequence[Floats]

    def one(self, index: int) -> Basis:
        """Replay the rounds up to one with the recorded choices; return its basis."""
        policy, view, options = self.policy, self.view, self.policy.options
        replay = round_of(policy.scoring, choose=as_recorded, **ASIDE)
        state, memory = copied(view.state), copied(self.memory)
        scores, scratch = np.zeros((2, state.played.size))
        filler, unused_rng = np.full(view.awake.size, 0.5), np.random.default_rng(0)
        for number, chosen in enumerate(self.chosen[: index + 1]):
            before = view._replace(state=copied(state)), copied(memory)
            last = number == index
            samples = self.samples[index - len(self.chosen)] if last else filler
            given = state, view.problem, scores, scratch, options, self.constants, memory
            nothing = view.belief, view.promises
            replay(chosen, view.awake, samples, *given, *nothing, unused_rng)
        scored = scores[: view.awake.size] if view.awake.size > view.problem.plays else scores[:0]
        found = before[0]._replace(samples=samples), self.constants, before[1]
        return Basis(policy, self.arms, *found, chosen, scored, prices_of(memory))


def as_recorded(
    chosen: Integers, awake: Integers, scores: Floats, scratch: Floats, plays: int, rng: Random
) -> int:
    """Choose the recorded arms."""
    return chosen.size


class DecisionBasis(NamedTuple):
    """The basis of a decision: its own, or that of a batch and its number in it."""

    basis: Basis | BatchBasis
    number: int = 0


def reasons_of(decision: DecisionBasis) -> list[Reason]:
    """Compute the reasons of a decision, with probabilities; slow for many arms."""
    basis, number = decision
    return list(reasons(basis.one(number) if isinstance(basis, BatchBasis) else basis))


class RecentBases:
    """A cache of the bases of the last decisions, by bandit key and decision id.

    One thread adds after each commit; other threads may look up at any time.
    """

    def __init__(self) -> None:
        self._bandits: OrderedDict[int, OrderedDict[str, DecisionBasis]] = OrderedDict()

    def add(self, bandit: int, bases: Sequence[tuple[str, DecisionBasis]]) -> None:
        """Add the bases of committed decisions, and drop the oldest."""
        if not bases:
            return
        known = self._bandits.setdefault(bandit, OrderedDict())
        self._bandits.move_to_end(bandit)
        arms = len(bases[-1][1].basis.arms)
        known.update(bases[-KEPT:])
        most = max(min(KEPT, KEPT_NUMBERS // arms), 1)
        while len(known) > most:
            known.popitem(last=False)
        if len(self._bandits) > KEPT_BANDITS:
            self._bandits.popitem(last=False)

    def find(self, bandit: int, decision: str) -> DecisionBasis | None:
        """Return the basis of a decision; None if it is no longer kept."""
        known = self._bandits.get(bandit)
        return None if known is None else known.get(decision)
