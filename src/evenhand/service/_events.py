"""What is written to the log, and what the log knows of one decision.

A bandit's log is the truth: events in the order of their commits, numbered from 1 without gaps,
never changed. Counters are sums over it (:mod:`evenhand.service.recount`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from evenhand.learner.decision import Reason
from evenhand.service._bodies import DecisionState

Kind: TypeAlias = Literal["decision", "feedback", "expired", "cancelled", "reasons", "edition"]


class Event(NamedTuple):
    """One line of a log.

    Attributes
    ----------
    seq, at
        Its number, and when it was, in seconds since 1970.
    kind, decision
        What happened, and to which decision (its id); none for an edition.
    body
        The rest as JSON; empty for a decision whose details have been folded into the counters.
    """

    seq: int
    at: float
    kind: Kind
    decision: str
    body: bytes


class Body(Struct, tag_field="v", tag=1):
    """What an event says; ``v`` is the version of its form."""


class Made(Body):
    """A decision: who was awake and who was chosen, by their places in an edition.

    ``number`` counts decisions, ``round`` those not cancelled, and ``time`` is the round if none
    had been cancelled, by which rewards are weighed. ``awake`` are bits, eight arms a byte, paused
    arms included if they were named; None for all arms. ``before`` is what was owed to the chosen
    arms, where debts forget plays.
    """

    number: int
    round: int
    time: int
    edition: int
    chosen: list[int]
    awake: bytes | None
    before: list[float] | None = None

    def names(self, arms: Sequence[str]) -> list[str]:
        """Return the names of the chosen arms."""
        return [arms[place] for place in self.chosen]


class Told(Body):
    """Rewards that were told, or were put in for those that never came.

    ``counted`` are the numbers that were learned, in the order of the arms; arms that have retired
    since the decision are ``ignored``.
    """

    rewards: dict[str, float]
    counted: dict[str, float]
    ignored: list[str] = []


class Expired(Body):
    """The arms of which nothing was heard in time, and what was put in for them, if anything."""

    arms: list[str]
    told: Told | None


class Change(Body):
    """What has changed about a bandit other than by decisions: the number says to which edition.

    ``awake_counts`` are those that a policy which forgets has set anew, in the weights of an
    ``epoch``, for arms that were paused.
    """

    edition: int
    change: str
    arms: list[str] = []
    awake_counts: dict[str, float] = {}
    epoch: int = 0


class Explained(Body):
    """Why arms were chosen, with the probabilities that others need to judge another policy."""

    reasons: list[Reason]


class Cancelled(Body):
    """A decision that was taken out of the counters."""


LATER: dict[str, type] = {"feedback": Told, "reasons": Explained}
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in (Made, Told, Expired, Change, Explained)
}
encode = msgspec.json.Encoder().encode


def decode(kind: type[Any], body: bytes) -> Any:
    """Return the body of an event."""
    return _DECODERS[kind].decode(body)


class History:
    """What the log knows of one decision.

    ``made`` is None if its details have been folded into the counters.
    """

    __slots__ = ("at", "end", "id", "made", "reasons", "told")

    def __init__(self, decision: Event, made: Made | None) -> None:
        self.id, self.at, self.made = decision.decision, decision.at, made
        self.told: dict[str, float] = {}
        self.end: Literal["", "cancelled", "expired"] = ""
        self.reasons: list[Reason] | None = None

    def add(self, kind: Kind, body: Any) -> None:
        """Take in what happened to the decision later."""
        if kind == "feedback":
            self.told.update(body.rewards)
        elif kind == "reasons":
            self.reasons = body.reasons
        elif kind in ("cancelled", "expired"):
            self.end = kind

    @property
    def state(self) -> DecisionState:
        """Whether anything is still awaited."""
        if self.end:
            return self.end
        complete = self.made is None or len(self.told) >= len(self.made.chosen)
        return "told" if complete else "awaiting"


def histories(events: Iterable[Event]) -> dict[str, History]:
    """Return the histories of decisions from their events, which are in order."""
    found: dict[str, History] = {}
    for event in events:
        if event.kind == "decision":
            made = decode(Made, event.body) if event.body else None
            found[event.decision] = History(event, made)
        elif event.decision in found:
            told = decode(LATER[event.kind], event.body) if event.kind in LATER else None
            found[event.decision].add(event.kind, told)
    return found
