"""The compiled engine: the only hot loop of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.choosing import choose
from evenhand.core.contexts import ContextArrays, apply_context, draw_context, no_context
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
from evenhand.core.round import (
    StepOptions,
    learn,
    learning_of,
    play_round,
    regress,
    round_of,
)
from evenhand.core.state import ProblemArrays, State
from evenhand.policies.policy import Policy
from evenhand.simulation._promise_tally import count_no_promises, count_promises
from evenhand.simulation._tally import Tally, count_moment
from evenhand.simulation.run import Record, Run, RunControl, Streams, new_record

# What is learned at once is learned in the hot loop itself.
learn_now = learn
Totals = tuple[Integers, Floats, Floats, Integers]


def run_compiled(run: Run, streams: Streams, control: RunControl) -> Record:
    """Do exactly what the readable engine does, without holding Python's lock."""
    problem = run.environment.problem
    contextual, promised = bool(problem.features), bool(problem.rows.size)
    kernel = kernel_for(run.resolved, contextual=contextual, promised=promised)
    return play_run(kernel, run, streams, control)


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
        nature.contextual,
        problem.arrays,
        run.constants,
        run.new_memory(),
        *run.new_belief(),
        run.new_promises(),
        run.resolved.options,
        run.wait,
        record.state,
        record.tally,
        record.promises,
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
    contexts: ContextArrays,
    problem: ProblemArrays,
    constants: Any,
    memory: Any,
    belief: Any,
    context: Floats,
    promises: Any,
    options: StepOptions,
    wait: Wait,
    state: State,
    tally: Tally,
    promise_tally: Any,
    totals: Totals,
    streams: Streams,
    control: RunControl,
) -> None:
    """Play all rounds; :mod:`evenhand.simulation._engine` says what each step means.

    Feedback under way waits in a heap ordered by (due round, order of sending); the context of its
    decision is kept until then.
    """
    done, stop = control
    values, weights = payoffs.values, problem.weights
    waking, rewarding, delaying, policy, contexts_stream = streams
    checkpoints, expected_at, realised_at, behind_at = totals
    arms = problem.weights.size
    present, chosen = np.empty(arms, dtype=np.int64), np.empty(arms, dtype=np.int64)
    rewards, scores = np.empty(arms), np.zeros(arms)
    samples, scratch = np.empty(arms), np.empty(arms)
    expected, realised, index, sent, turn = 0.0, 0.0, 0, 0, 0
    pending, kept, free = [(0, 0, 0, 0, 0.0, 0)], [context], [0]
    pending.pop()
    free.pop()

    for now in range(horizon):
        if stop[0] != 0:
            break
        if turn < changes.starts.size and now == changes.starts[turn]:
            change_nature(awake, payoffs, changes, turn)
            turn += 1
        apply_context(context, awake, payoffs, contexts, weights, now, contexts_stream)
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
            promises,
            policy,
        )
        count_moment(tally, problem.floors, chosen, count, now + 1)
        count_promises(promise_tally, promises, rewards, chosen, count, now + 1)

        while len(pending) > 0 and pending[0][0] <= now:
            feedback = heappop(pending)
            known = kept[feedback[5]]
            told = feedback[4]
            learn(state, feedback[3], told, feedback[2], options, belief, known, promises, policy)
            free.append(feedback[5])
        for j in range(count):
            i = chosen[j]
            expected += values[i]
            realised += weights[i] * rewards[i]
            if delay == 0:
                learn_now(state, i, rewards[i], now + 1, options, belief, context, promises, policy)
            elif delay < horizon - now:
                if len(free) == 0:
                    free.append(len(kept))
                    kept.append(np.empty_like(context))
                row = free.pop()
                kept[row][:] = context
                heappush(pending, (now + delay, sent, now + 1, i, rewards[i], row))
                sent += 1

        done[0] = now + 1
        if now + 1 == checkpoints[index]:
            expected_at[index] = expected
            realised_at[index] = realised
            behind_at[index] = tally.behind[0]
            index += 1


def kernel_for(
    policy: Policy,
    *,
    contextual: bool = False,
    promised: bool = False,
    choose: Callable[..., int] = choose,
    **given: Callable[..., Any],
) -> Callable[..., None]:
    """Return :func:`play` compiled around a policy's round; ``given`` stands in for other steps."""
    steps = {"choose": choose, "draw_samples": policy.known.draw}
    score = policy.scoring_with(promised=promised)
    round_ = round_of(score, policy.noticing, promised=promised, forbids=policy.forbids, **steps)
    whole = inlined(play, "play_round", round_)
    whole = inlined(whole, "count_promises", count_promises if promised else count_no_promises)
    applied = inlined(apply_context, "draw_context", draw_context)
    whole = inlined(whole, "apply_context", applied if contextual else no_context)
    take_in = learning_of(policy.known.learn or regress, promised=promised)
    return compiled(inlined(whole, "learn_now", take_in), learn=take_in, **given)
