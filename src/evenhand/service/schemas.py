"""The JSON of bandits, decisions and feedback: requests, responses and errors of the API."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from evenhand.errors import Certificate
from evenhand.learner.decision import Reason
from evenhand.learner.feedback import Outcome

BANDIT_PATTERN = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
BANDIT_NAME = re.compile(BANDIT_PATTERN)
# Relative segments of a URL path: no name in a path can be one of them.
DOTS = (".", "..")
BANDIT_RULE = "letters, digits, '.', '_' and '-', at most 100, a letter or digit first"
MOST_ARMS = 10_000
MOST_ITEMS = 1_000

Fraction: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]
Weight: TypeAlias = Annotated[float, Meta(ge=0.0, le=1e100)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0.0, le=1e9)]
MOST_PLAYS = 1_000_000
Plays: TypeAlias = Annotated[int, Meta(ge=1, le=MOST_PLAYS)]
LONGEST_NAME = 200
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
DecisionState: TypeAlias = Literal["awaiting", "told", "expired", "cancelled"]
PolicySpec: TypeAlias = dict[str, float | str | bool | None]


class RequestBody(Struct, forbid_unknown_fields=True):
    """The body of a request; unknown fields are refused."""


class ArmValues(RequestBody):
    """The values of a new arm, whose name is in the URL."""

    floor: Fraction = 0.0
    weight: Weight = 1.0
    availability: Fraction | None = None


class ArmBody(RequestBody):
    """An arm: name, floor, weight and, if known, how often it is awake."""

    name: Name
    floor: Fraction = 0.0
    weight: Weight = 1.0
    availability: Fraction | None = None


class ArmChange(RequestBody):
    """New values of an arm; those that are left out stay."""

    floor: Fraction | UnsetType = UNSET
    weight: Weight | UnsetType = UNSET
    availability: Fraction | UnsetType | None = UNSET
    paused: bool | UnsetType = UNSET


class FeedbackRule(RequestBody):
    """How long to wait for feedback, and the reward to learn if none comes; None: for ever."""

    timeout_seconds: Seconds | None = None
    default_reward: Fraction | None = None


class BanditBody(RequestBody):
    """A new bandit."""

    arms: Annotated[list[ArmBody], Meta(min_length=1, max_length=MOST_ARMS)]
    plays: Plays
    policy: PolicySpec | None = None
    feedback: FeedbackRule | None = None


class BanditChange(RequestBody):
    """New rules of a bandit; those that are left out stay."""

    plays: Plays | UnsetType = UNSET
    feedback: FeedbackRule | UnsetType | None = UNSET


class DecisionBody(RequestBody):
    """A request for a decision."""

    awake: Annotated[list[Name], Meta(max_length=MOST_ARMS)] | None = None
    id: Name | None = None


class FeedbackItem(RequestBody):
    """Rewards of some or all arms of a decision."""

    decision: Name
    rewards: Annotated[dict[str, Fraction], Meta(min_length=1, max_length=MOST_ARMS)]


class FeedbackBatch(RequestBody):
    """Feedback on many decisions; an invalid item does not affect the others."""

    items: Annotated[list[FeedbackItem], Meta(max_length=MOST_ITEMS)]


class FeedbackBody(RequestBody):
    """Feedback in either form, with items that are not decoded yet."""

    decision: Raw | UnsetType = UNSET
    rewards: Raw | UnsetType = UNSET
    items: Annotated[list[Raw], Meta(max_length=MOST_ITEMS)] | UnsetType = UNSET


class WhatIfBody(RequestBody):
    """Floors to try; those that are left out stay."""

    floors: Annotated[dict[str, Fraction], Meta(max_length=MOST_ARMS)] = field(default_factory=dict)


class ArmResponse(Struct):
    """An arm as it is now."""

    name: str
    floor: float
    weight: float
    availability: float | None
    paused: bool


class BanditResponse(Struct):
    """A bandit as it is now."""

    name: str
    arms: list[ArmResponse]
    plays: int
    policy: PolicySpec
    feedback: FeedbackRule


class BanditList(Struct):
    """The names of all bandits."""

    bandits: list[str]


class DecisionResponse(Struct, omit_defaults=True):
    """The arms to play."""

    id: str
    chosen: list[str]
    round: int
    reasons: list[Reason] | UnsetType | None = UNSET


class FeedbackResult(Struct, omit_defaults=True):
    """The outcome of one item of feedback; per arm, if something was learned."""

    decision: str
    outcome: Outcome
    learned: list[str] = []
    repeated: list[str] = []
    ignored: list[str] = []
    detail: str = ""
    field: str = ""
    rule: str = ""
    value: Any = UNSET


class FeedbackResults(Struct):
    """The outcomes of feedback, in the order of its items."""

    results: list[FeedbackResult]


class CertificateResponse(Struct):
    """Proof that floors are infeasible, in plays per round."""

    arms: list[str]
    promised: float
    possible: float

    @classmethod
    def of(cls, certificate: Certificate) -> CertificateResponse:
        """Return a certificate as JSON."""
        return cls(list(certificate.arms), certificate.promised, certificate.possible)


class ProblemDetails(Struct, omit_defaults=True, kw_only=True):
    """An error, as RFC 9457 defines it."""

    type: str
    title: str
    status: int
    detail: str
    field: str = ""
    rule: str = ""
    value: Any = UNSET
    certificate: CertificateResponse | None = None
    floor_headroom: float | None = None
    results: list[FeedbackResult] = []


class Health(Struct):
    """Whether the server is alive, or ready to decide."""

    status: str
