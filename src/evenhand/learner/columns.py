"""The arms and the ledger of an agent as columns of plain numbers, and back."""

from __future__ import annotations

from base64 import b64decode, b64encode
from itertools import pairwise
from typing import Any

import numpy as np

from evenhand.core.checks import LARGEST, check_names, check_number, check_whole
from evenhand.learner.arm_table import Marks, Roster, make_roster
from evenhand.learner.decision_log import END_WORDS, Entry, Ledger
from evenhand.learner.reasons import Reason
from evenhand.problem import Problem

ENDS = tuple(END_WORDS)
NOBODY = np.empty(0, dtype=np.int64)
MOMENTS = ("joined", "since", "promised")


def roster_columns(roster: Roster) -> dict[str, Any]:
    """Return a roster as lists by name."""
    problem, terms = roster.problem, roster.terms
    return {
        "arms": list(problem.arms),
        "plays": problem.plays,
        "weights": problem.weights.tolist(),
        "floors": problem.floors.tolist(),
        **{name: getattr(terms, name).tolist() for name in (*MOMENTS, "paused")},
        **{name: mark.tolist() for name, mark in roster.marks._asdict().items()},
    }


def roster_from(columns: dict[str, Any]) -> Roster:
    """Return the roster that columns describe."""
    problem = Problem(*(columns[key] for key in ("arms", "plays", "weights", "floors")))
    arms = len(problem.arms)
    floats, whole = np.zeros(arms), np.zeros(arms, dtype=np.int64)
    moments = filled(columns, dict.fromkeys(MOMENTS, floats), lowest=-np.inf)
    paused = filled(columns, {"paused": np.zeros(arms, dtype=np.bool_)})
    blank = {**dict.fromkeys(Marks._fields, floats), "born": whole, "bound": whole}
    marks = Marks(**filled(columns, blank, lowest=-np.inf))
    return make_roster(problem, problem.terms._replace(**moments, **paused), marks)


def ledger_columns(ledger: Ledger, roster: Roster) -> dict[str, Any]:
    """Return a ledger as columns, one number a decision or one a play, packed as text.

    Decisions refer to rosters by number, the present one first. Those that a version before has
    made stand apart, by name; so do reasons, which few decisions have.
    """
    rosters, numbers = [roster], {id(roster): 0}
    known = {key: entry for key, entry in ledger.entries.items() if entry.roster is not None}
    for entry in known.values():
        if id(entry.roster) not in numbers and entry.roster is not None:
            numbers[id(entry.roster)] = len(rosters)
            rosters.append(entry.roster)
    entries = list(known.values())
    rewards = [reward for e in entries for reward in e.rewards or [None] * len(e.chosen)]
    owed = [e.before for e in entries if e.before is not None]
    return {
        "memory": ledger.memory,
        "latest": ledger.latest,
        "rosters": [roster_columns(other) for other in rosters[1:]],
        "id": pack(list(known), np.int64),
        "round": pack([e.round for e in entries], np.int64),
        "time": pack([e.time for e in entries], np.int64),
        "roster": pack([numbers[id(e.roster)] for e in entries], np.int64),
        "end": pack([ENDS.index(e.end) for e in entries], np.int64),
        "count": pack([len(e.chosen) for e in entries], np.int64),
        "chosen": pack(np.concatenate([NOBODY, *(e.places for e in entries)]), np.int64),
        "told": pack(rewards, np.float64),
        "everyone": pack([e.awake is None for e in entries], np.int64),
        "awake": b64encode(b"".join(e.awake or b"" for e in entries)).decode(),
        "owed": pack([e.before is not None for e in entries], np.int64),
        "before": pack(np.concatenate([np.empty(0), *owed]), np.float64),
        "reasons": {key: e.reasons for key, e in known.items() if e.reasons is not None},
        "older": [
            [key, e.end, e.chosen, e.told] for key, e in ledger.entries.items() if not e.roster
        ],
    }


def ledger_from(columns: dict[str, Any], roster: Roster) -> Ledger:
    """Return the ledger that columns describe, checked against the arms."""
    ledger = Ledger(check_whole("memory", columns["memory"], least=1))
    ledger.latest = check_whole("latest", columns["latest"], least=0)
    for line in columns["older"]:
        key, entry = older_entry(ledger.latest, *line)
        ledger.entries[key] = entry
    rosters = [roster, *map(roster_from, columns["rosters"])]
    ids, rounds = _whole(columns, "id", 1, ledger.latest), _whole(columns, "round", 1, LARGEST)
    numbers, ends = _whole(columns, "roster", 0, len(rosters) - 1), _whole(columns, "end", 0, 2)
    places = unpack(columns["chosen"], np.int64)
    told, before = (unpack(columns[name], np.float64) for name in ("told", "before"))
    counts = _whole(columns, "count", 0, places.size)
    arms = np.array([len(other.problem.arms) for other in rosters])[numbers]
    if sum(counts) != places.size:
        raise ValueError(f"{places.size} places for {sum(counts)} plays")
    if np.any(places < 0) or np.any(places >= np.repeat(arms, counts)):
        raise ValueError("chosen places must be those of arms")
    if told.size != places.size or not np.all(np.isnan(told) | ((told >= 0.0) & (told <= 1.0))):
        raise ValueError("rewards of decisions must be numbers in [0, 1], one for each play")
    rewards, unknown = told.tolist(), np.isnan(told)
    for place in np.flatnonzero(unknown).tolist():
        rewards[place] = None
    stops = np.cumsum([0, *counts])
    silent = np.diff(np.concatenate([[0], np.cumsum(~unknown)])[stops]) == 0
    names = _named(places, rosters, np.repeat(numbers, counts))
    times = _whole(columns, "time", 1, LARGEST)
    columns_read = ids, rounds, times, numbers, ends, silent.tolist(), pairwise(stops.tolist())
    for key, round_, time, number, end, unheard, (start, stop) in zip(*columns_read, strict=True):
        entry = Entry(round_, tuple(names[start:stop]), places[start:stop], rosters[number])
        entry.time, entry.end = time, ENDS[end]
        if not unheard:
            entry.rewards = rewards[start:stop]
        ledger.entries[key] = entry
    _put_awake(columns, [ledger.entries[key] for key in ids])
    _put_before(columns, [ledger.entries[key] for key in ids], before)
    for key, lines in columns["reasons"].items():
        ledger.entries[int(key)].reasons = tuple(Reason(*line) for line in lines)
    return ledger


def _named(places: Any, rosters: list[Roster], numbers: Any) -> list[str]:
    """Return the names of arms by their places in one roster or another."""
    names = np.empty(places.size, dtype=object)
    for number, roster in enumerate(rosters):
        here = numbers == number
        names[here] = np.array(roster.problem.arms, dtype=object)[places[here]]
    listed: list[str] = names.tolist()
    return listed


def older_entry(
    latest: int, key: object, end: str, chosen: object, told: dict[str, Any]
) -> tuple[int, Entry]:
    """Return a decision of which only names and rewards are known, with its id."""
    decision_id = check_whole("decision", key, least=1)
    if decision_id > latest:
        raise ValueError(f"decision {decision_id} after {latest} decisions")
    entry = Entry(decision_id, check_names("chosen arms", chosen), NOBODY, None)
    if not isinstance(told, dict) or not set(told) <= set(entry.chosen):
        raise ValueError(f"rewards of decision {decision_id} are not by arms that it chose")
    rewards = {arm: check_number(f"reward of arm {arm!r}", told[arm]) for arm in told}
    if rewards:
        entry.tell(rewards)
    entry.end = ENDS[ENDS.index(end)]
    return decision_id, entry


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


def _put_awake(columns: dict[str, Any], entries: list[Entry]) -> None:
    """Give decisions their awake arms, which lie one after the other."""
    bits, at = b64decode(columns["awake"], validate=True), 0
    for everyone, entry in zip(_whole(columns, "everyone", 0, 1), entries, strict=True):
        if not everyone and entry.roster is not None:
            size = (len(entry.roster.problem.arms) + 7) // 8
            entry.awake = bits[at : at + size]
            at += size
            spare = 8 * size - len(entry.roster.problem.arms)
            if entry.awake and entry.awake[-1] & ((1 << spare) - 1):
                raise ValueError("awake arms of decisions must be among the arms")
    if at != len(bits):
        raise ValueError(f"awake arms of decisions fill {len(bits)} bytes instead of {at}")


def _put_before(columns: dict[str, Any], entries: list[Entry], before: Any) -> None:
    """Give decisions what was owed to their arms before, where that is known."""
    at = 0
    for owed, entry in zip(_whole(columns, "owed", 0, 1), entries, strict=True):
        if owed:
            entry.before = before[at : at + len(entry.chosen)]
            at += len(entry.chosen)
    if at != before.size:
        raise ValueError(f"{before.size} debts for {at} plays")


def filled(lists: dict[str, Any], blank: dict[str, Any], *, lowest: float = 0.0) -> dict[str, Any]:
    """Return lists as arrays of the type and shape of those that a new agent has."""
    found = {name: np.array(lists[name], dtype=array.dtype) for name, array in blank.items()}
    for name, array in found.items():
        if array.shape != blank[name].shape:
            raise ValueError(f"{name} has {array.size} entries instead of {blank[name].size}")
        if array.tolist() != lists[name] or not np.all((array >= lowest) & np.isfinite(array)):
            raise ValueError(f"{name} must be of its kind, finite and at least {lowest:g}")
    return found
