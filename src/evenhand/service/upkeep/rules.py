"""What the server could have written: rules for the events of a log, one at a time.

They find what no sum shows: feedback told twice, arms that were not awake, ids that are no names.
Each raises ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple, NoReturn

from evenhand.core.checks import brief, is_name
from evenhand.core.round import StepOptions
from evenhand.learner.arm_table import ArmTable
from evenhand.learner.awake import unpacked
from evenhand.learner.feedback import END_WORDS
from evenhand.service.engine.digests import SIZE
from evenhand.service.engine.events import (
    ConfigEvent,
    DecisionEvent,
    DecisionHistory,
    ExpiryEvent,
    FeedbackEvent,
)
from evenhand.service.schemas import DOTS, LONGEST_NAME
from evenhand.service.stores.protocol import Event

# A time in seconds since 1970; later ones are not times.
LATEST = 1e11


class Clocks(NamedTuple):
    """The numbers that the next decision must have."""

    number: int
    round: int
    time: int
    config_version: int


def check_event(event: Event, following: int) -> None:
    """Raise if the number, the time or the decision of an event is wrong."""
    if event.seq != following:
        raise ValueError(f"event {following} is missing: the next one is {event.seq}")
    if not 0.0 <= event.at < LATEST:
        _wrong(event, f"its time must be in [0, {LATEST:g}), got {event.at}")
    named = is_name(event.decision) and len(event.decision) <= LONGEST_NAME
    if event.kind == "edition":
        if event.decision:
            _wrong(event, f"it must name no decision, got {brief(event.decision)}")
    elif not named or event.decision in DOTS:
        _wrong(event, f"its decision must be a name, got {brief(event.decision)}")


def check_change(event: Event, change: ConfigEvent) -> None:
    """Raise if an event about a configuration cannot have been written."""
    words = (change.change, *change.arms)
    if not all(is_name(word) and len(word) <= LONGEST_NAME for word in words):
        _wrong(event, f"what has changed must be named, got {brief(words)}")
    for digest in (change.digest, change.origin):
        if len(digest) not in (0, 2 * SIZE):
            _wrong(event, f"a digest must have {2 * SIZE} digits, got {brief(digest)}")


def check_decision(
    event: Event, made: DecisionEvent, due: Clocks, table: ArmTable, adds_up: bool
) -> None:
    """Raise if a decision cannot have been made: wrong numbers, or arms that were not awake."""
    found = Clocks(made.number, made.round, made.time, made.config_version)
    if found != due:
        _wrong(event, f"it must be {due}, got {found}")
    arms = len(table.problem.arms)
    if made.awake is not None and len(made.awake) != (arms + 7) // 8:
        _wrong(event, f"the awake arms of {arms} must be {(arms + 7) // 8} bytes")
    awake = set(unpacked(made.awake, table).tolist())
    chosen = set(made.chosen)
    if len(chosen) != len(made.chosen) or not chosen <= awake:
        _wrong(event, f"its arms must be awake, and different: got {brief(made.chosen)}")
    if len(chosen) > table.problem.plays:
        _wrong(event, f"it must have at most {table.problem.plays} arms, got {len(chosen)}")
    before = made.before or []
    if (made.before is None) != adds_up or len(before) != (0 if adds_up else len(made.chosen)):
        _wrong(event, "the debts before it must be those of its arms")
    if not all(math.isfinite(debt) for debt in before):
        _wrong(event, f"the debts before it must be finite, got {brief(before)}")


def check_open(event: Event, history: DecisionHistory) -> None:
    """Raise if a decision has ended before an event on it."""
    if history.end:
        _wrong(event, f"decision {brief(history.id)}: {END_WORDS[history.end]}")


def check_feedback(
    event: Event,
    told: FeedbackEvent,
    history: DecisionHistory,
    chosen: Collection[str],
    options: StepOptions,
) -> None:
    """Raise if feedback cannot have been learned: told before, other arms, or wrong rewards."""
    for arm, reward in told.rewards.items():
        if arm not in chosen or arm in history.told:
            _wrong(event, f"feedback on arm {brief(arm)} was not awaited")
        if not 0.0 <= reward <= 1.0:
            _wrong(event, f"a reward must be in [0, 1], got {reward}")
    if {*told.counted, *told.ignored} != {*told.rewards} or {*told.counted} & {*told.ignored}:
        _wrong(event, "every reward must be either counted or ignored")
    for arm, counted in told.counted.items():
        allowed = (0.0, 1.0) if options.binarised else (told.rewards[arm],)
        if counted not in allowed:
            _wrong(event, f"the reward of arm {brief(arm)} cannot be counted as {counted}")


def check_expiry(
    event: Event, expired: ExpiryEvent, told: Mapping[str, float], chosen: Collection[str]
) -> None:
    """Raise if other arms expired than those without feedback."""
    unheard = [arm for arm in chosen if arm not in told]
    if sorted(expired.arms) != sorted(unheard):
        _wrong(event, f"the arms without feedback are {brief(unheard)}, got {brief(expired.arms)}")
    if expired.told is not None and {*expired.told.rewards} != {*unheard}:
        _wrong(event, "the default reward must be that of the arms without feedback")


def check_cancelled(event: Event, history: DecisionHistory) -> None:
    """Raise if a decision was cancelled after feedback on it."""
    if history.told:
        _wrong(event, f"decision {brief(history.id)}: {END_WORDS['']}")


def _wrong(event: Event, words: str) -> NoReturn:
    raise ValueError(f"event {event.seq} ({event.kind}): {words}")
