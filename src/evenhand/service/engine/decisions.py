"""Commands about decisions: decide, store reasons, cancel."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from itertools import count

import numpy as np

from evenhand.core.checks import brief
from evenhand.errors import InputError
from evenhand.learner.awake import mask_of_names
from evenhand.learner.feedback import END_WORDS
from evenhand.service.engine.commands import CancelDecision, Command, Decide, StoreReasons, Tell
from evenhand.service.engine.events import (
    CancelEvent,
    DecisionEvent,
    DecisionHistory,
    ReasonsEvent,
)
from evenhand.service.engine.unit_of_work import CommandResult, UnitOfWork, handles
from evenhand.service.problems import COMPACTED, compacted, conflict, not_found
from evenhand.service.schemas import DecisionResponse

# Random for each process, so that two servers never make the same id.
PROCESS = secrets.token_hex(8)
_numbers = count()


def certain_decisions(unit: UnitOfWork, batch: Sequence[Command]) -> int:
    """Return how many new decisions with all arms awake a batch is certain to need.

    0 if a command in it may change the arms or cancel a decision.
    """
    plain = [
        command.id
        for command in batch
        if isinstance(command, Decide) and command.awake is None and not command.explain
    ]
    if not all(isinstance(command, Decide | Tell | StoreReasons) for command in batch):
        return 0
    new = {id_ for id_ in plain if id_ is not None and unit.history(id_) is None}
    others = {c.id for c in batch if isinstance(c, Decide) and (c.awake is not None or c.explain)}
    return plain.count(None) + len(new - others)


@handles(Decide)
def decide(unit: UnitOfWork, command: Decide) -> CommandResult:
    """Decide, or return the decision that was made under this id."""
    decision = command.id
    if decision is None:
        # Ordered by time, so that the store appends to its index.
        decision = f"{int(unit.now * 1000):011x}-{PROCESS}{next(_numbers):x}"
    elif (history := unit.history(decision)) is not None:
        return _repeated(unit, history, command)
    made, basis = unit.decide(decision, command.awake, command.explain)
    unit.add_event("decision", decision, made)
    body = DecisionResponse(decision, made.names(unit.bandit.arms), made.round)
    return CommandResult(201, body, basis if command.explain else None)


def _repeated(unit: UnitOfWork, history: DecisionHistory, command: Decide) -> CommandResult:
    """Return an earlier decision, if the request is the same as then."""
    made, named = history.made, brief(history.id)
    if made is None:
        raise compacted(history.id)
    if history.end == "cancelled":
        raise conflict(f"decision {named} was cancelled: ask with another id")
    table = unit.table(made.config_version)
    try:
        mask = None if command.awake is None else mask_of_names(table, command.awake)
    except InputError:
        same = False
    else:
        same = made.awake == (None if mask is None else np.packbits(mask).tobytes())
    if not same:
        raise conflict(f"decision {named} was asked for with other awake arms")
    response = DecisionResponse(history.id, made.names(table.problem.arms), made.round)
    if command.explain:
        response.reasons = history.reasons
    return CommandResult(200, response)


@handles(StoreReasons)
def store_reasons(unit: UnitOfWork, command: StoreReasons) -> CommandResult:
    """Store the reasons of a decision, unless it was deleted or compacted meanwhile."""
    history = unit.history(command.decision)
    if history is not None and history.made is not None:
        unit.add_event("reasons", command.decision, ReasonsEvent(command.reasons))
    return CommandResult(200)


@handles(CancelDecision)
def cancel(unit: UnitOfWork, command: CancelDecision) -> CommandResult:
    """Cancel a decision without feedback; cancelling it again changes nothing."""
    history = unit.history(command.decision)
    if history is None:
        raise not_found("decision", command.decision)
    if history.end == "cancelled":
        return CommandResult(204)
    made = _cancellable(history)
    clocks_changed = unit.bandit.cancel(unit.record(made))
    unit.add_event("cancelled", command.decision, CancelEvent())
    if clocks_changed:
        # Arms' clocks are part of the configuration.
        unit.change("clocks", (), lambda learner: None, check=False)
    return CommandResult(204)


def _cancellable(history: DecisionHistory) -> DecisionEvent:
    """Return a decision that can be cancelled, or raise why not."""
    why = COMPACTED if history.made is None else END_WORDS[history.end]
    if history.made is None or history.end or history.told:
        raise conflict(f"decision {brief(history.id)} cannot be cancelled: {why}")
    return history.made
