"""Feedback without decisions: rows of arm, reward and context, from elsewhere or from before."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.core.checks import check_known, check_rows, fail, located
from evenhand.learner.feedback import HistoryRow, as_reward
from evenhand.problem import Problem

ARM, REWARD, CONTEXT = "arm", "reward", "context"


def history_rows(frame: object, problem: Problem) -> list[HistoryRow]:
    """Return the rows of a frame, all of them checked.

    A row has ``arm``, ``reward`` and, if the problem has features, the context: as ``context``, or
    with a column for each feature.

    >>> rows = [{"arm": "b", "reward": 1, "age": 30}]
    >>> [row] = history_rows(rows, Problem(["a", "b"], plays=1, features={"age": (0, 40)}))
    >>> row.arm, row.reward, row.context.tolist()
    (1, 1.0, [1.0, 0.5])
    """
    position = {arm: index for index, arm in enumerate(problem.arms)}
    found = []
    for number, row in enumerate(check_rows("history", frame), start=1):
        with located(f"row {number} of the history"):
            found.append(_row(row, position, problem))
    return found


def _row(row: object, position: Mapping[str, int], problem: Problem) -> HistoryRow:
    if not isinstance(row, Mapping):
        fail("row", "a mapping from columns to values", row)
    for key in (ARM, REWARD):
        if key not in row:
            fail("row", f"one with {ARM!r} and {REWARD!r}", sorted(map(str, row)))
    check_known("arm", [row[ARM]], position)
    reward = as_reward(row[REWARD])
    if reward is None or not 0.0 <= reward <= 1.0:
        fail(f"reward of arm {row[ARM]!r}", "a number in [0, 1]", row[REWARD])
    context = row.get(CONTEXT)
    if context is None and problem.features:
        context = {key: value for key, value in row.items() if key not in (ARM, REWARD, CONTEXT)}
    encoded = problem.features.encode(context) if problem.features or context is not None else None
    return HistoryRow(position[row[ARM]], reward, encoded)
