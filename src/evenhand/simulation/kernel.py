"""The compiled engine: the only hot loop of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.choosing import choose
from evenhand.core.delay import Wait, draw_wait
from evenhand.core.jit import compiled, inlined
from evenhand.core.nature import (
    Awake,
    Changes,
    Payoffs,
    change_nature,
    draw_awake,
    draw_rewards,
    own_nature,
)
from evenhand.core.round import StepOptions, learn, play_round, round_of
from evenhand.core.state import NoStatistics, ProblemArrays, State
from evenhand.policies.policy import Policy
from evenhand.simulation._tally import Tally, count_moment
from evenhand.simulation.run import Record, Run, RunControl, Streams, new_record

Totals = tuple[Integers, Floats, Floats, Integers]


def run_compiled(run: Run, streams: Streams, control: RunControl) -> Record:
    """Do exactly what the readable engine does, without holding Python's lock."""
    return play_run(kernel_for(run.policy), run, streams, control)


def play_run(
    kernel: Callable[..., None], run: Run, streams: Streams, control: RunControl
) -> Record:
    """Play a run with a compiled :func:`play`."""
    nature = run.environment
    record, problem = new_record(run), nature.problem
    kernel(
        run.horizon,
        *own_nature(nature.awake, nature.payoffs),
        nature.changed,
        problem.arrays,
        run.constants,
        run.policy.new_memory(len(problem.arms)),
        NoStatistics(),
        run.policy.options,
        run.wait,
        record.state,
        record.tally,
        (run.checkpoints, record.expected, record.realised, record.behind),
        streams,
        control,
    )
    return record


def play(
    horizon: int,
    awake: Awake,
    payoffs: Payoffs,
    changes: Changes,
    problem: ProblemArrays,
    constants: Any,
    memory: Any,
    belief: Any,
    options: StepOptions,
    wait: Wait,
    state: State,
    tally: Tally,
    totals: Totals,
    streams: Streams,
    control: RunControl,
) -> None:
    """Play all rounds; :mod:`evenhand.simulation._engine` says what each step means.

    Feedback under way waits in a heap ordered by (due round, order of sending).
    """
    done, stop = control
    values, weights = payoffs.values, problem.weights
    waking, rewarding, delaying, policy = streams
    checkpoints, expected_at, realised_at, behind_at = totals
    arms = problem.weights.size
    present, chosen = np.empty(arms, dtype=np.int64), np.empty(arms, dtype=np.int64)
    rewards, scores = np.empty(arms), np.zeros(arms)
    samples, scratch = np.empty(arms), np.empty(arms)
    expected, realised, index, sent, turn = 0.0, 0.0, 0, 0, 0
    pending = [(0, 0, 0, 0, 0.0)]
    pending.pop()

    for now in range(horizon):
        if stop[0] != 0:
            break
        if turn < changes.starts.size and now == changes.starts[turn]:
            change_nature(awake, payoffs, changes, turn)
            turn += 1
        here = present[: draw_awake(present, awake, now, waking)]
        draw_rewards(rewards, payoffs, now, rewarding)
        delay = draw_wait(wait, delaying)

        count = play_round(
            chosen,
            here,
            samples,
            state,
            problem,
            scores,
            scratch,
            options,
            constants,
            memory,
            belief,
            policy,
        )
        count_moment(tally, problem.floors, chosen, count, now + 1)

        while len(pending) > 0 and pending[0][0] <= now:
            feedback = heappop(pending)
            learn(state, feedback[3], feedback[4], feedback[2], options, policy)
        for j in range(count):
            i = chosen[j]
            expected += values[i]
            realised += weights[i] * rewards[i]
            if delay == 0:
                learn(state, i, rewards[i], now + 1, options, policy)
            elif delay < horizon - now:
                heappush(pending, (now + delay, sent, now + 1, i, rewards[i]))
                sent += 1

        done[0] = now + 1
        if now + 1 == checkpoints[index]:
            expected_at[index] = expected
            realised_at[index] = realised
            behind_at[index] = tally.behind[0]
            index += 1


def kernel_for(
    policy: Policy, *, choose: Callable[..., int] = choose, **given: Callable[..., Any]
) -> Callable[..., None]:
    """Return :func:`play` compiled around a policy's round; ``given`` stands in for other steps."""
    whole = inlined(play, "play_round", round_of(policy.scoring, policy.noticing, choose=choose))
    return compiled(whole, **given)
