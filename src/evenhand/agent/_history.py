"""Feedback without decisions: rows of arm, reward and context, from elsewhere or from before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.core.checks import check_known, fail
from evenhand.errors import InputError
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
    for number, row in enumerate(_rows(frame), start=1):
        try:
            found.append(_row(row, position, problem))
        except InputError as error:
            raise InputError(
                f"row {number} of the history: {error}",
                thing=f"row {number} of the history: {error.thing}",
                rule=error.rule,
                value=error.value,
            ) from None
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


def _rows(frame: object) -> Iterable[Any]:
    """Return the rows of a polars or pandas frame, or of a list, as mappings."""
    given: Any = frame
    if hasattr(given, "iter_rows"):
        rows: Iterable[Any] = given.iter_rows(named=True)
        return rows
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        listed: Iterable[Any] = given.to_dict("records")
        return listed
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        fail("history", "a polars or pandas frame, or a list of mappings", frame)
    return given
