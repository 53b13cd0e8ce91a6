"""The environment of Gymnasium's: its own checker, and the simulator as a second opinion."""

from __future__ import annotations

import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from evenhand import (
    ByCategory,
    Change,
    Environment,
    InputError,
    Joint,
    LogisticMean,
    MissingExtra,
    Problem,
    Trace,
    find_optimum,
)
from evenhand.gym import ENVIRONMENT_ID, FairBanditEnv

PROBLEM = Problem(["a", "b", "c"], plays=1, floors=[0.2, 0.0, 0.3])
NATURES = {
    "independent": Environment(PROBLEM, [0.2, 0.9, 0.5], 0.8),
    "exclusive": Environment(PROBLEM, 0.5, Joint([[1, 1, 0], [0, 0, 1]], [0.5, 0.5])),
    "trace": Environment(PROBLEM, 0.5, Trace(np.ones((40, 3)))),
    "contexts": Environment(
        Problem(PROBLEM.arms, 1, floors=PROBLEM.floors, features={"evening": bool, "age": (0, 9)}),
        [LogisticMean({"evening": 1.0}), 0.5, LogisticMean({"age": -2.0})],
    ),
    "changing": Environment(PROBLEM, [0.2, 0.9, 0.5], changes=[Change(5, [0.9, 0.2, 0.5])]),
}


@pytest.mark.parametrize("name", NATURES)
def test_the_checker_of_gymnasium_is_content(name):
    check_env(FairBanditEnv(NATURES[name], horizon=30), skip_render_check=True)


def test_it_is_made_by_name_and_seeds_decide_all():
    first, second = (gymnasium.make(ENVIRONMENT_ID, horizon=50) for _ in range(2))
    paths = []
    for env in (first, second):
        seen, _ = env.reset(seed=3)
        rewards = [env.step(seen["debts"])[1] for _ in range(50)]
        paths.append(rewards)
    assert paths[0] == paths[1]


def play(env, choose, seed=1):
    """Play an episode; return the mean reward, plays by arm, and what was awake and chosen."""
    seen, told = env.reset(seed=seed)
    rewards, plays, done = [], {}, False
    while not done:
        awake = {
            arm for arm, here in zip(env.nature.problem.arms, seen["awake"], strict=True) if here
        }
        seen, reward, ended, done, told = env.step(choose(seen))
        assert not ended
        assert set(told["chosen"]) <= awake
        assert len(told["chosen"]) == min(env.nature.problem.plays, len(awake))
        rewards.append(reward)
        for arm in told["chosen"]:
            plays[arm] = plays.get(arm, 0) + 1
    return float(np.mean(rewards)), plays, seen


def test_scores_by_the_true_means_earn_the_optimum_without_floors():
    nature = Environment(Problem(3, plays=1), [0.2, 0.9, 0.5], 0.6)
    earned, _, _ = play(FairBanditEnv(nature, horizon=20_000), lambda seen: nature.means)
    best = find_optimum(nature).without_floors
    # Four standard errors of a mean of 20,000 rewards in [0, 1].
    assert earned == pytest.approx(best, abs=4 * 0.5 / np.sqrt(20_000))


def test_scores_by_debt_keep_the_floors_and_the_debts_are_those_of_the_rounds():
    env = FairBanditEnv(NATURES["exclusive"], horizon=2_000)
    _, plays, seen = play(env, lambda seen: seen["debts"])
    floors = PROBLEM.floors * 2_000
    assert seen["debts"].tolist() == np.maximum(floors - seen["played"], 0).tolist()
    assert seen["debts"].max() <= 2
    assert seen["played"].tolist() == [plays.get(arm, 0) for arm in PROBLEM.arms]


def test_debts_cost_what_is_said():
    env = FairBanditEnv(Environment(PROBLEM, 0.0), horizon=10, debt_cost=0.5)
    env.reset(seed=1)
    # Arm b is played, nothing is earned, and 0.2 and 0.3 plays are owed.
    _, reward, *_ = env.step(np.array([0.0, 1.0, 0.0]))
    assert reward == pytest.approx(-0.25)


def test_a_round_is_told_in_words():
    env = FairBanditEnv(Environment(PROBLEM, 1.0), horizon=3, render_mode="ansi")
    env.reset(seed=1)
    env.step(np.array([0.0, 1.0, 0.0]))
    assert env.render() == "round 1: played b, earned 1, most behind 0.30 plays"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"environment": "x"}, "environment must be an evenhand.Environment"),
        ({"horizon": 0}, "horizon must be"),
        ({"environment": NATURES["trace"], "horizon": 41}, "at most the 40 rounds of the trace"),
        ({"debt_cost": -1}, "debt_cost must be"),
        ({"render_mode": "human"}, "render_mode must be"),
    ],
)
def test_what_makes_no_environment_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        FairBanditEnv(**given)


def test_a_step_too_many_and_an_action_of_another_shape_are_refused():
    env = FairBanditEnv(horizon=1)
    with pytest.raises(InputError, match="step must be one after a reset"):
        env.step(np.zeros(3))
    env.reset(seed=1)
    with pytest.raises(InputError, match="action must be a score for each of the 3 arms"):
        env.step(np.zeros(2))
    env.step(np.zeros(3))
    with pytest.raises(InputError, match="step must be one of the 1 of an episode"):
        env.step(np.zeros(3))


def test_without_gymnasium_its_extra_is_named(monkeypatch):
    for name in [one for one in sys.modules if one.startswith("evenhand.gym")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtra, match=r"'gymnasium'.*pip install '\.\[gym\]'"):
        import evenhand.gym  # noqa: F401


def test_the_context_is_that_of_the_round_that_is_played():
    """In the evening the first arm returns 1, and else the second one."""
    evening = ByCategory("evening", {"yes": 1.0, "no": 0.0})
    morning = ByCategory("evening", {"yes": 0.0, "no": 1.0})
    problem = Problem(["film", "news"], plays=1, features={"evening": bool})
    env = FairBanditEnv(Environment(problem, [evening, morning]), horizon=40)
    seen, _ = env.reset(seed=4)
    visitors = set()
    for _ in range(40):
        visitors.add(seen["context"][1])
        seen, reward, _, _, _ = env.step(seen["context"][1] * np.array([1.0, -1.0]))
        assert reward == 1.0
    assert visitors == {-1.0, 1.0}
