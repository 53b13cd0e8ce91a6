"""What requests and answers are made of: the grammar of the API, and of its OpenAPI document."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from evenhand.errors import Certificate
from evenhand.learner.decision import Reason
from evenhand.learner.feedback import Outcome

BANDIT_PATTERN = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
BANDIT_NAME = re.compile(BANDIT_PATTERN)
# A step of an address that means another one: no name that stands in an address can be it.
DOTS = (".", "..")
BANDIT_RULE = "letters, digits, '.', '_' and '-', at most 100, a letter or digit first"
MOST_ARMS = 10_000
MOST_ITEMS = 1_000

Fraction: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]
Weight: TypeAlias = Annotated[float, Meta(ge=0.0, le=1e100)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0.0, le=1e9)]
Plays: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000)]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
Standing: TypeAlias = Literal["kept", "behind", "impossible", "free", "paused"]
Range: TypeAlias = Literal["hour", "day", "all"]
DecisionState: TypeAlias = Literal["awaiting", "told", "expired", "cancelled"]
Words: TypeAlias = dict[str, float | str | bool | None]


class Body(Struct, forbid_unknown_fields=True):
    """What a request carries: a misspelt field is refused, not ignored."""


class ArmValues(Body):
    """A new arm, named by its address."""

    floor: Fraction = 0.0
    weight: Weight = 1.0
    availability: Fraction | None = None


class Arm(Body):
    """One arm: its name, floor, weight and, if it is known, how often it is awake."""

    name: Name
    floor: Fraction = 0.0
    weight: Weight = 1.0
    availability: Fraction | None = None


class ArmChange(Body):
    """What shall be different about an arm from now on."""

    floor: Fraction | UnsetType = UNSET
    weight: Weight | UnsetType = UNSET
    availability: Fraction | UnsetType | None = UNSET
    paused: bool | UnsetType = UNSET


class FeedbackRule(Body):
    """How long feedback is awaited, and what counts if none comes; None: for ever, nothing."""

    timeout_seconds: Seconds | None = None
    default_reward: Fraction | None = None


class BanditBody(Body):
    """A bandit as it is created."""

    arms: Annotated[list[Arm], Meta(min_length=1, max_length=MOST_ARMS)]
    plays: Plays
    policy: Words | None = None
    feedback: FeedbackRule | None = None


class BanditChange(Body):
    """What shall be different about a bandit from now on."""

    plays: Plays | UnsetType = UNSET
    feedback: FeedbackRule | UnsetType | None = UNSET


class Question(Body):
    """What a decision is asked for with."""

    awake: Annotated[list[Name], Meta(max_length=MOST_ARMS)] | None = None
    id: Name | None = None


class FeedbackItem(Body):
    """Rewards of some or all arms of one decision."""

    decision: Name
    rewards: Annotated[dict[str, Fraction], Meta(min_length=1, max_length=MOST_ARMS)]


class FeedbackBatch(Body):
    """Feedback on many decisions; a bad item does not spoil the others."""

    items: Annotated[list[FeedbackItem], Meta(max_length=MOST_ITEMS)]


class FeedbackGiven(Body):
    """Feedback in either form, not looked into yet."""

    decision: Raw | UnsetType = UNSET
    rewards: Raw | UnsetType = UNSET
    items: Annotated[list[Raw], Meta(max_length=MOST_ITEMS)] | UnsetType = UNSET


class ArmShown(Struct):
    """An arm as it is now."""

    name: str
    floor: float
    weight: float
    availability: float | None
    paused: bool


class BanditShown(Struct):
    """A bandit as it is now."""

    name: str
    arms: list[ArmShown]
    plays: int
    policy: Words
    feedback: FeedbackRule


class BanditList(Struct):
    """The names of all bandits."""

    bandits: list[str]


class DecisionMade(Struct, omit_defaults=True):
    """The arms to play."""

    id: str
    chosen: list[str]
    round: int
    reasons: list[Reason] | UnsetType | None = UNSET


class DecisionShown(Struct):
    """A decision and what became of it; ``at`` in seconds since 1970."""

    id: str
    round: int
    at: float
    chosen: list[str]
    awake: list[str]
    told: dict[str, float]
    state: DecisionState
    reasons: list[Reason] | None


class FeedbackResult(Struct, omit_defaults=True):
    """What became of one item of feedback, arm by arm if there was something to learn."""

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
    """What became of feedback, in the order of its items."""

    results: list[FeedbackResult]


class CertificateShown(Struct):
    """Proof that floors cannot be kept, in plays a round."""

    arms: list[str]
    promised: float
    possible: float

    @classmethod
    def of(cls, proof: Certificate) -> CertificateShown:
        """Return a proof as it is shown."""
        return cls(list(proof.arms), proof.promised, proof.possible)


class Warned(Struct, omit_defaults=True):
    """Something that somebody should look at."""

    kind: Literal["floors-infeasible", "feedback-missing"]
    detail: str
    certificate: CertificateShown | None = None


class ArmState(Struct):
    """How one arm fares: rates are shares of the rounds since it joined.

    ``debt`` and ``ahead`` are plays, of which one is 0. An arm is ``behind`` if it is owed more
    than three plays, ``impossible`` if it is one of those whose floors cannot all be kept, and
    ``free`` if it has no floor.
    """

    name: str
    played: int
    rate: float
    floor: float
    weight: float
    debt: float
    ahead: float
    shortfall: float
    estimate: float
    low: float
    high: float
    price: float | None
    awake_rate: float
    feedbacks: float
    pending: int
    paused: bool
    standing: Standing


class BanditState(Struct):
    """How a bandit fares, at a time in seconds since 1970.

    ``rounds`` are the ``decisions`` that were not cancelled; ``told`` and ``expired`` are plays,
    and ``reward`` is what was told, weighed. A headroom of None stands for no floors at all.
    """

    name: str
    at: float
    rounds: int
    decisions: int
    told: int
    expired: int
    reward: float
    plays: int
    policy: str
    arms: list[ArmState]
    headroom: float | None
    warnings: list[Warned]


class ProblemShown(Struct, omit_defaults=True, kw_only=True):
    """An error, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
    field: str = ""
    rule: str = ""
    value: Any = UNSET
    certificate: CertificateShown | None = None
    floor_headroom: float | None = None
    results: list[FeedbackResult] = []


class Health(Struct):
    """Whether the server lives, or can decide."""

    status: str


class BanditGlance(Struct):
    """A bandit at a glance: how many floors it has, and how many of them are kept."""

    name: str
    rounds: int
    arms: int
    floors: int
    kept: int
    behind: int
    impossible: int
    largest_debt: float
    pending: int
    warnings: list[Warned]


class Glances(Struct):
    """All bandits at a glance."""

    bandits: list[BanditGlance]


class ArmHistory(Struct):
    """An arm's rates and debts, one of each for each time; None where it took no part."""

    name: str
    rates: list[float | None]
    debts: list[float | None]


class HistoryShown(Struct):
    """How a bandit stood at some times, in seconds since 1970; not complete if without its arms."""

    name: str
    range: Range
    complete: bool
    times: list[float]
    decisions: list[int]
    told: list[int]
    expired: list[int]
    pending: list[int]
    reward: list[float]
    arms: list[ArmHistory]


class DecisionListed(Struct):
    """A decision in a list."""

    id: str
    round: int
    at: float
    chosen: list[str]
    awake: int
    told: dict[str, float]
    state: DecisionState


class DecisionList(Struct):
    """The newest decisions, the newest first."""

    decisions: list[DecisionListed]


class Supposed(Body):
    """Floors that might be others: those that are not named stay as they are."""

    floors: Annotated[dict[str, Fraction], Meta(max_length=MOST_ARMS)] = field(default_factory=dict)


class ArmWhatIf(Struct):
    """What an arm would have in the optimum: its rate, and what a unit of its floor would cost."""

    name: str
    floor: float
    mean: float
    awake_rate: float
    rate: float
    price: float


class WhatIf(Struct):
    """The optimum under the estimates and awake rates measured, if arms wake independently.

    ``reward`` a round is that with the floors supposed, ``reward_now`` that with the present ones;
    None where floors cannot be kept, of which the certificate is the proof, in words ``detail``.
    """

    feasible: bool
    reward: float | None
    reward_now: float | None
    reward_without_floors: float
    arms: list[ArmWhatIf]
    certificate: CertificateShown | None
    detail: str
