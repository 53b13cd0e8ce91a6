"""Any thread may call anything at any time: decisions and learning are whole."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter

import pytest

from evenhand import Agent, Problem, make_policy

SECONDS = 1.5


@pytest.fixture(autouse=True)
def restless():
    """Let threads take turns as often as they can: without a lock the tests fail at once."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*jobs):
    """Run jobs on threads of their own until the time is up; raise what any of them raised."""
    errors, end = [], time.monotonic() + SECONDS

    def work(job):
        try:
            while time.monotonic() < end and not errors:
                job()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Player:
    """Asks and tells, and keeps its own books."""

    def __init__(self, agent, reward):
        self.agent, self.reward = agent, reward
        self.ids, self.played, self.rewards = [], Counter(), Counter()

    def __call__(self):
        decision = self.agent.ask()
        self.ids.append(decision.id)
        self.played.update(decision.chosen)
        receipt = self.agent.tell(decision.id, dict.fromkeys(decision.chosen, self.reward))
        assert receipt.learned == decision.chosen
        self.rewards.update(dict.fromkeys(decision.chosen, self.reward))


@pytest.mark.parametrize("compiled", [True, False])
def test_totals_are_those_that_every_thread_has_counted(compiled):
    agent = Agent(Problem(12, plays=2, floors=0.1), "tscsf-b", seed=1, compiled=compiled)
    players = [Player(agent, 0.5), Player(agent, 0.25)]
    together(*players)
    ids = [decision_id for player in players for decision_id in player.ids]
    assert sorted(ids) == list(range(1, agent.rounds + 1))
    for i, arm in enumerate(agent.problem.arms):
        assert agent._learner.state.played[i] == sum(player.played[arm] for player in players)
        assert agent._learner.state.feedbacks[i] == sum(player.played[arm] for player in players)
        assert agent._learner.state.reward_sums[i] == sum(player.rewards[arm] for player in players)
    assert agent._learner.state.awake_counts.tolist() == [agent.rounds] * 12


def test_a_snapshot_is_of_one_moment():
    """Every one can be restored, and in every one the plays are those of its rounds."""
    agent = Agent(Problem(5, plays=2, floors=0.1), "tscsf-b", seed=1, log_size=20_000)
    taken = []

    def photograph():
        taken.append(Agent.restore(agent.snapshot()))

    together(Player(agent, 0.5), Player(agent, 1.0), photograph)
    for picture in taken:
        assert picture._learner.state.played.sum() == 2 * picture.rounds
        assert picture._log.latest == picture.rounds
        under_way = 2 * picture.rounds - picture._learner.state.feedbacks.sum()
        assert 0 <= under_way <= 4
    assert len(taken) > 3


def test_arms_may_come_and_go_meanwhile():
    policy = make_policy("priced", surplus="inf")
    agent = Agent(Problem(6, plays=2, floors=0.1), policy, seed=1)

    def ask():
        decision = agent.ask()
        receipt = agent.tell(decision.id, dict.fromkeys(decision.chosen, 0.5))
        assert set(receipt.learned) | set(receipt.ignored) == set(decision.chosen)

    def restless():
        agent.join("guest", floor=0.1)
        agent.pause("1")
        agent.cancel(agent.ask().id)
        agent.resume("1")
        agent.change("2", weight=1.0 + agent.rounds % 3)
        agent.debts(), agent.rates(), agent.targets(), agent.posterior_means(), agent.deltas()
        agent.retire("guest")

    together(ask, ask, restless)
    assert agent.problem.arms == ("1", "2", "3", "4", "5", "6")
