"""Commands about bandits and arms; each change of a bandit makes another configuration."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from evenhand.core.arrays import Floats
from evenhand.core.checks import NAME_RULE, fail, is_name
from evenhand.learner.learner import Learner
from evenhand.service.engine.bandit import Bandit
from evenhand.service.engine.commands import (
    ChangeArm,
    ChangeBandit,
    CreateBandit,
    DeleteBandit,
    JoinArm,
    RetireArm,
)
from evenhand.service.engine.config_version import ConfigVersion
from evenhand.service.engine.counters import no_counters, packed
from evenhand.service.engine.digests import digest_of
from evenhand.service.engine.events import ConfigEvent
from evenhand.service.engine.unit_of_work import CommandResult, UnitOfWork, handles
from evenhand.service.problems import conflict, not_found
from evenhand.service.schemas import (
    DOTS,
    LONGEST_NAME,
    MOST_ARMS,
    ArmResponse,
    BanditBody,
    FeedbackRule,
)
from evenhand.service.stores.protocol import Transaction


def create(
    transaction: Transaction, units: dict[str, UnitOfWork], command: CreateBandit, now: float
) -> CommandResult:
    """Create a bandit; the same body again changes nothing."""
    name, config = command.bandit, command.config
    bandit = Bandit(0, config, "interpreted")
    counters = packed(no_counters(len(bandit.arms)))
    original = msgspec.json.encode(command.body)
    key = transaction.create(name, original, config.to_bytes(), counters)
    if key is None:
        return _existing(transaction, units, command)
    bandit.key, bandit.version = key, 1
    unit = units[name] = UnitOfWork(transaction, bandit, (), now)
    origin = digest_of(name.encode(), original)
    event = ConfigEvent(1, "created", list(bandit.arms), digest=config.digest(), origin=origin)
    unit.add_event("edition", "", event)
    return CommandResult(201, config.response(name))


def _existing(
    transaction: Transaction, units: dict[str, UnitOfWork], command: CreateBandit
) -> CommandResult:
    """Return the bandit of this name, if it was created from the same body."""
    name = command.bandit
    head = transaction.find(name)
    if head is None:
        raise conflict(f"bandit {name!r} is being deleted")
    original = msgspec.json.decode(transaction.original(head.key), type=BanditBody)
    if original != command.body:
        raise conflict(f"bandit {name!r} was created from another body")
    if name in units:
        config = units[name].bandit.config
    else:
        config = ConfigVersion.from_bytes(transaction.config(head.key, head.config_version))
    return CommandResult(200, config.response(name))


@handles(DeleteBandit)
def delete(unit: UnitOfWork, command: DeleteBandit) -> CommandResult:
    """Delete a bandit."""
    unit.transaction.delete(unit.bandit.key)
    return CommandResult(204)


@handles(ChangeBandit)
def change_bandit(unit: UnitOfWork, command: ChangeBandit) -> CommandResult:
    """Change how many arms are played, or the timeout of feedback."""
    bandit, body = unit.bandit, command.body
    plays = bandit.problem.plays if body.plays is UNSET else body.plays
    rule = bandit.config.feedback if body.feedback is UNSET else body.feedback or FeedbackRule()
    if (plays, rule) != (bandit.problem.plays, bandit.config.feedback):
        unit.change("rules", (), lambda learner: learner.set_plays(plays), feedback=rule)
    return CommandResult(200, unit.bandit.config.response(command.bandit))


@handles(JoinArm)
def join(unit: UnitOfWork, command: JoinArm) -> CommandResult:
    """Add an arm; the same arm again changes nothing."""
    bandit, arm, body = unit.bandit, command.arm, command.body
    if arm in bandit.arms:
        present = _arm(unit, arm)
        if (present.floor, present.weight, present.availability) != (
            body.floor,
            body.weight,
            body.availability,
        ):
            raise conflict(f"arm {arm!r} takes part already, with other values: PATCH changes them")
        return CommandResult(200, present)
    if not is_name(arm) or len(arm) > LONGEST_NAME or arm in DOTS:
        fail("arm", f"{NAME_RULE}, at most {LONGEST_NAME}, but not '.' or '..'", arm)
    if len(bandit.arms) >= MOST_ARMS:
        fail("arms", f"at most {MOST_ARMS}", f"{MOST_ARMS + 1}")
    unit.change(
        "joined",
        [arm],
        lambda learner: learner.join(arm, body.floor, body.weight),
        availability={arm: body.availability},
    )
    return CommandResult(201, unit.bandit.config.arms()[-1])


@handles(ChangeArm)
def change_arm(unit: UnitOfWork, command: ChangeArm) -> CommandResult:
    """Change an arm's floor, weight or availability; pause or resume it."""
    arm, body = command.arm, command.body
    before = _arm(unit, arm)
    given = {name: getattr(body, name) for name in body.__struct_fields__}
    after = msgspec.structs.replace(
        before, **{name: value for name, value in given.items() if value is not UNSET}
    )
    if after == before:
        return CommandResult(200, before)

    def change(learner: Learner) -> Floats | None:
        if (after.floor, after.weight) != (before.floor, before.weight):
            learner.change(arm, after.floor, after.weight)
        if after.paused == before.paused:
            return None
        if not after.paused:
            return learner.resume(arm)
        learner.pause(arm)
        return None

    unit.change("changed", [arm], change, availability={arm: after.availability})
    return CommandResult(200, _arm(unit, arm))


@handles(RetireArm)
def retire(unit: UnitOfWork, command: RetireArm) -> CommandResult:
    """Remove an arm; the last one has to stay."""
    _arm(unit, command.arm)
    if len(unit.bandit.arms) == 1:
        raise conflict(f"arm {command.arm!r} is the last one: a bandit has at least one")
    unit.change("retired", [command.arm], lambda learner: learner.retire(command.arm))
    return CommandResult(204)


def _arm(unit: UnitOfWork, name: str) -> ArmResponse:
    """Return an arm as it is now, or raise that there is none of this name."""
    for arm in unit.bandit.config.arms():
        if arm.name == name:
            return arm
    raise not_found("arm", name)
