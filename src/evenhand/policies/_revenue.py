"""What rivals that guarantee every arm a reward of its own know of a problem."""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats, Integers, frozen
from evenhand.core.checks import fail
from evenhand.core.state import DecisionView
from evenhand.problem import Problem
from evenhand.promise_rows import AT_LEAST


def check_revenues(name: str, problem: Problem) -> None:
    """Raise InputError unless all promises are lower bounds on the reward of one arm each.

    Floors are let pass: as a policy that promises nothing, it does not look at them.
    """
    rows = problem.rows
    single = rows.members.sum(axis=1) == 1
    fine = rows.reward & single & (rows.sign == AT_LEAST)
    wrong = [rows.names[j] for j in np.flatnonzero(~fine).tolist()]
    if wrong:
        rule = f"at_least of reward, of one arm each, with policy {name!r}"
        fail("promises of the problem", rule, ", ".join(dict.fromkeys(wrong)))


def revenues_of(problem: Problem) -> tuple[Floats, Integers]:
    """Return the reward that each arm is promised a round, and its row; -1 where it has none.

    >>> from evenhand.promises import Promise
    >>> paid = Problem(2, plays=1, promises=[Promise(["2"], at_least=0.2, of="reward")])
    >>> [column.tolist() for column in revenues_of(paid)]
    [[0.0, 0.2], [-1, 0]]
    """
    least, row = np.zeros(len(problem.arms)), np.full(len(problem.arms), -1)
    for j, arm in enumerate(problem.rows.members.argmax(axis=1).tolist()):
        if problem.rows.bound[j] > least[arm]:
            least[arm], row[arm] = problem.rows.bound[j], j
    return frozen(least), frozen(row)


def queue_of(view: DecisionView, row: int) -> float:
    """Return what is owed to an arm's promise, 0 if it has none."""
    found: float = max(view.promises.debts[row], 0.0) if row >= 0 else 0.0
    return found


def no_queue(view: DecisionView, row: int) -> float:
    """Return that nothing is owed, where nothing is promised."""
    return 0.0
