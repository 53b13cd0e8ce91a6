"""The bodies of events, and what the log says of one decision.

The log of a bandit is the source of truth: events in the order of their commits, numbered from 1
without gaps, never changed. Counters are sums over it (:mod:`evenhand.service.upkeep.recount`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from evenhand.learner.decision import Reason
from evenhand.service.schemas import DecisionState
from evenhand.service.stores.protocol import Event, EventKind


class EventBody(Struct, tag_field="v", tag=1):
    """The JSON body of an event; ``v`` is the version of its format."""


class DecisionEvent(EventBody):
    """A decision: which arms were awake and chosen, as indices of a configuration's arms.

    ``number`` counts decisions, ``round`` those that were not cancelled. ``time`` is the round if
    none had been cancelled; rewards are weighted by it. ``awake`` is a bitmap, eight arms a byte,
    paused arms included if they were named; None for all arms. ``before`` has the debts of the
    chosen arms before the decision, of policies whose debts do not add up.
    """

    number: int
    round: int
    time: int
    config_version: int = field(name="edition")
    chosen: list[int]
    awake: bytes | None
    before: list[float] | None = None

    def names(self, arms: Sequence[str]) -> list[str]:
        """Return the names of the chosen arms."""
        return [arms[index] for index in self.chosen]


class FeedbackEvent(EventBody):
    """Rewards as received, or default rewards after a timeout.

    ``counted`` has the numbers that were learned, in the order of the arms. Arms that retired after
    the decision are ``ignored``.
    """

    rewards: dict[str, float]
    counted: dict[str, float]
    ignored: list[str] = []


class ExpiryEvent(EventBody):
    """The arms without feedback at the timeout, and the default rewards learned, if any."""

    arms: list[str]
    told: FeedbackEvent | None


class ConfigEvent(EventBody):
    """A new configuration, by its number.

    ``awake_counts`` has counts that a policy with a half-life has set for resumed arms, in
    the weights of an ``epoch``. ``digest`` is that of the configuration, ``origin`` that of the
    name and the body that the bandit was created from; older releases wrote neither.
    """

    config_version: int = field(name="edition")
    change: str
    arms: list[str] = []
    awake_counts: dict[str, float] = {}
    epoch: int = 0
    digest: str = ""
    origin: str = ""


class ReasonsEvent(EventBody):
    """The reasons of a decision, with the probabilities that off-policy evaluation needs."""

    reasons: list[Reason]


class CancelEvent(EventBody):
    """A decision was cancelled and taken out of the counters."""


LATER: dict[str, type] = {"feedback": FeedbackEvent, "reasons": ReasonsEvent}
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind)
    for kind in (DecisionEvent, FeedbackEvent, ExpiryEvent, ConfigEvent, ReasonsEvent)
}
encode = msgspec.json.Encoder().encode


def decode(kind: type[Any], body: bytes) -> Any:
    """Return the body of an event."""
    return _DECODERS[kind].decode(body)


class DecisionHistory:
    """What the log says of one decision; ``made`` is None if its details were compacted."""

    __slots__ = ("at", "end", "id", "made", "reasons", "told")

    def __init__(self, decision: Event, made: DecisionEvent | None) -> None:
        self.id, self.at, self.made = decision.decision, decision.at, made
        self.told: dict[str, float] = {}
        self.end: Literal["", "cancelled", "expired"] = ""
        self.reasons: list[Reason] | None = None

    def add(self, kind: EventKind, body: Any) -> None:
        """Add a later event of the decision."""
        if kind == "feedback":
            self.told.update(body.rewards)
        elif kind == "reasons":
            self.reasons = body.reasons
        elif kind in ("cancelled", "expired"):
            self.end = kind

    @property
    def state(self) -> DecisionState:
        """Whether feedback is still awaited."""
        if self.end:
            return self.end
        complete = self.made is None or len(self.told) >= len(self.made.chosen)
        return "told" if complete else "awaiting"


def histories(events: Iterable[Event]) -> dict[str, DecisionHistory]:
    """Return the histories of decisions by id, from their events in order."""
    found: dict[str, DecisionHistory] = {}
    for event in events:
        if event.kind == "decision":
            made = decode(DecisionEvent, event.body) if event.body else None
            found[event.decision] = DecisionHistory(event, made)
        elif event.decision in found:
            body = decode(LATER[event.kind], event.body) if event.kind in LATER else None
            found[event.decision].add(event.kind, body)
    return found


def times_of(events: Sequence[Event], now: float) -> list[float]:
    """Return when events happened, at the latest: before ``now``, and before the later ones.

    A clock that was wrong has stamped some from the future, but the log is in order.

    >>> events = [Event(i, at, "decision", "", b"") for i, at in enumerate((5.0, 99.0, 7.0, 50.0))]
    >>> times_of(events, 9.0)
    [5.0, 7.0, 7.0, 9.0]
    """
    latest = accumulate((event.at for event in reversed(events)), min, initial=now)
    return list(latest)[:0:-1]
