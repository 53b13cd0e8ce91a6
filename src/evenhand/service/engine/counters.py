"""The counters of a bandit: the state that decisions depend on, and totals of its log."""

from __future__ import annotations

from base64 import b64decode, b64encode
from struct import Struct
from typing import Annotated, Any, NamedTuple

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import fail
from evenhand.core.schema import Column, from_bytes, from_lists, new, to_bytes, to_lists
from evenhand.core.state import State

# Name, version, reserved, number of arms, size of the totals, size of the state.
HEADER = Struct("<4sHHQQQ")
NAME, VERSION = b"EHct", 1


class Totals(NamedTuple):
    """Sums over a log that decisions do not depend on.

    Attributes
    ----------
    seq
        The number of the last event.
    latest
        How many decisions were made, cancelled ones included.
    checked
        The number of the last event that was checked for overdue feedback.
    told, expired
        How many plays were learned from, and how many got no feedback in time.
    reward
        The sum of the learned rewards times the weights of their arms.
    pending
        How many plays of each arm await feedback.
    """

    seq: Annotated[Integers, Column("one")]
    latest: Annotated[Integers, Column("one")]
    checked: Annotated[Integers, Column("one")]
    told: Annotated[Integers, Column("one")]
    expired: Annotated[Integers, Column("one")]
    reward: Annotated[Floats, Column("one")]
    pending: Annotated[Integers, Column("arm")]


class Counters(NamedTuple):
    """The totals, the state, and those of the policy's arrays that cannot be recomputed."""

    totals: Totals
    state: State
    memory: bytes = b""


def no_counters(arms: int) -> Counters:
    """Return the counters of an empty log."""
    return Counters(new(Totals, arms), new(State, arms))


def packed(counters: Counters) -> bytes:
    """Return counters as bytes.

    >>> int(unpacked(packed(no_counters(2))).totals.seq[0])
    0
    """
    totals, state = to_bytes(counters.totals), to_bytes(counters.state)
    arms = counters.totals.pending.size
    head = HEADER.pack(NAME, VERSION, 0, arms, len(totals), len(state))
    return b"".join((head, totals, state, counters.memory))


def unpacked(body: bytes) -> Counters:
    """Return the counters that :func:`packed` wrote."""
    name, version, _, arms, totals, state = HEADER.unpack_from(body)
    if (name, version) != (NAME, VERSION):
        fail("counters", f"of version {VERSION}, which this release reads", f"{name} {version}")
    start = HEADER.size
    middle, end = start + totals, start + totals + state
    return Counters(
        from_bytes(Totals, body[start:middle], arms),
        from_bytes(State, body[middle:end], arms),
        body[end:],
    )


def to_plain(counters: Counters) -> dict[str, Any]:
    """Return counters as plain numbers by name, for an export."""
    return {
        "version": VERSION,
        **to_lists(counters.totals),
        **to_lists(counters.state),
        "memory": b64encode(counters.memory).decode(),
    }


def from_plain(numbers: dict[str, Any]) -> Counters:
    """Return the counters that :func:`to_plain` wrote."""
    if numbers["version"] != VERSION:
        fail("counters", f"of version {VERSION}, which this release reads", numbers["version"])
    arms = len(numbers["pending"])
    totals, state = from_lists(Totals, numbers, arms), from_lists(State, numbers, arms)
    return Counters(totals, state, b64decode(numbers["memory"], validate=True))
