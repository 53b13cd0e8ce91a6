"""Where decisions are made: the shared steps around one policy's score, interpreted or compiled.

A call of machine code costs what its arguments cost: so the state lies in a few blocks, and a
random generator (the dearest argument of all) is passed only to policies that draw from it
themselves. Samples come from NumPy, which draws the same bits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats, Integers, Masks, frozen
from evenhand.core.checks import fail
from evenhand.core.extras import load
from evenhand.core.fading import round_weight
from evenhand.core.jit import compiled, interpreted
from evenhand.core.round import (
    Forms,
    advance,
    choose,
    choose_clear,
    explore,
    flipped,
    steps_of,
)
from evenhand.core.state import State, copied, posterior
from evenhand.core.terms import Terms
from evenhand.policies import Policy
from evenhand.policies.families import EtaOnly
from evenhand.policies.policy import NoMemory
from evenhand.policies.tscsf_b import score

Compiled: TypeAlias = bool | Literal["auto"]
Blocks: TypeAlias = tuple[Integers, Integers, Floats]
# Stand-ins for the policy's own: how its constants and its memory are made, and how many of the
# numbers at the end of a decision's arguments are constants.
Constants, Memory = EtaOnly, NoMemory
CONSTANTS = len(EtaOnly._fields)
PAYS_FROM = 10
# Up to so many arms a loop over NumPy's scalar draws is quicker than one call for all of them.
FEW_DRAWS = 14
SLOW_SECONDS = 1.0
log = logging.getLogger(__name__)


class Many(NamedTuple):
    """Decisions in a row: the chosen arms of each, and its samples, none if none were drawn."""

    chosen: list[Integers]
    samples: list[Floats]


class Desk:
    """Chooses arms and takes in rewards, for one policy and the arms of one moment.

    ``state`` is the given one, laid out in blocks. ``alphas`` and ``betas`` are the posteriors of a
    policy that does not forget, kept up to date as rewards come in.
    """

    def __init__(
        self, policy: Policy, state: State, terms: Terms, constants: Any, wanted: Compiled
    ) -> None:
        arms = state.played.size
        self.compiled = check_compiled(wanted, arms)
        self.constants, self.memory = constants, policy.new_memory(arms)
        self.state, self._blocks = laid_out(state)
        self._forms, self._own = policy.forms, policy.drawing in ("own", "both")
        self._exploring = self._forms.exploration > 0.0
        self._decide = self._made(decide, **self._given(policy, constants))
        each = interpreted(decide, **self._given(policy, constants))
        self._decide_each = self._made(decide_each, decide=each)
        self._choose, self._take_in = self._made(choose), self._made(take_in)
        self._advance = self._made(steps_of(self._forms).advance)
        self._scores, self._scratch = self._buffers = np.zeros((2, arms))
        self._none, self._places = np.empty(0), min(terms.plays, arms)
        self.read()
        self.bind(terms, self.memory)
        if self.compiled:
            self._warm_up()

    def bind(self, terms: Terms, memory: Any) -> None:
        """Go on with other terms for the same arms, and with what the policy remembered."""
        self._terms, self._promises = terms, frozen(np.array(terms[1:6]))
        self.memory = memory
        self._numbers = (
            self._buffers,
            *self._blocks,
            self._promises,
            self._terms.paused,
            self._terms.plays,
            self._forms.reflected,
            self._forms.half_life,
            self._forms.tightening,
            *self.constants,
            *memory,
        )

    def read(self) -> None:
        """Work out the posteriors anew: the state has changed in other ways than by learning."""
        everyone = np.arange(self.state.played.size)
        self._posteriors = np.array(posterior(self.state, everyone, np.inf))
        self.alphas, self.betas = self._posteriors

    def decide(self, awake: Integers, rng: np.random.Generator) -> tuple[Integers, Floats, Floats]:
        """Choose arms and advance clock and debts; return them with the samples and scores.

        Samples and scores are empty where there was none: the choice was by exploration, or
        between no more arms than can be played.
        """
        samples = scores = self._none
        if awake.size > self._terms.plays:
            if self._exploring and explore(self._scores, awake, self._forms, rng):
                return self._settled(awake, rng), samples, scores
            samples, scores = self._drawn(awake, rng), self._scores
        chosen = np.empty(self._places, dtype=np.int64)
        count = self._decide(chosen, awake, samples, rng if self._own else None, *self._numbers)
        if count < 0:
            return self._settled(awake, rng), samples, scores
        return chosen if count == self._places else chosen[:count], samples, scores

    def decide_many(self, count: int, awake: Integers, rng: np.random.Generator) -> Many | None:
        """Choose arms for many decisions in a row with the same arms awake, in one call.

        The choices are those that as many calls of :meth:`decide` would make. None if that cannot
        be promised: what is drawn for one depends on the one before.
        """
        forms = self._forms
        if self._own or forms.exploration > 0.0 or forms.half_life < np.inf:
            return None
        found, drawn = Many([], [])
        while len(found) < count:
            size = count - len(found)
            samples = np.empty((size, 0))
            if awake.size > self._terms.plays and forms.sampled:
                samples = rng.beta(self.alphas[awake], self.betas[awake], (size, awake.size))
            chosen = np.empty((size, self._places), dtype=np.int64)
            made, number = self._decide_each(chosen, awake, samples, None, *self._numbers)
            found += list(chosen[:made, :number])
            if made < size:
                found.append(self._settled(awake, rng))
            drawn += list(samples[: made + 1])
        return Many(found, drawn)

    def learn(
        self, arms: Integers, rewards: Sequence[Any], round_: int, rng: np.random.Generator
    ) -> bool:
        """Take in rewards of a decision of a round, in the order of its arms.

        If one of them is not in [0, 1] nothing is taken in, and the answer is False.
        """
        forms, state = self._forms, self.state
        if forms.binarised:
            if not all(0.0 <= reward <= 1.0 for reward in rewards):
                return False
            rewards = [flipped(reward, rng) for reward in rewards]
        weight = 1.0
        if forms.half_life < np.inf:
            weight = round_weight(round_, int(state.epoch[0]), forms.half_life)
        try:
            told = np.array(rewards, np.float64)
        except OverflowError:
            return False
        taken: bool = self._take_in(self._blocks[2], self._posteriors, arms, told, weight)
        return taken

    def _drawn(self, awake: Integers, rng: np.random.Generator) -> Floats:
        """Return a sample of every awake arm; none for a policy that scores without."""
        if not self._forms.sampled:
            return self._none
        if self._forms.half_life < np.inf:
            return rng.beta(*posterior(self.state, awake, self._forms.half_life))
        alphas, betas = self.alphas, self.betas
        if awake.size < alphas.size:
            alphas, betas = alphas[awake], betas[awake]
        if awake.size <= FEW_DRAWS:
            drawn = map(rng.beta, alphas.tolist(), betas.tolist())
            return np.fromiter(drawn, np.float64, awake.size)
        found: Floats = rng.beta(alphas, betas)
        return found

    def _settled(self, awake: Integers, rng: np.random.Generator) -> Integers:
        """Choose by scores among which some may tie, and advance."""
        chosen = np.empty(awake.size, dtype=np.int64)
        buffers = self._scores, self._scratch
        count = self._choose(chosen, awake, *buffers, self._terms.plays, rng)
        self._advance(self.state, self._terms, awake, chosen[:count], self._forms)
        return chosen[:count]

    def _warm_up(self) -> None:
        """Compile all that decisions need, on copies; said in the log if that takes its time."""
        start = time.perf_counter()
        state, blocks, memory = self.state, self._blocks, self.memory
        nobody, rng = np.empty(0, dtype=np.int64), np.random.default_rng(0)
        self.state, self._blocks = laid_out(state)
        self.bind(self._terms, copied(memory))
        self.decide(nobody, rng)
        self._settled(nobody, rng)
        self.learn(nobody, [], 1, rng)
        self.state, self._blocks = state, blocks
        self.bind(self._terms, memory)
        seconds = time.perf_counter() - start
        if seconds > SLOW_SECONDS:
            log.info("compiled the agent's decisions in %.1f s", seconds)

    def _given(self, policy: Policy, constants: Any) -> dict[str, Any]:
        """Return what decisions by a policy have in place of the stand-ins."""
        return {
            "score": policy.score,
            "advance": steps_of(self._forms).advance,
            "Constants": type(constants),
            "Memory": type(self.memory),
            "CONSTANTS": len(constants),
        }

    def _made(self, function: Callable[..., Any], **given: Any) -> Any:
        return (compiled if self.compiled else interpreted)(function, **given)


def laid_out(state: State) -> tuple[State, Blocks]:
    """Return a copy of a state, and its blocks: the clock, the plays, and the other numbers."""
    clock, played, counts = np.concatenate(state[:3]), state.played.copy(), np.array(state[4:])
    return State(clock[:1], clock[1:2], clock[2:], played, *counts), (clock, played, counts)


def check_compiled(wanted: object, arms: int) -> bool:
    """Say whether to compile: always, never, or where numba is installed and it pays.

    >>> check_compiled(False, 1_000), check_compiled("auto", 3)
    (False, False)
    """
    if isinstance(wanted, str) and wanted == "auto":
        return arms >= PAYS_FROM and find_spec("numba") is not None
    if not isinstance(wanted, bool):
        fail("compiled", "True, False or 'auto'", wanted)
    if wanted:
        load("numba")
    return wanted


def decide(
    chosen: Integers,
    awake: Integers,
    samples: Floats,
    rng: Any,
    buffers: Floats,
    clock: Integers,
    played: Integers,
    counts: Floats,
    promises: Floats,
    paused: Masks,
    plays: int,
    reflected: bool,
    half_life: float,
    tightening: float,
    *numbers: Any,
) -> int:
    """Score and choose arms, and advance; return how many, or -1 where the last ones tie.

    The blocks are those of :class:`Desk`; ``numbers`` the policy's constants and its memory.
    """
    rounds, cancelled, epoch = clock[:1], clock[1:2], clock[2:]
    state = State(rounds, cancelled, epoch, played, counts[0], counts[1], counts[2], counts[3])
    terms = Terms(plays, promises[0], promises[1], promises[2], promises[3], promises[4], paused)
    scores, scratch = buffers[0], buffers[1]
    if awake.size > plays:
        constants = Constants(*numbers[:CONSTANTS])
        memory = Memory(*numbers[CONSTANTS:])
        score(scores, awake, samples, state, terms, constants, memory, rng)
    count = choose_clear(chosen, awake, scores, scratch, plays)
    if count >= 0:
        forms = Forms(reflected, False, False, half_life, 0.0, tightening)
        advance(state, terms, awake, chosen[:count], forms)
    return count


def decide_each(
    chosen: Integers, awake: Integers, samples: Floats, rng: Any, *numbers: Any
) -> tuple[int, int]:
    """Decide once for each row of samples, until the last arms of one tie.

    Return how many decisions were made, and how many arms each of them chose.
    """
    number = 0
    for j in range(chosen.shape[0]):
        count = decide(chosen[j], awake, samples[j], rng, *numbers)
        if count < 0:
            return j, number
        number = count
    return chosen.shape[0], number


def take_in(
    counts: Floats, posteriors: Floats, arms: Integers, rewards: Floats, weight: float
) -> bool:
    """Add rewards of a weight to the sums, Eq. (4), and keep the posteriors up to date.

    Nothing is added if a reward is not in [0, 1]; the answer says whether it was.
    """
    for j in range(arms.size):
        if not 0.0 <= rewards[j] <= 1.0:
            return False
    feedbacks, reward_sums = counts[1], counts[2]
    for j in range(arms.size):
        i = arms[j]
        feedbacks[i] += weight
        reward_sums[i] += weight * rewards[j]
        posteriors[0, i] = 1.0 + reward_sums[i]
        posteriors[1, i] = 1.0 + feedbacks[i] - reward_sums[i]
    return True
