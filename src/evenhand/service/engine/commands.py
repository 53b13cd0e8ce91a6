"""Commands: what a request, or a background task, asks of a bandit."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from evenhand.core.checks import is_name
from evenhand.learner.decision import Reason
from evenhand.service.engine.config_version import ConfigVersion
from evenhand.service.schemas import (
    ArmChange,
    ArmValues,
    BanditBody,
    BanditChange,
    FeedbackItem,
    FeedbackResult,
)


class CreateBandit(Struct):
    """Create a bandit, from its body and the configuration made from it."""

    bandit: str
    body: BanditBody
    config: ConfigVersion


class DeleteBandit(Struct):
    """Delete a bandit and its log."""

    bandit: str


class ChangeBandit(Struct):
    """Change how many arms are played, or the timeout of feedback."""

    bandit: str
    body: BanditChange


class JoinArm(Struct):
    """Add an arm."""

    bandit: str
    arm: str
    body: ArmValues


class ChangeArm(Struct):
    """Change an arm's floor, weight or availability; pause or resume it."""

    bandit: str
    arm: str
    body: ArmChange


class RetireArm(Struct):
    """Remove an arm."""

    bandit: str
    arm: str


class Decide(Struct):
    """Choose the arms to play; the same id always gets the same decision."""

    bandit: str
    id: str | None
    awake: list[str] | None
    explain: bool


class StoreReasons(Struct):
    """Store the reasons of a decision."""

    bandit: str
    decision: str
    reasons: list[Reason]


class Tell(Struct):
    """Learn from feedback; an invalid item is replaced by its result."""

    bandit: str
    items: list[FeedbackItem | FeedbackResult]


class CancelDecision(Struct):
    """Cancel a decision that was never shown."""

    bandit: str
    decision: str


class ExpireOverdue(Struct):
    """Stop waiting for feedback on overdue decisions."""

    bandit: str


class RecordHistory(Struct):
    """Add a point to the history; ``thin`` drops some of the older ones."""

    bandit: str
    thin: bool


Command: TypeAlias = (
    CreateBandit
    | DeleteBandit
    | ChangeBandit
    | JoinArm
    | ChangeArm
    | RetireArm
    | Decide
    | StoreReasons
    | Tell
    | CancelDecision
    | ExpireOverdue
    | RecordHistory
)


def decisions_of(command: Command) -> list[str]:
    """Return the ids of the decisions that a command names.

    >>> decisions_of(CancelDecision("shelf", "d-1"))
    ['d-1']
    """
    match command:
        case Decide(id=str(named)):
            return [named]
        case StoreReasons(decision=named) | CancelDecision(decision=named):
            return [named]
        case Tell(items=items):
            given = (item.decision for item in items if isinstance(item, FeedbackItem))
            return [decision for decision in given if is_name(decision)]
    return []
