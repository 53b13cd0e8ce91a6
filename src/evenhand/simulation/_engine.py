"""The readable engine: the specification of a simulation, in plain Python."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from evenhand._base.delay import draw_wait
from evenhand._base.nature import draw_awake, draw_rewards
from evenhand.policies._state import new_state
from evenhand.policies._steps import advance, choose, learn
from evenhand.simulation._run import Record, Run, Streams, Watch


def run_reference(run: Run, streams: Streams, watch: Watch) -> Record:
    """Play all rounds, one after the other.

    In every round: some arms wake; every arm's reward is drawn; the policy chooses; clock and
    debts advance; the chosen arms' rewards are on their way, and those due by now are learned.
    """
    nature, policy, constants, wait = run.environment, run.policy, run.constants, run.wait
    terms, arms = nature.problem.terms, len(nature.problem.arms)
    state, memory = new_state(arms), policy.new_memory(arms)
    present, chosen = np.empty(arms, dtype=np.int64), np.empty(arms, dtype=np.int64)
    rewards, scores, scratch = np.empty(arms), np.zeros(arms), np.empty(arms)
    due: dict[int, list[tuple[int, float]]] = defaultdict(list)
    expected, realised = 0.0, 0.0
    record = Record(np.zeros(run.checkpoints.size), np.zeros(run.checkpoints.size), state)
    place = {int(round_): index for index, round_ in enumerate(run.checkpoints)}

    for now in range(run.horizon):
        if watch.stop[0]:
            break
        here = present[: draw_awake(present, nature.awake, now, streams.availability)]
        draw_rewards(rewards, nature.payoffs, now, streams.rewards)
        delay = draw_wait(wait, streams.delay)

        if here.size > terms.plays:
            policy.score(scores, here, state, terms, constants, memory, streams.policy)
        count = choose(chosen, here, scores, scratch, terms.plays, streams.policy)
        advance(state, terms, here, chosen[:count], policy.reflected)

        for i in chosen[:count]:
            expected += nature.payoffs.values[i]
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
