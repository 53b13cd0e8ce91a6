"""Commands: what a request, or a background task, asks of a bandit."""

from __future__ import annotations

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


class Command(Struct):
    """Something to do with the bandit of a name."""

    bandit: str


class CreateBandit(Command):
    """Create a bandit, from its body and the configuration made from it."""

    body: BanditBody
    config: ConfigVersion


class DeleteBandit(Command):
    """Delete a bandit and its log."""


class ChangeBandit(Command):
    """Change plays, or the timeout of feedback."""

    body: BanditChange


class JoinArm(Command):
    """Add an arm; nothing is owed to it for the time before."""

    arm: str
    body: ArmValues


class ChangeArm(Command):
    """Change an arm's floor, weight or availability; pause or resume it."""

    arm: str
    body: ArmChange


class RetireArm(Command):
    """Remove an arm; pending feedback on it will be ignored."""

    arm: str


class Decide(Command):
    """Choose the arms to play; the same id always gets the same decision."""

    id: str | None
    awake: list[str] | None
    explain: bool


class StoreReasons(Command):
    """Store the reasons of a decision."""

    decision: str
    reasons: list[Reason]


class Tell(Command):
    """Learn from feedback; an invalid item is replaced by its result."""

    items: list[FeedbackItem | FeedbackResult]


class CancelDecision(Command):
    """Cancel a decision that was never shown, as if it had not been made."""

    decision: str


class ExpireOverdue(Command):
    """Stop waiting for feedback on overdue decisions.

    The next event, number ``seq``, happened at ``seen`` at the latest, whatever its stamp says.
    """

    seq: int
    seen: float


class RecordHistory(Command):
    """Add a point to the history; ``thin`` drops some of the older ones."""

    thin: bool


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
