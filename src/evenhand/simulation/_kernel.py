"""The compiled engine: the only hot loop of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np

from evenhand._base.arrays import Floats, Integers
from evenhand._base.delay import Wait, draw_wait
from evenhand._base.machine import compiled
from evenhand._base.nature import Awake, Payoffs, draw_awake, draw_rewards
from evenhand._base.terms import Terms
from evenhand.policies._policy import Score
from evenhand.policies._state import State, new_state
from evenhand.policies._steps import advance, choose, learn
from evenhand.policies._tscsf_b import score
from evenhand.simulation._run import Record, Run, Streams, Watch

Totals = tuple[Integers, Floats, Floats]


def run_compiled(run: Run, streams: Streams, watch: Watch) -> Record:
    """Do exactly what the readable engine does, without holding Python's lock."""
    nature = run.environment
    problem, arms = nature.problem, len(nature.problem.arms)
    state = new_state(arms)
    record = Record(np.zeros(run.checkpoints.size), np.zeros(run.checkpoints.size), state)
    kernel_for(run.policy.score)(
        run.horizon,
        nature.awake,
        nature.payoffs,
        problem.terms,
        run.constants,
        run.policy.new_memory(arms),
        (run.policy.reflected, run.policy.binarised),
        run.wait,
        state,
        (run.checkpoints, record.expected, record.realised),
        streams,
        watch,
    )
    return record


def play(
    horizon: int,
    awake: Awake,
    payoffs: Payoffs,
    terms: Terms,
    constants: Any,
    memory: Any,
    forms: tuple[bool, bool],
    wait: Wait,
    state: State,
    totals: Totals,
    streams: Streams,
    watch: Watch,
) -> None:
    """Play all rounds; :mod:`evenhand.simulation._engine` says what each step means.

    Feedback under way waits in a heap ordered by (due round, order of sending).
    """
    reflected, binarised = forms
    done, stop = watch
    values, weights, plays = payoffs.values, terms.weights, terms.plays
    waking, rewarding, delaying, policy = streams
    checkpoints, expected_at, realised_at = totals
    arms = terms.weights.size
    present, chosen = np.empty(arms, dtype=np.int64), np.empty(arms, dtype=np.int64)
    rewards, scores, scratch = np.empty(arms), np.zeros(arms), np.empty(arms)
    expected, realised, place, sent = 0.0, 0.0, 0, 0
    pending = [(0, 0, 0, 0.0)]
    pending.pop()

    for now in range(horizon):
        if stop[0] != 0:
            break
        here = present[: draw_awake(present, awake, now, waking)]
        draw_rewards(rewards, payoffs, now, rewarding)
        delay = draw_wait(wait, delaying)

        if here.size > plays:
            score(scores, here, state, terms, constants, memory, policy)
        count = choose(chosen, here, scores, scratch, plays, policy)
        advance(state, terms, here, chosen[:count], reflected)

        while len(pending) > 0 and pending[0][0] <= now:
            feedback = heappop(pending)
            learn(state, feedback[2], feedback[3], binarised, policy)
        for j in range(count):
            i = chosen[j]
            expected += values[i]
            realised += weights[i] * rewards[i]
            if delay == 0:
                learn(state, i, rewards[i], binarised, policy)
            elif delay < horizon - now:
                heappush(pending, (now + delay, sent, i, rewards[i]))
                sent += 1

        done[0] = now + 1
        if now + 1 == checkpoints[place]:
            expected_at[place] = expected
            realised_at[place] = realised
            place += 1


def kernel_for(policy_score: Score) -> Callable[..., None]:
    """Return :func:`play` compiled around one scoring function, in place of TSCSF-B's."""
    return compiled(play, score=policy_score)
