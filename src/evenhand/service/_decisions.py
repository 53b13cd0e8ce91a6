"""Decisions: made once for an id, taken back if never shown."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from itertools import count

import numpy as np

from evenhand.core.checks import brief
from evenhand.errors import InputError
from evenhand.learner.awake import mask_of_names
from evenhand.learner.feedback import END_WORDS
from evenhand.service._bodies import DecisionMade
from evenhand.service._commands import Ask, Cancel, Command, Note, Tell
from evenhand.service._events import Cancelled, Explained, History, Made
from evenhand.service._refusals import FOLDED, conflict, folded, not_found
from evenhand.service._work import Answer, Work

# Of this process and no other: two servers never make the same id.
PROCESS = secrets.token_hex(8)
_numbers = count()


def asked_ahead(work: Work, batch: Sequence[Command]) -> int:
    """Return how many decisions a batch surely asks for with all arms awake.

    0 if anything in it may change the arms or take a decision back.
    """
    plain = [
        command.id
        for command in batch
        if isinstance(command, Ask) and command.awake is None and not command.explain
    ]
    if not all(isinstance(command, Ask | Tell | Note) for command in batch):
        return 0
    named = {id_ for id_ in plain if id_ is not None and work.history(id_) is None}
    others = {c.id for c in batch if isinstance(c, Ask) and (c.awake is not None or c.explain)}
    return plain.count(None) + len(named - others)


def ask(work: Work, command: Ask) -> Answer:
    """Decide, or find what was decided under this id."""
    decision = command.id
    if decision is None:
        # By time, so that the store's index grows at its end.
        decision = f"{int(work.now * 1000):011x}-{PROCESS}{next(_numbers):x}"
    elif (history := work.history(decision)) is not None:
        return _again(work, history, command)
    made, source = work.decide(decision, command.awake, command.explain)
    work.note("decision", decision, made)
    body = DecisionMade(decision, made.names(work.bandit.arms), made.round)
    return Answer(201, body, source if command.explain else None)


def _again(work: Work, history: History, command: Ask) -> Answer:
    """Answer with the decision that was made before, if it was asked for in the same way."""
    made, named = history.made, brief(history.id)
    if made is None:
        raise folded(history.id)
    if history.end == "cancelled":
        raise conflict(f"decision {named} was cancelled: ask with another id")
    table = work.table(made.edition)
    try:
        mask = None if command.awake is None else mask_of_names(table, command.awake)
    except InputError:
        same = False
    else:
        same = made.awake == (None if mask is None else np.packbits(mask).tobytes())
    if not same:
        raise conflict(f"decision {named} was asked for with other awake arms")
    answer = DecisionMade(history.id, made.names(table.problem.arms), made.round)
    if command.explain:
        answer.reasons = history.reasons
    return Answer(200, answer)


def note(work: Work, command: Note) -> Answer:
    """Keep the reasons of a decision; it may have been deleted meanwhile."""
    if work.history(command.decision) is not None:
        work.note("reasons", command.decision, Explained(command.reasons))
    return Answer(200)


def cancel(work: Work, command: Cancel) -> Answer:
    """Take back a decision of which nothing has been heard; once more is no mistake."""
    history = work.history(command.decision)
    if history is None:
        raise not_found("decision", command.decision)
    if history.end == "cancelled":
        return Answer(204)
    made = _unheard(history)
    set_back = work.bandit.cancel(work.record(made))
    work.note("cancelled", command.decision, Cancelled())
    if set_back:
        work.adopt_clocks()
    return Answer(204)


def _unheard(history: History) -> Made:
    """Return a decision of which nothing has been heard, or complain."""
    why = FOLDED if history.made is None else END_WORDS[history.end]
    if history.made is None or history.end or history.told:
        raise conflict(f"decision {brief(history.id)} cannot be cancelled: {why}")
    return history.made
