"""What a bandit's log adds up to: the numbers that decisions depend on, and the log's own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Integers
from evenhand.core.state import State, new_state

WHOLE = 8
HEADER = WHOLE + 1


class Counters(NamedTuple):
    """Sums over a bandit's log.

    Attributes
    ----------
    seq
        The number of the last event.
    latest
        How many decisions were made, cancelled ones included.
    checked
        The number of the last event whose decision has been looked at for being overdue.
    told, expired
        How many plays were learned from, and of how many nothing was heard in time.
    reward
        What those that were learned from returned, weighed by the arms' weights.
    state
        Rounds, plays, awake counts and rewards; debts are worked out from them and the promises.
    pending
        How many of each arm's plays still await feedback.
    """

    seq: int
    latest: int
    checked: int
    told: int
    expired: int
    reward: float
    state: State
    pending: Integers


def no_counters(arms: int) -> Counters:
    """Return the counters of a bandit whose log is empty."""
    return Counters(0, 0, 0, 0, 0, 0.0, new_state(arms), np.zeros(arms, dtype=np.int64))


def packed(counters: Counters) -> bytes:
    """Return counters as bytes; debts are left out.

    >>> unpacked(packed(no_counters(2)))[:6]
    (0, 0, 0, 0, 0, 0.0)
    """
    state = counters.state
    clock = (int(number[0]) for number in state[:3])
    header = np.array((*counters[:5], *clock), "<i8"), np.array([counters.reward], "<f8")
    whole = *header, np.asarray(state.played, "<i8"), counters.pending
    sums = (np.asarray(column, "<f8") for column in state[4:7])
    return b"".join(column.tobytes() for column in (*whole, *sums))


def unpacked(body: bytes) -> Counters:
    """Return the counters that bytes hold, with debts of 0."""
    *sums, rounds, cancelled, epoch = np.frombuffer(body, "<i8", WHOLE).tolist()
    reward = np.frombuffer(body, "<f8", 1, 8 * WHOLE).item()
    arms = (len(body) // 8 - HEADER) // 5
    whole = np.frombuffer(body, "<i8", 2 * arms, 8 * HEADER).reshape(2, arms)
    lists = np.frombuffer(body, "<f8", 3 * arms, 8 * (HEADER + 2 * arms)).reshape(3, arms)
    clock = [np.array([number]) for number in (rounds, cancelled, epoch)]
    state = State._make([*clock, whole[0].copy(), *lists.copy(), np.zeros(arms)])
    return Counters._make([*sums, reward, state, whole[1].copy()])


def listed(counters: Counters) -> dict[str, Any]:
    """Return counters as plain numbers by name, debts left out."""
    state = counters.state
    return {
        **dict(zip(Counters._fields[:6], counters[:6], strict=True)),
        **{name: int(getattr(state, name)[0]) for name in State._fields[:3]},
        **{name: getattr(state, name).tolist() for name in State._fields[3:7]},
        "pending": counters.pending.tolist(),
    }


def from_lists(numbers: dict[str, Any]) -> Counters:
    """Return the counters that :func:`listed` wrote."""
    clock = [np.array([numbers[name]], dtype=np.int64) for name in State._fields[:3]]
    played, pending = (np.array(numbers[name], dtype=np.int64) for name in ("played", "pending"))
    sums = (np.array(numbers[name], dtype=np.float64) for name in State._fields[4:7])
    state = State._make([*clock, played, *sums, np.zeros(played.size)])
    return Counters._make([*(numbers[name] for name in Counters._fields[:6]), state, pending])
