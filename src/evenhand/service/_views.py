"""What those who watch are shown, and what they may suppose."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct, field

from evenhand.service._bodies import (
    MOST_ARMS,
    Body,
    CertificateShown,
    DecisionState,
    Fraction,
    Warned,
)

Range: TypeAlias = Literal["hour", "day", "all"]


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
