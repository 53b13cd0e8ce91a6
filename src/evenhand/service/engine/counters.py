"""The counters of a bandit: the state that decisions depend on, and totals of its log."""

from __future__ import annotations

from base64 import b64decode, b64encode
from struct import Struct
from typing import Annotated, Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import check_whole, fail
from evenhand.core.schema import (
    Column,
    from_bytes,
    from_lists,
    names_of,
    new,
    to_bytes,
    to_lists,
)
from evenhand.core.state import State
from evenhand.service.engine.digests import SIZE, Link, digest_of

# Name, version, reserved, number of arms, size of the totals, size of the state.
HEADER = Struct("<4sHHQQQ")
NAME, VERSION = b"EHct", 2
# The last digest of the log, and after which event the digests begin; since version 2.
ROUNDING = 1e-6
LINK = Struct(f"<{SIZE}sQ")


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
    """The totals, the state, and those of the policy's arrays that cannot be recomputed.

    ``link`` is the end of the log's chain of digests.
    """

    totals: Totals
    state: State
    memory: bytes = b""
    link: Link = Link()


def no_counters(arms: int) -> Counters:
    """Return the counters of an empty log."""
    return Counters(new(Totals, arms), new(State, arms))


def packed(counters: Counters) -> bytes:
    """Return counters as bytes, with a digest of them at the end.

    >>> int(unpacked(packed(no_counters(2))).totals.seq[0])
    0
    """
    totals, state = to_bytes(counters.totals), to_bytes(counters.state)
    arms = counters.totals.pending.size
    head = HEADER.pack(NAME, VERSION, 0, arms, len(totals), len(state))
    link = LINK.pack(bytes.fromhex(counters.link.digest), counters.link.after)
    body = b"".join((head, link, totals, state, counters.memory))
    return body + bytes.fromhex(digest_of(body))


def unpacked(body: bytes) -> Counters:
    """Return the counters that :func:`packed` wrote, or a release without digests."""
    name, version, _, arms, totals, state = HEADER.unpack_from(body)
    if name != NAME or version not in (1, VERSION):
        fail("counters", f"of version {VERSION}, which this release reads", f"{name} {version}")
    start, last = HEADER.size, len(body)
    if version == VERSION:
        start, last = start + LINK.size, last - SIZE
        if bytes.fromhex(digest_of(body[:last])) != body[last:]:
            fail("counters", "what was written", "others: their digest differs")
    middle, end = start + totals, start + totals + state
    found = Counters(
        from_bytes(Totals, body[start:middle], arms),
        from_bytes(State, body[middle:end], arms),
        body[end:last],
    )
    if version == 1:
        return found._replace(link=Link("", int(found.totals.seq[0])))
    digest, after = LINK.unpack_from(body, HEADER.size)
    return found._replace(link=Link(digest.hex() if any(digest) else "", after))


def check_sums(state: State) -> None:
    """Raise ValueError if sums cannot be what they are: negative, or of more than there was."""
    for name in names_of(State, adds_up=True):
        if np.any(getattr(state, name) < -ROUNDING):
            raise ValueError(f"{name} must be at least 0")
    if state.epoch[0] < 0:
        raise ValueError("epoch must be at least 0")
    if np.any(state.played > state.rounds):
        raise ValueError("played must be at most the rounds")
    if np.any(state.reward_sums > state.feedbacks * (1.0 + ROUNDING) + ROUNDING):
        raise ValueError("reward_sums must be at most the feedbacks")


def to_plain(counters: Counters) -> dict[str, Any]:
    """Return counters as plain numbers by name, for an export."""
    return {
        "version": VERSION,
        **to_lists(counters.totals),
        **to_lists(counters.state),
        "memory": b64encode(counters.memory).decode(),
        "digest": counters.link.digest,
        "linked_after": counters.link.after,
    }


def from_plain(numbers: dict[str, Any]) -> Counters:
    """Return the counters that :func:`to_plain` wrote, or a release without digests."""
    version = numbers["version"]
    if version not in (1, VERSION):
        fail("counters", f"of version {VERSION}, which this release reads", version)
    arms = len(numbers["pending"])
    totals = from_lists(Totals, numbers, arms, lowest=0.0)
    state = from_lists(State, numbers, arms)
    check_sums(state)
    link = Link("", int(totals.seq[0]))
    if version == VERSION:
        after = check_whole("linked_after", numbers["linked_after"], least=0)
        link = Link(numbers["digest"], after)
        if link.digest and len(bytes.fromhex(link.digest)) != SIZE:
            fail("digest", f"{2 * SIZE} hexadecimal digits", link.digest)
    return Counters(totals, state, b64decode(numbers["memory"], validate=True), link)
