"""The readable engine: the specification of a simulation, in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.contexts import apply_context
from evenhand.core.delay import draw_wait
from evenhand.core.nature import change_nature, draw_awake, draw_rewards, own_nature
from evenhand.core.round import learning_of, regress, round_of
from evenhand.simulation._promise_tally import count_no_promises, count_promises
from evenhand.simulation._tally import count_moment
from evenhand.simulation.run import Record, Run, RunControl, Streams, new_record


def run_reference(run: Run, streams: Streams, control: RunControl) -> Record:
    """Play all rounds, one after the other.

    In every round: a context is drawn, if there are any; some arms wake; every arm's reward is
    drawn; the policy chooses; clock and debts advance; the chosen arms' rewards are on their way,
    and those due by now are learned.
    """
    nature, policy, constants, wait = run.environment, run.resolved, run.constants, run.wait
    problem, arms = nature.problem.arrays, len(nature.problem.arms)
    record, memory, options = new_record(run), run.new_memory(), policy.options
    state, (belief, context) = record.state, run.new_belief()
    promises, promised = run.new_promises(), bool(nature.problem.rows.size)
    scoring, steps = policy.scoring_with(promised=promised), {"draw_samples": policy.known.draw}
    kinds = {"promised": promised, "forbids": policy.forbids}
    play_round = round_of(scoring, policy.noticing, **kinds, **steps)
    take_in = learning_of(policy.known.learn or regress, promised=promised)
    count_kept: Callable[..., None] = count_promises if promised else count_no_promises
    present, chosen = np.empty(arms, dtype=np.int64), np.empty(arms, dtype=np.int64)
    rewards, scores, samples, scratch = np.empty((4, arms))
    due: dict[int, list[tuple[int, int, float, Floats]]] = defaultdict(list)
    expected, realised = 0.0, 0.0
    index = {int(round_): index for index, round_ in enumerate(run.checkpoints)}

    awake, payoffs = own_nature(nature.awake, nature.payoffs)
    changes, starting = nature.changed, defaultdict(list)
    for number, start in enumerate(nature.changed.starts.tolist()):
        starting[start].append(number)
    for now in range(run.horizon):
        if control.stop[0]:
            break
        for number in starting.get(now, ()):
            change_nature(awake, payoffs, changes, number)
        if nature.problem.features:
            visitor = nature.contextual, problem.weights, now, streams.contexts
            apply_context(context, awake, payoffs, *visitor)
        here = present[: draw_awake(present, awake, now, streams.availability)]
        draw_rewards(rewards, payoffs, now, streams.rewards)
        delay = draw_wait(wait, streams.delay)

        given = here, samples, state, problem, scores, scratch, options, constants, memory
        count = play_round(chosen, *given, belief, promises, streams.policy)
        count_moment(record.tally, problem.floors, chosen, count, now + 1)
        count_kept(record.promises, promises, rewards, chosen, count, now + 1)

        for i in chosen[:count]:
            expected += payoffs.values[i]
            realised += problem.weights[i] * rewards[i]
            if delay < run.horizon - now:
                due[now + delay].append((i, now + 1, rewards[i], context.copy()))
        for i, round_, reward, known in due.pop(now, ()):
            take_in(state, i, reward, round_, options, belief, known, promises, streams.policy)

        control.done[0] = now + 1
        if now + 1 in index:
            record.expected[index[now + 1]] = expected
            record.realised[index[now + 1]] = realised
            record.behind[index[now + 1]] = record.tally.behind[0]
    return record
