"""A bandit that has seen a bit of everything, and whether its rows are undamaged."""

from __future__ import annotations

import numpy as np

from evenhand.service.engine.commands import (
    CancelDecision,
    ChangeArm,
    Decide,
    ExpireOverdue,
    StoreReasons,
    Tell,
)
from evenhand.service.engine.executor import CommandExecutor
from evenhand.service.schemas import ArmBody, ArmChange, BanditBody, FeedbackItem, FeedbackRule
from evenhand.service.upkeep.verification import verify
from tests.service.bandits import create

BODY = BanditBody(
    [ArmBody("a", floor=0.3), ArmBody("b", floor=0.1), ArmBody("c")],
    2,
    feedback=FeedbackRule(50.0),
)


def lived(store, clock):
    """Give a store a bandit that has seen a bit of everything."""
    executor, rng = CommandExecutor(store, now=clock), np.random.default_rng(5)
    executor.execute([create("shelf", BODY), create("other", BODY)])
    for number in range(60):
        clock.now += 1.0
        id_, awake = f"d-{number}", ["a", "b", "c"] if number % 3 else None
        [answer] = executor.execute([Decide("shelf", id_, awake, False)])
        rewards = {arm: float(rng.random()) for arm in answer.body.chosen}
        if number % 4:
            executor.execute([Tell("shelf", [FeedbackItem(id_, rewards)])])
        elif number % 8 == 0:
            executor.execute([CancelDecision("shelf", id_)])
        if number == 20:
            executor.execute([ChangeArm("shelf", "a", ArmChange(floor=0.2))])
        if number == 22:
            executor.execute([StoreReasons("shelf", id_, [])])
        if number == 55:
            executor.execute([ExpireOverdue("shelf", 0, 0.0)])
    return executor


def is_damaged(store):
    """Say whether something is found, by the recount or among the orphans."""
    with store.view() as view:
        return damage_in(view)


def damage_in(view):
    """Say whether something is found in a view, or in a transaction that goes on."""
    if view.orphans():
        return True
    try:
        return any(verify(view, name)[1] for name in view.names())
    except Exception:
        return True
