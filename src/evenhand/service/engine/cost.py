"""How long commands take, roughly: what is slow must not run in the event loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenhand.service.engine.bandit import Bandit
from evenhand.service.engine.commands import Command, CreateBandit, Decide, StoreReasons, Tell
from evenhand.service.schemas import FeedbackItem

# Measured, in seconds, on a slow core.
REWARD, CHANGE, ARM_CHANGED, READING = 10e-6, 500e-6, 50e-6, 0.1


def estimated_seconds(batch: Sequence[Command], bandits: Mapping[str, Bandit]) -> float:
    """Return about how long commands take; ``bandits`` are those that are in memory."""
    total = 0.0
    for command in batch:
        bandit = bandits.get(command.bandit)
        if bandit is not None and type(command) is Decide:
            # By far the most frequent: an attribute, and nothing computed.
            total += bandit.decision_seconds
        else:
            total += _seconds(command, bandit)
    return total


def _seconds(command: Command, bandit: Bandit | None) -> float:
    if isinstance(command, CreateBandit):
        return CHANGE + ARM_CHANGED * len(command.body.arms)
    if bandit is None:
        return READING
    if isinstance(command, Tell):
        told = (len(item.rewards) for item in command.items if isinstance(item, FeedbackItem))
        # Items may be about decisions of earlier configurations, which have to be read.
        older = min(len(command.items), bandit.config.number - 1)
        return REWARD * (len(command.items) + sum(told)) + older * ARM_CHANGED * bandit.size
    if isinstance(command, StoreReasons):
        return REWARD * len(command.reasons)
    return CHANGE + ARM_CHANGED * bandit.size
