"""The readable engine: the specification of a simulation, in plain Python."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from evenhand.availability import draw_awake
from evenhand.environment import draw_rewards
from evenhand.policies.state import new_state
from evenhand.policies.steps import advance, choose, learn
from evenhand.simulation.delay import draw_wait
from evenhand.simulation.run import Record, Run, Streams, Watch


def run_reference(run: Run, streams: Streams, watch: Watch) -> Record:
    """Play all rounds, one after the other.

    In every round: some arms wake; every arm's reward is drawn; the policy chooses; clock and
    debts advance; the chosen arms' rewards are on their way, and those due by now are learned.
    """
    problem, world, policy = run.environment.problem, run.environment.world, run.policy
    terms, constants, wait = problem.terms, run.constants, run.wait
    arms = len(problem.arms)
    state = new_state(arms)
    awake, chosen = np.empty(arms, dtype=np.int64), np.empty(arms, dtype=np.int64)
    rewards, scores, scratch = np.empty(arms), np.empty(arms), np.empty(arms)
    due: dict[int, list[tuple[int, float]]] = defaultdict(list)
    expected, realised = 0.0, 0.0
    record = Record(np.zeros(run.checkpoints.size), np.zeros(run.checkpoints.size), state)
    place = {int(round_): index for index, round_ in enumerate(run.checkpoints)}

    for now in range(run.horizon):
        if watch.stop[0]:
            break
        here = awake[: draw_awake(awake, world.sets, now, streams.availability)]
        draw_rewards(rewards, world, now, streams.rewards)
        delay = draw_wait(wait, streams.delay)

        if here.size > terms.plays:
            policy.score(scores, here, state, terms, constants, streams.policy)
        count = choose(chosen, here, scores, scratch, terms.plays, streams.policy)
        advance(state, terms, here, chosen[:count], policy.reflected)

        for i in chosen[:count]:
            expected += world.values[i]
            realised += terms.weights[i] * rewards[i]
            if delay < run.horizon - now:
                due[now + delay].append((i, rewards[i]))
        for i, reward in due.pop(now, ()):
            learn(state, i, reward, policy.binarised, streams.policy)

        watch.done[0] = now + 1
        if now + 1 in place:
            record.expected[place[now + 1]] = expected
            record.realised[place[now + 1]] = realised
    return record
