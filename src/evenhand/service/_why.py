"""What the last decisions were made from, kept at hand: why they were made can be asked later.

Reasons take longer to work out than decisions. So what was known and drawn is kept of a few dozen
decisions, in memory, and looked into when somebody wants to know.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.round import steps_of
from evenhand.core.state import copied
from evenhand.learner.reasons import prices_of, reasons
from evenhand.policies import Policy
from evenhand.policies.policy import Moment
from evenhand.service._bodies import Reason

KEPT = 50
# Of bandits with many arms fewer decisions are kept, and of few bandits only.
KEPT_NUMBERS = 10_000
KEPT_BANDITS = 64


class Drawn(NamedTuple):
    """What a decision was made from."""

    policy: Policy
    arms: tuple[str, ...]
    moment: Moment
    chosen: Integers
    samples: Floats
    scores: Floats
    prices: Floats | None


class DrawnMany(NamedTuple):
    """What decisions in a row were made from: the moment before the first one, and what was drawn.

    Only for policies whose scores follow from samples, which are kept of the last ones; what such
    a policy remembers does not depend on them.
    """

    policy: Policy
    arms: tuple[str, ...]
    moment: Moment
    chosen: Sequence[Integers]
    samples: Sequence[Floats]

    def one(self, place: int) -> Drawn:
        """Go through the decisions again up to one, and return what it was made from."""
        policy, moment = self.policy, self.moment
        awake, terms, forms = moment.awake, moment.terms, policy.forms
        advance = steps_of(forms).advance
        state, memory = copied(moment.state), copied(moment.memory)
        scores, nobody = np.zeros(state.played.size), np.random.default_rng(0)
        anything = np.full(awake.size, 0.5)
        for chosen in self.chosen[:place]:
            if awake.size > terms.plays:
                given = anything, state, terms, moment.constants, memory, nobody
                policy.score(scores, awake, *given)
            advance(state, terms, awake, chosen, forms)
        before = Moment(awake, copied(state), terms, moment.constants, copied(memory))
        samples, scored = self.samples[place - len(self.chosen)], np.empty(0)
        if awake.size > terms.plays:
            policy.score(scores, awake, samples, state, terms, moment.constants, memory, nobody)
            scored = scores[: awake.size]
        chosen, prices = self.chosen[place], prices_of(memory)
        return Drawn(policy, self.arms, before, chosen, samples, scored, prices)


class Source(NamedTuple):
    """Where the reasons of a decision are to be found: what it, or a row of them, was made from."""

    made_from: Drawn | DrawnMany
    place: int = 0


def reasons_of(source: Source) -> list[Reason]:
    """Work out why arms were chosen, and how likely that was; takes its time."""
    drawn, place = source
    one = drawn.one(place) if isinstance(drawn, DrawnMany) else drawn
    return [Reason(*line) for line in reasons(*one)]


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
