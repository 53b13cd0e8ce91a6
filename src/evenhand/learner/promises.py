"""Promises beyond floors while arms come and go: what is carried over, and how they stand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from evenhand.core.arrays import Floats, Integers, frozen
from evenhand.core.promises import PromiseArrays, PromiseState
from evenhand.core.state import NoPromises
from evenhand.learner.arm_table import ArmTable
from evenhand.learner.decision import DecisionRecord
from evenhand.promise_rows import AT_LEAST, Rows, arrays_of

Promises: TypeAlias = PromiseArrays | NoPromises
RowKey: TypeAlias = tuple[str, float, bool]
Standing: TypeAlias = Literal["kept", "behind", "over", "paused"]
# By more than so many plays a promise is behind, or over.
BEHIND = 3.0
MOMENTS = ("since", "promised", "begun", "settled", "born")
STATE = PromiseState._fields


class PromiseStatus(NamedTuple):
    """How a promise stands.

    Attributes
    ----------
    of, at_least, at_most
        Its unit, ``"plays"`` or ``"reward"``, and its bounds a round; None where there is none.
    rate
        What it had a round since it was made, without pauses.
    debt
        How far it is behind its lower bound, or beyond its upper one, in plays or in reward.
    price
        The reward per round that is lost for each unit by which its bounds are raised, as the
        policy estimates it; None if the policy knows no prices.
    standing
        ``"kept"``, ``"behind"`` or ``"over"`` by more than three plays (or three times the largest
        weight of its arms, for reward), or ``"paused"``: all of its arms are.
    """

    of: str
    at_least: float | None
    at_most: float | None
    rate: float
    debt: float
    price: float | None
    standing: Standing


def promises_of(table: ArmTable, surplus: float) -> Promises:
    """Return the promises of a table before the first round."""
    return carried_promises(NoPromises(), table, table, surplus, 0, 0)


def resting(table: ArmTable) -> Any:
    """Return which rows have no arm that is not paused."""
    return ~(table.problem.rows.members & ~table.arrays.paused).any(axis=1)


def kept_rows(before: Rows, after: Rows) -> Integers:
    """Return the indices that rows had before; -1 for a new one."""
    return positions(keys_of(before), keys_of(after))


def positions(before: Sequence[RowKey], after: Sequence[RowKey]) -> Integers:
    """Return where keys stood before; -1 for a new one."""
    known = {key: index for index, key in enumerate(before)}
    return np.array([known.get(key, -1) for key in after], dtype=np.int64)


def keys_of(rows: Rows) -> list[RowKey]:
    """Return what tells the rows of a problem apart: promise, side and unit."""
    sides = zip(rows.names, rows.sign.tolist(), rows.reward.tolist(), strict=True)
    return [(name, float(sign), bool(reward)) for name, sign, reward in sides]


def carried_promises(
    given: Promises, before: ArmTable, after: ArmTable, surplus: float, rounds: int, latest: int
) -> Promises:
    """Return the promises of other arms or bounds after the latest decision: what is owed stays.

    A new bound counts from now on, and what a promise was ahead of its old one is forgiven. While
    all arms of a promise are paused it is owed nothing more.
    """
    problem = after.problem
    fresh = arrays_of(problem.rows, problem.weights, surplus)
    if isinstance(fresh, NoPromises):
        return fresh
    rests = resting(after)
    bound = np.where(rests, 0.0, fresh.bound)
    since, promised = np.full(rests.size, float(rounds)), np.zeros(rests.size)
    settled = np.full(rests.size, float(latest))
    begun, born, debts, delivered = since.copy(), settled.copy(), fresh.debts, fresh.delivered
    if isinstance(given, PromiseArrays):
        old, rested = before.problem.rows, resting(before)
        for j, was in enumerate(kept_rows(old, problem.rows).tolist()):
            if was < 0:
                continue
            begun[j], delivered[j] = given.begun[was], given.delivered[was]
            debts[j], born[j] = given.debts[was], given.born[was]
            if rested[was]:
                begun[j] += rounds - given.since[was]
            same = given.surplus[was] == fresh.surplus[j]
            if same and given.bound[was] == bound[j] and not rested[was]:
                since[j], promised[j] = given.since[was], given.promised[was]
                settled[j] = given.settled[was]
                continue
            if not same or old.bound[was] != problem.rows.bound[j]:
                debts[j] = max(debts[j], 0.0)
            promised[j] = delivered[j] + fresh.sign[j] * debts[j]
    return fresh._replace(
        bound=frozen(bound),
        since=frozen(since),
        promised=frozen(promised),
        begun=frozen(begun),
        settled=frozen(settled),
        born=frozen(born),
    )


def remembers_all(promises: Promises) -> bool:
    """Say whether all debts add up over decisions and feedback."""
    return isinstance(promises, NoPromises) or bool(np.all(promises.surplus == math.inf))


def settle(promises: Promises, rounds: int) -> None:
    """Recompute the debts of rows that remember everything."""
    if isinstance(promises, PromiseArrays):
        due = (rounds - promises.since) * promises.bound + promises.promised
        debts = promises.sign * (due - promises.delivered)
        promises.debts[:] = np.where(promises.surplus == math.inf, debts, promises.debts)


def cancel_promises(
    promises: Promises,
    table: ArmTable,
    record: DecisionRecord,
    later: Iterable[DecisionRecord],
    rounds: int,
) -> Promises:
    """Take a decision out of the promises; ``rounds`` are those that are left.

    Promises whose terms have changed since then lose its plays, and are owed as before.
    """
    if isinstance(promises, NoPromises) or record.owed is None:
        return promises
    had, owed = _then(record, table)
    alive, counted = record.number > promises.born, record.number > promises.settled
    gap = np.where(counted, owed - _stepped(promises, owed, had), 0.0)
    for other in later:
        if other.owed is None:
            continue
        own, before = _then(other, table)
        moved = np.maximum(before + gap, -promises.surplus)
        following = other.number > promises.settled
        changed = _stepped(promises, moved, own) - _stepped(promises, before, own)
        kept = kept_rows(table.problem.rows, other.table.problem.rows)
        there = kept >= 0
        other.owed[there] = np.where(following, moved, before)[kept[there]]
        gap = np.where(following, changed, gap)
    promises.delivered[:] -= np.where(alive, had, 0.0)
    shifted = np.maximum(promises.debts + gap, -promises.surplus)
    promises.debts[:] = np.where(counted, shifted, promises.debts)
    left = promises._replace(
        since=frozen(promises.since - ~counted),
        promised=frozen(promises.promised - np.where(alive & ~counted, had, 0.0)),
        begun=frozen(promises.begun - ~alive),
    )
    settle(left, rounds)
    return left


def _then(record: DecisionRecord, table: ArmTable) -> tuple[Floats, Floats]:
    """Return the plays that the rows of a table had in a decision, and what they were owed before.

    Rewards come later. What was not there has nothing.
    """
    rows = record.table.problem.rows
    plays = np.where(rows.reward, 0.0, rows.members[:, record.indices].sum(axis=1))
    kept = kept_rows(rows, table.problem.rows)
    there = kept >= 0
    had, owed = np.zeros((2, kept.size))
    had[there] = plays[kept[there]]
    if record.owed is not None:
        owed[there] = record.owed[kept[there]]
    return had, owed


def _stepped(promises: PromiseArrays, debts: Floats, had: Floats) -> Floats:
    """Return debts after one more round."""
    return np.maximum(debts + promises.sign * (promises.bound - had), -promises.surplus)


def statuses(
    table: ArmTable, promises: Promises, prices: Floats | None, rounds: int
) -> dict[str, PromiseStatus]:
    """Return how every promise beyond floors stands."""
    if isinstance(promises, NoPromises):
        return {}
    found: dict[str, PromiseStatus] = {}
    rows, rests = table.problem.rows, resting(table)
    weights = np.max(np.where(rows.members, table.problem.weights, 0.0), axis=1)
    for j, name in enumerate(rows.names):
        lower, reward = rows.sign[j] == AT_LEAST, bool(rows.reward[j])
        until = promises.since[j] if rests[j] else rounds
        rate = float(promises.delivered[j] / max(until - promises.begun[j], 1.0))
        one = found.get(name) or PromiseStatus(
            "reward" if reward else "plays", None, None, rate, 0.0, None, "kept"
        )
        debt = max(float(promises.debts[j]), 0.0)
        side: dict[str, Any] = {"at_least" if lower else "at_most": float(rows.bound[j])}
        if prices is not None:
            side["price"] = (one.price or 0.0) + float(rows.sign[j] * prices[j])
        if debt > BEHIND * (weights[j] if reward else 1.0):
            side["standing"] = "behind" if lower else "over"
        if rests[j]:
            side["standing"] = "paused"
        found[name] = one._replace(debt=max(one.debt, debt), **side)
    return found


def promise_columns(promises: Promises) -> dict[str, list[float]]:
    """Return promises as lists by name, for a snapshot; none if there are none."""
    if isinstance(promises, NoPromises):
        return {}
    return {name: getattr(promises, name).tolist() for name in (*MOMENTS, *STATE)}


def promises_from(columns: dict[str, Any], table: ArmTable, surplus: float) -> Promises:
    """Return the promises that columns describe, checked against the table."""
    fresh = promises_of(table, surplus)
    if isinstance(fresh, NoPromises):
        return fresh
    found: dict[str, Any] = {
        name: np.array(columns[name], dtype=np.float64) for name in (*MOMENTS, *STATE)
    }
    for name, column in found.items():
        if column.shape != fresh.debts.shape or not np.all(np.isfinite(column)):
            raise ValueError(f"{name} of promises must be {fresh.debts.size} finite numbers")
    for name in MOMENTS:
        frozen(found[name])
    return fresh._replace(**found)
