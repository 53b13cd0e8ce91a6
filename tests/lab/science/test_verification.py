"""The outside checks hold, and notice what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenhand import Environment, Problem, make_policy, run_sweep
from evenhand.lab.judging import RunSize, judge
from evenhand.lab.measurement import FAILS, HOLDS
from evenhand.lab.science._baudry import experiment_1, experiment_5
from evenhand.lab.science._classics import bernoulli_bandits
from evenhand.lab.science._laws import lai_robbins
from evenhand.lab.science.checks import TrialResults, grid_of, judge_source

QUICK = RunSize(quick=True)


def judged(source, policy=None):
    """Return the verdicts on a source, with another policy under the names of its own if given."""
    if policy is not None:
        trials = [
            replace(trial, policies=dict.fromkeys(trial.policies, make_policy(policy)))
            for trial in source.trials
        ]
        source = replace(source, trials=tuple(trials))
    played = run_sweep(grid_of([source], QUICK), backend="threads")
    return [one.verdict for one in judge_source(source, played)]


def test_a_learner_that_ignores_guarantees_is_found_out():
    optimum, revenue, regret = judged(experiment_5(QUICK), "thompson")
    assert (optimum, revenue, regret) == (HOLDS, FAILS, FAILS)


def test_a_learner_that_does_not_learn_is_found_out():
    verdicts = judged(bernoulli_bandits(QUICK), "uniform")
    assert verdicts[0] == verdicts[2] == FAILS


def test_a_wrong_optimum_is_found_out():
    source = experiment_1(QUICK)
    trial = source.trials[1]
    own = trial.environment
    nature = Environment(Problem(3, plays=1, floors=0.9 * own.problem.floors), own.means)
    claim = source.claims[3]
    played = run_sweep(grid_of([source], QUICK), backend="threads")
    found = TrialResults(
        replace(trial, environment=nature), played.results(trial.name, trial.horizon)
    )
    assert claim.cells == (trial.name,)
    assert judge(claim, {trial.name: found}).verdict == FAILS


def test_the_constant_of_lai_and_robbins_is_that_of_the_definition():
    # 0.25 / kl(0.5, 0.75) with kl = 0.5 ln(2/3) + 0.5 ln 2.
    assert lai_robbins([0.75, 0.5]) == pytest.approx(0.25 / (0.5 * np.log(2 / 3) + 0.5 * np.log(2)))
