"""What the last decisions were made from, kept at hand: why they were made can be asked later.

Reasons take longer to work out than decisions. So what was known and drawn is kept of a few dozen
decisions, in memory, and looked into when somebody wants to know.
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
# Of bandits with many arms fewer decisions are kept, and of few bandits only.
KEPT_NUMBERS = 10_000
KEPT_BANDITS = 64
ASIDE = {"explore": never, "draw_samples": given_samples}


class ManyBases(NamedTuple):
    """What decisions in a row were made from: the view before the first one, and what was drawn.

    Only for policies whose scores follow from samples, which are kept of the last ones; what such
    a policy remembers does not depend on them.
    """

    policy: Policy
    arms: tuple[str, ...]
    view: DecisionView
    memory: Any
    constants: Any
    chosen: Sequence[Integers]
    samples: Sequence[Floats]

    def one(self, index: int) -> Basis:
        """Play the rounds again up to one, with the choices that were made; return its basis."""
        policy, view, options = self.policy, self.view, self.policy.options
        replay = round_of(policy.score, choose=as_recorded, **ASIDE)
        state, memory = copied(view.state), copied(self.memory)
        scores, scratch = np.zeros((2, state.played.size))
        anything, nobody = np.full(view.awake.size, 0.5), np.random.default_rng(0)
        for number, chosen in enumerate(self.chosen[: index + 1]):
            before = view._replace(state=copied(state)), copied(memory)
            last = number == index
            samples = self.samples[index - len(self.chosen)] if last else anything
            given = state, view.problem, scores, scratch, options, self.constants, memory
            replay(chosen, view.awake, samples, *given, nobody)
        scored = scores[: view.awake.size] if view.awake.size > view.problem.plays else scores[:0]
        found = before[0]._replace(samples=samples), self.constants, before[1]
        return Basis(policy, self.arms, *found, chosen, scored, prices_of(memory))


def as_recorded(
    chosen: Integers, awake: Integers, scores: Floats, scratch: Floats, plays: int, rng: Random
) -> int:
    """Choose what was chosen."""
    return chosen.size


class Source(NamedTuple):
    """Where the reasons of a decision are to be found: what it, or a row of them, was made from."""

    made_from: Basis | ManyBases
    number: int = 0


def reasons_of(source: Source) -> list[Reason]:
    """Work out why arms were chosen, and how likely that was; takes its time."""
    basis, number = source
    return list(reasons(basis.one(number) if isinstance(basis, ManyBases) else basis))


class Recent:
    """The sources of the last decisions of every bandit, by the bandits' keys and their own ids.

    One thread adds, after each commit; who looks meanwhile finds a decision or does not.
    """

    def __init__(self) -> None:
        self._bandits: OrderedDict[int, OrderedDict[str, Source]] = OrderedDict()

    def add(self, bandit: int, sources: Sequence[tuple[str, Source]]) -> None:
        """Keep sources of decisions that have been committed."""
        if not sources:
            return
        known = self._bandits.setdefault(bandit, OrderedDict())
        self._bandits.move_to_end(bandit)
        arms = len(sources[-1][1].made_from.arms)
        known.update(sources[-KEPT:])
        most = max(min(KEPT, KEPT_NUMBERS // arms), 1)
        while len(known) > most:
            known.popitem(last=False)
        if len(self._bandits) > KEPT_BANDITS:
            self._bandits.popitem(last=False)

    def find(self, bandit: int, decision: str) -> Source | None:
        """Return the source of a decision, if it is still there."""
        known = self._bandits.get(bandit)
        return None if known is None else known.get(decision)
