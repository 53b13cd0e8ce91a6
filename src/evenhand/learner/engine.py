"""Where decisions are made: the one round around a policy's score, interpreted or compiled.

A call of machine code costs what its arguments cost: so the state lies in a few blocks, and a
random generator (the dearest argument of all) is passed only to policies that draw from it
themselves. Samples come from NumPy, which draws the same bits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand.beliefs.belief import Belief
from evenhand.core.arrays import Floats, Integers, Random
from evenhand.core.checks import fail
from evenhand.core.choosing import choose_clear
from evenhand.core.extras import load
from evenhand.core.fading import round_weight
from evenhand.core.jit import compiled, inlined, interpreted
from evenhand.core.promises import PromiseArrays, credit_reward
from evenhand.core.round import (
    StepOptions,
    add_reward,
    explore,
    flipped,
    given_samples,
    never,
    play_round,
    round_of,
    write_debts,
)
from evenhand.core.round import score as keep_scores
from evenhand.core.schema import block_count, block_reader, copied, in_blocks
from evenhand.core.state import NoPromises, NoStatistics, ProblemArrays, State, posterior
from evenhand.policies import Policy
from evenhand.policies.families import EtaOnly
from evenhand.policies.policy import NoMemory

Compiled: TypeAlias = bool | Literal["auto"]
# A decision: the chosen arms, debts before it (of the chosen arms, first of all), samples, scores.
# Samples and scores are empty where there were none: the choice was by exploration, or between no
# more arms than plays. Debts and scores are buffers that the next decision writes to. To make
# anything but a plain tuple takes a noticeable part of a decision.
Drawn: TypeAlias = tuple[Integers, Floats, Floats, Floats]
# Stand-ins for the policy's own: how constants, memory, promises and statistics are made of the
# numbers that a decision gets, and where each part of those numbers ends.
Constants, Memory, Promises, Statistics = EtaOnly, NoMemory, NoPromises, NoStatistics
read_state, read_problem = block_reader(State), block_reader(ProblemArrays)
STATE_END = block_count(State)
PROBLEM_END = STATE_END + block_count(ProblemArrays)
OPTIONS_END = PROBLEM_END + len(StepOptions._fields)
CONSTANTS_END = OPTIONS_END + len(EtaOnly._fields)
MEMORY_END = CONSTANTS_END + len(NoMemory._fields)
PROMISES_END = MEMORY_END + len(NoPromises._fields)
PAYS_FROM = 10
# Up to so many arms a loop over NumPy's scalar draws is quicker than one call for all of them.
FEW_DRAWS = 14
SLOW_SECONDS = 1.0
log = logging.getLogger(__name__)


class Many(NamedTuple):
    """Decisions in a row: of each the chosen arms, their debts before, and the samples."""

    chosen: list[Integers]
    before: list[Floats]
    samples: list[Floats]


class DecisionEngine:
    """Chooses arms and takes in rewards, for one policy and the arms of one moment.

    ``state`` is the given one, laid out in blocks. ``alphas`` and ``betas`` are the posteriors of a
    policy that does not forget, kept up to date as rewards come in. ``belief`` are the statistics
    of a regression, if the policy has one.
    """

    def __init__(
        self,
        policy: Policy,
        state: State,
        problem: ProblemArrays,
        constants: Any,
        belief: Any,
        promises: PromiseArrays | NoPromises,
        wanted: Compiled,
    ) -> None:
        arms, self._regresses = state.played.size, policy.known.regresses
        self.compiled = check_compiled(wanted, arms, always=policy.pays_compiled)
        features = belief.context.size if self._regresses else 1
        self._promised = isinstance(promises, PromiseArrays)
        rows = promises.debts.size if isinstance(promises, PromiseArrays) else 0
        self.constants, self.memory = constants, policy.new_memory(arms, features, rows)
        self.belief, self.promises = belief, promises
        self.state, self._state_blocks = in_blocks(state)
        self._options = options = policy.options
        # Looked up once: a decision takes microseconds.
        self._own = policy.randomness in ("own", "both")
        self._exploring, self._sampled = options.exploration > 0.0, options.sampled
        self._binarised, self._forgets = options.binarised, options.half_life < np.inf
        kinds: Any = type(constants), type(self.memory), type(promises)
        scoring = policy.scoring_with(promised=self._promised)
        made = engine_functions(
            scoring, policy.noticing, policy.known, *kinds, policy.forbids, self.compiled
        )
        self._decide, self._settle, self._decide_each, self._learn_all, self._regress = made
        self._scores, self._scratch = self._buffers = np.zeros((2, arms))
        self._none, self._most = np.empty(0), min(problem.plays, arms)
        # With no more awake arms than this there is nothing to choose between.
        self._unscored = 0 if self._promised and policy.forbids else problem.plays
        self._owed = self._scratch[: self._most]
        self.read()
        self.bind(problem, self.memory)
        if self.compiled:
            self._warm_up()

    def bind(self, problem: ProblemArrays, memory: Any) -> None:
        """Use other floors and weights for the same arms, and another memory of the policy."""
        self._problem, self._plays, self.memory = problem, problem.plays, memory
        own = self.constants, memory, self.promises, self.belief
        if self.compiled:
            blocks = *self._state_blocks, *in_blocks(problem)[1], *self._options
            self._numbers = (*blocks, *(number for part in own for number in part))
        else:
            self._numbers = (self.state, problem, self._options, *own)

    def read(self) -> None:
        """Recompute the posteriors: the state has changed other than by learning."""
        everyone = np.arange(self.state.played.size)
        self._posteriors = np.array(posterior(self.state, everyone, np.inf))
        self.alphas, self.betas = self._posteriors

    def decide(self, awake: Integers, rng: Random) -> Drawn:
        """Choose arms, and advance clock and debts."""
        samples = scores = self._none
        if awake.size > self._unscored:
            if self._exploring and explore(self._scores, awake, self._options, rng):
                return self._settled(awake, rng), self._owed, samples, scores
            samples, scores = self._drawn(awake, rng), self._scores
        chosen = np.empty(self._most, dtype=np.int64)
        own = rng if self._own else None
        count = self._decide(chosen, awake, samples, own, self._buffers, *self._numbers)
        if count < 0:
            chosen = self._settled(awake, rng)
        elif count < self._most:
            chosen = chosen[:count]
        return chosen, self._owed, samples, scores

    def decide_many(self, count: int, awake: Integers, rng: Random) -> Many | None:
        """Choose arms for many decisions in a row with the same arms awake, in one call.

        The choices are those that as many calls of :meth:`decide` would make. None if that cannot
        be promised: what is drawn for one depends on the one before.
        """
        if self._own or self._exploring or self._forgets or self._regresses or self._promised:
            return None
        found = Many([], [], [])
        while len(found.chosen) < count:
            size = count - len(found.chosen)
            samples = np.empty((size, 0))
            if awake.size > self._plays and self._sampled:
                samples = rng.beta(self.alphas[awake], self.betas[awake], (size, awake.size))
            chosen = np.empty((size, self._most), dtype=np.int64)
            before = np.empty((size, self._most))
            given = awake, samples, None, self._buffers, *self._numbers
            made, number = self._decide_each(chosen, before, *given)
            found.chosen.extend(chosen[:made, :number])
            found.before.extend(before[:made, :number])
            if made < size:
                last = self._settled(awake, rng)
                found.chosen.append(last)
                found.before.append(self._scratch[: last.size].copy())
            found.samples.extend(samples[: made + 1])
        return found

    def learn(
        self,
        arms: Integers,
        rewards: Sequence[Any],
        round_: int,
        rng: Random,
        context: Floats | None = None,
    ) -> bool:
        """Take in rewards of a decision of a round, in the order of its arms, and of its context.

        If one of them is not in [0, 1] nothing is taken in, and the answer is False.
        """
        state = self.state
        if self._binarised:
            if not all(0.0 <= reward <= 1.0 for reward in rewards):
                return False
            rewards = [flipped(reward, rng) for reward in rewards]
        weight = 1.0
        if self._forgets:
            weight = round_weight(round_, int(state.epoch[0]), self._options.half_life)
        try:
            told = np.array(rewards, np.float64)
        except OverflowError:
            return False
        sums = state.feedbacks, state.reward_sums, self._posteriors
        taken: bool = self._learn_all(*sums, arms, told, weight)
        if taken and self._regresses:
            self._regress(self.belief, state, context, arms, told, weight, self._options)
        return taken

    def credit(self, arms: Integers, rewards: Sequence[float]) -> None:
        """Count rewards that were told towards promises of reward."""
        if isinstance(self.promises, PromiseArrays):
            for arm, reward in zip(arms.tolist(), rewards, strict=True):
                credit_reward(self.promises, self.state, arm, float(reward))

    def _drawn(self, awake: Integers, rng: Random) -> Floats:
        """Return a sample of every awake arm; none for a policy that scores without."""
        if not self._sampled:
            return self._none
        if self._regresses:
            ones = self._options.optimistic
            return np.ones(awake.size) if ones else rng.standard_normal(awake.size)
        if self._forgets:
            return rng.beta(*posterior(self.state, awake, self._options.half_life))
        alphas, betas = self.alphas, self.betas
        if awake.size < alphas.size:
            alphas, betas = alphas[awake], betas[awake]
        if awake.size <= FEW_DRAWS:
            drawn = map(rng.beta, alphas.tolist(), betas.tolist())
            return np.fromiter(drawn, np.float64, awake.size)
        found: Floats = rng.beta(alphas, betas)
        return found

    def _settled(self, awake: Integers, rng: Random) -> Integers:
        """Choose by scores among which some may tie, and advance."""
        chosen = np.empty(awake.size, dtype=np.int64)
        count = self._settle(chosen, awake, self._none, rng, self._buffers, *self._numbers)
        return chosen[:count]

    def _warm_up(self) -> None:
        """Compile everything that decisions need, on copies; log it if it is slow."""
        start = time.perf_counter()
        state, blocks, memory = self.state, self._state_blocks, self.memory
        promises, self.promises = self.promises, copied(self.promises)
        nobody, rng = np.empty(0, dtype=np.int64), np.random.default_rng(0)
        self.state, self._state_blocks = in_blocks(state)
        self.bind(self._problem, copied(memory))
        self.decide(nobody, rng)
        self._settled(nobody, rng)
        self.learn(nobody, [], 1, rng, getattr(self.belief, "context", None))
        self.state, self._state_blocks, self.promises = state, blocks, promises
        self.bind(self._problem, memory)
        seconds = time.perf_counter() - start
        if seconds > SLOW_SECONDS:
            log.info("compiled decisions in %.1f s", seconds)


@cache
def engine_functions(
    score: Callable[..., None],
    notice: Callable[..., None],
    belief: Belief,
    constants: Any,
    memory: Any,
    promises: Any,
    forbids: bool,
    machine: bool,
) -> tuple[Callable[..., Any], ...]:
    """Return what decides, decides where arms tie, decides many times, learns, and regresses.

    Random numbers are drawn, and exploration is decided, before.
    """
    aside: dict[str, Any] = {
        "explore": never,
        "keep_debts": write_debts,
        "promised": promises is PromiseArrays,
        "forbids": forbids,
    }
    clear = round_of(score, notice, choose=choose_clear, draw_samples=belief.given, **aside)
    settle = round_of(keep_scores, draw_samples=given_samples, **aside)
    one, other = (inlined(decide, "play_round", round_) for round_ in (clear, settle))
    regress = nothing if belief.learn is None else interpreted(regress_each, learn=belief.learn)
    if not machine:
        return one, other, interpreted(decide_each, decide=one), learn_all, regress
    constants_end = OPTIONS_END + len(constants._fields)
    memory_end = constants_end + len(memory._fields)
    kinds = {
        "Constants": constants,
        "Memory": memory,
        "Promises": promises,
        "Statistics": belief.statistics,
        "CONSTANTS_END": constants_end,
        "MEMORY_END": memory_end,
        "PROMISES_END": memory_end + len(promises._fields),
    }
    one, other = (
        interpreted(inlined(decide_blocks, "decide", plain), **kinds) for plain in (one, other)
    )
    functions = *map(compiled, (one, other)), compiled(decide_each, decide=one), compiled(learn_all)
    return *functions, compiled(regress)


def nothing(*given: Any) -> None:
    """Learn nothing beyond the state."""


def regress_each(
    belief: Any,
    state: State,
    context: Floats,
    arms: Integers,
    rewards: Floats,
    weight: float,
    options: StepOptions,
) -> None:
    """Let a regression learn the rewards of a decision, one after the other."""
    for j in range(arms.size):
        learn(belief, state, context, arms[j], rewards[j], weight, options)


# Stands for the belief's own.
learn = nothing


def check_compiled(wanted: object, arms: int, *, always: bool = False) -> bool:
    """Say whether to compile: always, never, or where numba is installed and it pays.

    >>> check_compiled(False, 1_000), check_compiled("auto", 3)
    (False, False)
    """
    if isinstance(wanted, str) and wanted == "auto":
        return (always or arms >= PAYS_FROM) and find_spec("numba") is not None
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
    state: State,
    problem: ProblemArrays,
    options: StepOptions,
    constants: Any,
    memory: Any,
    promises: Any,
    belief: Any,
) -> int:
    """Play a round with random numbers that are there; ``buffers`` are for scores and scratch."""
    scores, scratch = buffers[0], buffers[1]
    count = play_round(
        chosen,
        awake,
        samples,
        state,
        problem,
        scores,
        scratch,
        options,
        constants,
        memory,
        belief,
        promises,
        rng,
    )
    return count  # noqa: RET504  (a call to be inlined is assigned)


def decide_blocks(
    chosen: Integers, awake: Integers, samples: Floats, rng: Any, buffers: Floats, *numbers: Any
) -> int:
    """Do as :func:`decide`, of blocks and numbers, see :meth:`DecisionEngine.bind`."""
    state = read_state(*numbers[:STATE_END])
    problem = read_problem(*numbers[STATE_END:PROBLEM_END])
    options = StepOptions(*numbers[PROBLEM_END:OPTIONS_END])
    constants = Constants(*numbers[OPTIONS_END:CONSTANTS_END])
    memory = Memory(*numbers[CONSTANTS_END:MEMORY_END])
    promises = Promises(*numbers[MEMORY_END:PROMISES_END])
    belief = Statistics(*numbers[PROMISES_END:])
    count = decide(
        chosen,
        awake,
        samples,
        rng,
        buffers,
        state,
        problem,
        options,
        constants,
        memory,
        promises,
        belief,
    )
    return count  # noqa: RET504


def decide_each(
    chosen: Integers,
    before: Floats,
    awake: Integers,
    samples: Floats,
    rng: Any,
    buffers: Floats,
    *numbers: Any,
) -> tuple[int, int]:
    """Decide once for each row of samples, until the last arms of one tie.

    Return how many decisions were made, and how many arms each of them chose.
    """
    number = 0
    for k in range(chosen.shape[0]):
        count = decide(chosen[k], awake, samples[k], rng, buffers, *numbers)
        if count < 0:
            return k, number
        for j in range(count):
            before[k, j] = buffers[1, j]
        number = count
    return chosen.shape[0], number


def learn_all(
    feedbacks: Floats,
    reward_sums: Floats,
    posteriors: Floats,
    arms: Integers,
    rewards: Floats,
    weight: float,
) -> bool:
    """Add rewards of a weight to the sums, Eq. (4), and keep the posteriors up to date.

    Nothing is added if a reward is not in [0, 1]; the answer says whether it was.
    """
    for j in range(arms.size):
        if not 0.0 <= rewards[j] <= 1.0:
            return False
    for j in range(arms.size):
        i = arms[j]
        add_reward(feedbacks, reward_sums, i, rewards[j], weight)
        posteriors[0, i] = 1.0 + reward_sums[i]
        posteriors[1, i] = 1.0 + feedbacks[i] - reward_sums[i]
    return True
