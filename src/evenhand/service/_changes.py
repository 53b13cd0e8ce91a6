"""Bandits come and go, their rules and arms change: each change begins another edition."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from evenhand.core.arrays import Floats
from evenhand.core.checks import NAME_RULE, fail, is_name
from evenhand.learner.learner import Learner
from evenhand.service._bandit import Bandit
from evenhand.service._bodies import DOTS, MOST_ARMS, ArmShown, BanditBody, FeedbackRule
from evenhand.service._commands import Alter, AlterArm, Create, Delete, Join, Retire
from evenhand.service._counters import no_counters, packed
from evenhand.service._edition import Edition
from evenhand.service._events import Change
from evenhand.service._refusals import conflict, not_found
from evenhand.service._work import Answer, Work
from evenhand.service.stores.protocol import Transaction


def create(transaction: Transaction, works: dict[str, Work], command: Create, now: float) -> Answer:
    """Let there be a bandit; the same body again is no mistake."""
    name, edition = command.bandit, command.edition
    bandit = Bandit(0, edition, False)
    counters = packed(no_counters(len(bandit.arms)))
    original = msgspec.json.encode(command.body)
    key = transaction.create(name, original, edition.to_bytes(), counters)
    if key is None:
        return _existing(transaction, works, command)
    bandit.key, bandit.version = key, 1
    works[name] = Work(transaction, bandit, (), now)
    works[name].note("edition", "", Change(1, "created", list(bandit.arms)))
    return Answer(201, edition.shown(name))


def _existing(transaction: Transaction, works: dict[str, Work], command: Create) -> Answer:
    """Answer with the bandit that is there already, if it was created from the same body."""
    name = command.bandit
    head = transaction.find(name)
    if head is None:
        raise conflict(f"bandit {name!r} is being deleted")
    original = msgspec.json.decode(transaction.original(head.key), type=BanditBody)
    if original != command.body:
        raise conflict(f"bandit {name!r} was created from another body")
    if name in works:
        edition = works[name].bandit.edition
    else:
        edition = Edition.from_bytes(transaction.edition(head.key, head.edition))
    return Answer(200, edition.shown(name))


def delete(work: Work, command: Delete) -> Answer:
    """Let a bandit be gone."""
    work.transaction.delete(work.bandit.key)
    return Answer(204)


def alter(work: Work, command: Alter) -> Answer:
    """Change plays or how long feedback is awaited."""
    bandit, body = work.bandit, command.body
    plays = bandit.problem.plays if body.plays is UNSET else body.plays
    rule = bandit.edition.feedback if body.feedback is UNSET else body.feedback or FeedbackRule()
    if (plays, rule) != (bandit.problem.plays, bandit.edition.feedback):
        work.change("rules", (), lambda learner: learner.set_plays(plays), feedback=rule)
    return Answer(200, work.bandit.edition.shown(command.bandit))


def join(work: Work, command: Join) -> Answer:
    """Let an arm take part; the same again is no mistake."""
    bandit, arm, body = work.bandit, command.arm, command.body
    if arm in bandit.arms:
        there = _arm(work, arm)
        if (there.floor, there.weight, there.availability) != (
            body.floor,
            body.weight,
            body.availability,
        ):
            raise conflict(f"arm {arm!r} takes part already, with other values: PATCH changes them")
        return Answer(200, there)
    if not is_name(arm) or len(arm) > 200 or arm in DOTS:
        fail("arm", f"{NAME_RULE}, at most 200, but not '.' or '..'", arm)
    if len(bandit.arms) >= MOST_ARMS:
        fail("arms", f"at most {MOST_ARMS}", f"{MOST_ARMS + 1}")
    work.change(
        "joined",
        [arm],
        lambda learner: learner.join(arm, body.floor, body.weight),
        availability={arm: body.availability},
    )
    return Answer(201, work.bandit.edition.shown("").arms[-1])


def alter_arm(work: Work, command: AlterArm) -> Answer:
    """Change an arm's floor, weight or availability, pause or resume it."""
    arm, body = command.arm, command.body
    before = _arm(work, arm)
    after = msgspec.structs.replace(
        before,
        **{
            name: value
            for name in body.__struct_fields__
            if (value := getattr(body, name)) is not UNSET
        },
    )
    if after == before:
        return Answer(200, before)

    def change(learner: Learner) -> Floats | None:
        if (after.floor, after.weight) != (before.floor, before.weight):
            learner.change(arm, after.floor, after.weight)
        if after.paused == before.paused:
            return None
        if not after.paused:
            return learner.resume(arm)
        learner.pause(arm)
        return None

    work.change("changed", [arm], change, availability={arm: after.availability})
    return Answer(200, _arm(work, arm))


def retire(work: Work, command: Retire) -> Answer:
    """Let an arm leave."""
    _arm(work, command.arm)
    if len(work.bandit.arms) == 1:
        raise conflict(f"arm {command.arm!r} is the last one: a bandit has at least one")
    work.change("retired", [command.arm], lambda learner: learner.retire(command.arm))
    return Answer(204)


def _arm(work: Work, arm: str) -> ArmShown:
    """Return an arm as it is now, or complain."""
    for shown in work.bandit.edition.shown("").arms:
        if shown.name == arm:
            return shown
    raise not_found("arm", arm)
