"""The arms and the decision log of an agent as columns of plain numbers, and back."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import astuple
from itertools import pairwise
from typing import Any

import numpy as np

from evenhand.agent._decision_log import DecisionLog
from evenhand.core.checks import LARGEST, check_whole
from evenhand.learner.arm_table import ArmTable
from evenhand.learner.decision import DecisionRecord, Reason
from evenhand.learner.feedback import END_WORDS
from evenhand.learner.stored import table_columns, table_from

ENDS = tuple(END_WORDS)
NOBODY = np.empty(0, dtype=np.int64)


def log_columns(log: DecisionLog, table: ArmTable) -> dict[str, Any]:
    """Return a log as columns, one number a decision or one a play, packed as text.

    Decisions refer to tables of arms by number, the present one first. Reasons, which few decisions
    have, stand apart.
    """
    tables, numbers, records = [table], {id(table): 0}, list(log.records.values())
    for record in records:
        if id(record.table) not in numbers:
            numbers[id(record.table)] = len(tables)
            tables.append(record.table)
    rewards = [reward for e in records for reward in e.rewards or [None] * len(e.chosen)]
    owed = [e.before for e in records if e.before is not None]
    promised = [e.owed for e in records if e.owed is not None]
    return {
        "memory": log.size,
        "latest": log.latest,
        "tables": [table_columns(other) for other in tables[1:]],
        "id": pack([e.number for e in records], np.int64),
        "round": pack([e.round for e in records], np.int64),
        "time": pack([e.time for e in records], np.int64),
        "table": pack([numbers[id(e.table)] for e in records], np.int64),
        "end": pack([ENDS.index(e.end) for e in records], np.int64),
        "count": pack([len(e.chosen) for e in records], np.int64),
        "chosen": pack(np.concatenate([NOBODY, *(e.indices for e in records)]), np.int64),
        "told": pack(rewards, np.float64),
        "everyone": pack([e.awake is None for e in records], np.int64),
        "awake": b64encode(b"".join(e.awake or b"" for e in records)).decode(),
        "owed": pack([e.before is not None for e in records], np.int64),
        "before": pack(np.concatenate([np.empty(0), *owed]), np.float64),
        "promised": pack([0 if e.owed is None else e.owed.size for e in records], np.int64),
        "promises": pack(np.concatenate([np.empty(0), *promised]), np.float64),
        "contexts": pack([e.context for e in records if e.context is not None], np.float64),
        "reasons": {
            e.number: [astuple(reason) for reason in e.reasons]
            for e in records
            if e.reasons is not None
        },
    }


def log_from(columns: dict[str, Any], table: ArmTable) -> DecisionLog:
    """Return the log that columns describe, checked against the arms."""
    log = DecisionLog(check_whole("memory", columns["memory"], least=1))
    log.latest = check_whole("latest", columns["latest"], least=0)
    tables = [table, *map(table_from, columns["tables"])]
    ids, rounds = _whole(columns, "id", 1, log.latest), _whole(columns, "round", 1, LARGEST)
    numbers, ends = _whole(columns, "table", 0, len(tables) - 1), _whole(columns, "end", 0, 2)
    indices = unpack(columns["chosen"], np.int64)
    told, before = (unpack(columns[name], np.float64) for name in ("told", "before"))
    counts = _whole(columns, "count", 0, indices.size)
    arms = np.array([len(other.problem.arms) for other in tables])[numbers]
    if sum(counts) != indices.size:
        raise ValueError(f"{indices.size} indices for {sum(counts)} plays")
    if np.any(indices < 0) or np.any(indices >= np.repeat(arms, counts)):
        raise ValueError("chosen indices must be those of arms")
    if told.size != indices.size or not np.all(np.isnan(told) | ((told >= 0.0) & (told <= 1.0))):
        raise ValueError("rewards of decisions must be numbers in [0, 1], one for each play")
    rewards, unknown = told.tolist(), np.isnan(told)
    for index in np.flatnonzero(unknown).tolist():
        rewards[index] = None
    stops = np.cumsum([0, *counts])
    silent = np.diff(np.concatenate([[0], np.cumsum(~unknown)])[stops]) == 0
    names = _named(indices, tables, np.repeat(numbers, counts))
    times = _whole(columns, "time", 1, LARGEST)
    columns_read = ids, rounds, times, numbers, ends, silent.tolist(), pairwise(stops.tolist())
    for key, round_, time, number, end, unheard, (start, stop) in zip(*columns_read, strict=True):
        chosen = tuple(names[start:stop])
        given = chosen, indices[start:stop], tables[number]
        record = log.records[key] = DecisionRecord(key, round_, time, *given)
        record.end = ENDS[end]
        if not unheard:
            record.rewards = rewards[start:stop]
    records = list(log.records.values())
    _put_awake(columns, records)
    _put_before(columns, records, before)
    _put_contexts(columns, records, len(table.problem.features.columns))
    _put_promises(columns, records)
    for key, lines in columns["reasons"].items():
        log.records[int(key)].reasons = tuple(Reason(*line) for line in lines)
    return log


def _named(indices: Any, tables: list[ArmTable], numbers: Any) -> list[str]:
    """Return the names of arms by their indices in one table or another."""
    names = np.empty(indices.size, dtype=object)
    for number, table in enumerate(tables):
        here = numbers == number
        names[here] = np.array(table.problem.arms, dtype=object)[indices[here]]
    listed: list[str] = names.tolist()
    return listed


def pack(values: Any, kind: type[np.generic]) -> str:
    """Return numbers as text, exact and short; nothing at all becomes not a number.

    >>> unpack(pack([1, 2], np.int64), np.int64)
    array([1, 2])
    """
    return b64encode(np.array(values, dtype=np.dtype(kind).newbyteorder("<")).tobytes()).decode()


def unpack(text: str, kind: type[np.generic]) -> Any:
    """Return the numbers that :func:`pack` wrote."""
    stored = np.frombuffer(b64decode(text, validate=True), np.dtype(kind).newbyteorder("<"))
    return stored.astype(kind)


def _whole(columns: dict[str, Any], name: str, least: int, most: int) -> list[int]:
    """Return a column of whole numbers within limits."""
    numbers = unpack(columns[name], np.int64)
    if numbers.size and not (numbers.min() >= least and numbers.max() <= most):
        raise ValueError(f"{name} of decisions must be in {least} to {most}")
    listed: list[int] = numbers.tolist()
    return listed


def _put_awake(columns: dict[str, Any], records: list[DecisionRecord]) -> None:
    """Give decisions their awake arms, which lie one after the other."""
    bits, at = b64decode(columns["awake"], validate=True), 0
    for everyone, record in zip(_whole(columns, "everyone", 0, 1), records, strict=True):
        if not everyone:
            size = (len(record.table.problem.arms) + 7) // 8
            record.awake = bits[at : at + size]
            at += size
            spare = 8 * size - len(record.table.problem.arms)
            if record.awake and record.awake[-1] & ((1 << spare) - 1):
                raise ValueError("awake arms of decisions must be among the arms")
    if at != len(bits):
        raise ValueError(f"awake arms of decisions fill {len(bits)} bytes instead of {at}")


def _put_contexts(columns: dict[str, Any], records: list[DecisionRecord], features: int) -> None:
    """Give decisions their contexts, which all of them have, or none."""
    numbers = unpack(columns.get("contexts", ""), np.float64)
    if not numbers.size:
        return
    if numbers.size != len(records) * features or not np.all(np.isfinite(numbers)):
        raise ValueError(f"{numbers.size} numbers for contexts of {len(records)} decisions")
    for context, record in zip(numbers.reshape(-1, features), records, strict=True):
        record.context = context


def _put_promises(columns: dict[str, Any], records: list[DecisionRecord]) -> None:
    """Give decisions what was owed to promises beyond floors before, where there are any."""
    numbers, at = unpack(columns.get("promises", ""), np.float64), 0
    if not numbers.size:
        return
    for count, record in zip(_whole(columns, "promised", 0, LARGEST), records, strict=True):
        if count:
            record.owed = numbers[at : at + count].copy()
            at += count
    if at != numbers.size or not np.all(np.isfinite(numbers)):
        raise ValueError(f"{numbers.size} debts of promises for {at}")


def _put_before(columns: dict[str, Any], records: list[DecisionRecord], before: Any) -> None:
    """Give decisions what was owed to their arms before, where that is known."""
    at = 0
    for owed, record in zip(_whole(columns, "owed", 0, 1), records, strict=True):
        if owed:
            record.before = before[at : at + len(record.chosen)]
            at += len(record.chosen)
    if at != before.size:
        raise ValueError(f"{before.size} debts for {at} plays")
