"""The JSON of what readers see: state, history, decisions and what-if."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from evenhand.learner.decision import Reason
from evenhand.service.schemas import CertificateResponse, DecisionState

Standing: TypeAlias = Literal["kept", "behind", "impossible", "free", "paused"]
Range: TypeAlias = Literal["hour", "day", "all"]


class DecisionDetails(Struct):
    """A decision and its feedback; ``at`` in seconds since 1970."""

    id: str
    round: int
    at: float
    chosen: list[str]
    awake: list[str]
    told: dict[str, float]
    state: DecisionState
    reasons: list[Reason] | None


class DecisionSummary(Struct):
    """A decision in a list."""

    id: str
    round: int
    at: float
    chosen: list[str]
    awake: int
    told: dict[str, float]
    state: DecisionState


class DecisionList(Struct):
    """The newest decisions, newest first."""

    decisions: list[DecisionSummary]


class BanditWarning(Struct, omit_defaults=True):
    """A condition that needs attention."""

    kind: Literal["floors-infeasible", "feedback-missing", "unreadable"]
    detail: str
    certificate: CertificateResponse | None = None


class ArmState(Struct):
    """The state of an arm; rates are fractions of the rounds since it joined.

    ``debt`` and ``ahead`` are plays; one of them is 0. An arm is ``behind`` if its debt is more
    than three plays, ``impossible`` if it is one of those whose floors are infeasible together, and
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
    """The state of a bandit, at a time in seconds since 1970.

    ``rounds`` are the ``decisions`` that were not cancelled; ``told`` and ``expired`` are plays,
    and ``reward`` is the weighted sum of learned rewards. A headroom of None: there are no floors.
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
    warnings: list[BanditWarning]


class BanditSummary(Struct):
    """A bandit in the overview: how many floors it has, and how many are kept."""

    name: str
    rounds: int
    arms: int
    floors: int
    kept: int
    behind: int
    impossible: int
    largest_debt: float
    pending: int
    warnings: list[BanditWarning]


class BanditSummaries(Struct):
    """The overview of all bandits."""

    bandits: list[BanditSummary]


class ArmHistory(Struct):
    """An arm's rates and debts, one of each for each time; None where it took no part."""

    name: str
    rates: list[float | None]
    debts: list[float | None]


class HistoryResponse(Struct):
    """The history of a bandit, times in seconds since 1970; not complete if it lacks arms."""

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


class ArmWhatIf(Struct):
    """An arm in the optimum: its rate, and the price of its floor."""

    name: str
    floor: float
    mean: float
    awake_rate: float
    rate: float
    price: float


class WhatIf(Struct):
    """The optimum under the estimates and measured awake rates, if arms wake independently.

    ``reward`` per round is that with the floors to try, ``reward_now`` that with the present ones;
    None where floors are infeasible, with the certificate, and in words ``detail``.
    """

    feasible: bool
    reward: float | None
    reward_now: float | None
    reward_without_floors: float
    arms: list[ArmWhatIf]
    certificate: CertificateResponse | None
    detail: str
