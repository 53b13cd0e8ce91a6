"""What can be asked of a bandit: a request is a command, and the clerk carries it out."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from evenhand.core.checks import is_name
from evenhand.learner.decision import Reason
from evenhand.service._bodies import (
    ArmChange,
    ArmValues,
    BanditBody,
    BanditChange,
    FeedbackItem,
    FeedbackResult,
)
from evenhand.service._edition import Edition


class Create(Struct):
    """Let there be a bandit: what was asked for, and the edition that it amounts to."""

    bandit: str
    body: BanditBody
    edition: Edition


class Delete(Struct):
    """Let a bandit be gone, with all it knows."""

    bandit: str


class Alter(Struct):
    """Change the rules of a bandit."""

    bandit: str
    body: BanditChange


class Join(Struct):
    """Let an arm take part."""

    bandit: str
    arm: str
    body: ArmValues


class AlterArm(Struct):
    """Change an arm's floor, weight or availability, pause or resume it."""

    bandit: str
    arm: str
    body: ArmChange


class Retire(Struct):
    """Let an arm leave."""

    bandit: str
    arm: str


class Ask(Struct):
    """Decide which arms to play; the same id is the same decision."""

    bandit: str
    id: str | None
    awake: list[str] | None
    explain: bool


class Note(Struct):
    """Keep the reasons of a decision."""

    bandit: str
    decision: str
    reasons: list[Reason]


class Tell(Struct):
    """Learn from feedback; items that were found to be bad already have their results."""

    bandit: str
    items: list[FeedbackItem | FeedbackResult]


class Cancel(Struct):
    """Take back a decision that was never shown."""

    bandit: str
    decision: str


class ExpireOverdue(Struct):
    """Await no more feedback on decisions that are overdue."""

    bandit: str


class TakeSample(Struct):
    """Write down how a bandit stands; older samples are thinned out if that is wanted."""

    bandit: str
    thin: bool


Command: TypeAlias = (
    Create
    | Delete
    | Alter
    | Join
    | AlterArm
    | Retire
    | Ask
    | Note
    | Tell
    | Cancel
    | ExpireOverdue
    | TakeSample
)


def decisions_of(command: Command) -> list[str]:
    """Return the ids of the decisions that a command speaks of.

    >>> decisions_of(Cancel("shelf", "d-1"))
    ['d-1']
    """
    match command:
        case Ask(id=str(named)):
            return [named]
        case Note(decision=named) | Cancel(decision=named):
            return [named]
        case Tell(items=items):
            given = (item.decision for item in items if isinstance(item, FeedbackItem))
            return [decision for decision in given if is_name(decision)]
    return []
