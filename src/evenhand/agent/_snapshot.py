"""An agent as versioned JSON text, exact to the last bit; the version before is still read."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.checks import brief, check_whole, fail
from evenhand.core.state import SUMS, copied, new_state
from evenhand.errors import InputError, SnapshotError
from evenhand.learner.arm_table import Roster, first_roster, make_roster
from evenhand.learner.columns import (
    filled,
    ledger_columns,
    ledger_from,
    older_entry,
    roster_columns,
    roster_from,
)
from evenhand.learner.decision_log import Ledger
from evenhand.learner.deltas import ROUNDING, Deltas, check_deltas
from evenhand.policies import Policy, State, make_policy, registered_policies
from evenhand.policies.policy import plain
from evenhand.problem import Problem

FORMAT = "evenhand agent"
VERSION = 4
OLDER = 3


class Pieces(NamedTuple):
    """All that an agent is made of."""

    policy: Policy
    horizon: int | None
    roster: Roster
    state: State
    base: State
    memory: tuple[Any, ...]
    early: list[Deltas]
    ledger: Ledger
    rng: np.random.Generator


def write(pieces: Pieces) -> str:
    """Return the pieces as JSON; floats are written so that they come back exactly."""
    policy = pieces.policy
    if registered_policies().get(policy.name) is not type(policy):
        fail("policy of an agent to snapshot", "a registered one", policy.name)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "policy": {"name": policy.name, "parameters": plain(policy.parameters())},
        "horizon": pieces.horizon,
        "roster": roster_columns(pieces.roster),
        "state": _lists(pieces.state),
        "exchanged": _lists(pieces.base),
        "remembered": _lists(pieces.memory),
        "early": [_plain(deltas) for deltas in pieces.early],
        "ledger": ledger_columns(pieces.ledger, pieces.roster),
        "random": pieces.rng.bit_generator.state,
    }
    try:
        return json.dumps(document, allow_nan=False)
    except ValueError:
        fail("what an agent remembers", "made of finite numbers to be written", "others")


def read(text: str) -> Pieces:
    """Return the pieces that :func:`write` wrote, in this version or the one before.

    Raises
    ------
    SnapshotError
        If the text is not a snapshot, is of another version, or is damaged.
    """
    try:
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise SnapshotError(f"snapshot must be JSON, got {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SnapshotError(f"snapshot must have the format {FORMAT!r}")
    if document.get("version") not in (VERSION, OLDER):
        raise SnapshotError(
            f"snapshot must be of version {OLDER} or {VERSION}, "
            f"got {brief(document.get('version'))}"
        )
    try:
        with uncollected():
            return _pieces(document)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise SnapshotError(f"snapshot must be undamaged, got {what}") from None


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector away: of many new objects that all live on it finds none to free.

    It would look at all of them over and over, which takes longer than to make them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _pieces(document: dict[str, Any]) -> Pieces:
    rng = np.random.default_rng()
    rng.bit_generator.state = document["random"]
    policy = make_policy(document["policy"]["name"], **document["policy"]["parameters"])
    older = document["version"] == OLDER
    roster = _older_roster(document) if older else roster_from(document["roster"])
    arms = len(roster.problem.arms)
    lists = {"epoch": [0], "cancelled": [0], **document["state"]}
    state = State(**filled(lists, new_state(arms)._asdict(), lowest=-ROUNDING))
    if np.any(state.reward_sums > np.maximum(state.feedbacks, 0.0) + ROUNDING):
        raise ValueError("reward_sums exceed feedbacks")
    if older:
        base, ledger = copied(new_state(arms)), _older_ledger(document, int(state.rounds[0]))
    else:
        base = State(**filled(document["exchanged"], new_state(arms)._asdict(), lowest=-np.inf))
        ledger = ledger_from(document["ledger"], roster)
    memory = _remembered(document["remembered"], policy.new_memory(arms))
    early = [_deltas(line) for line in document.get("early", [])]
    return Pieces(policy, document["horizon"], roster, state, base, memory, early, ledger, rng)


def _plain(deltas: Deltas) -> dict[str, Any]:
    arrays = {name: getattr(deltas, name).tolist() for name in SUMS}
    return {**asdict(deltas), "half_life": str(deltas.half_life), **arrays}


def _deltas(line: dict[str, Any]) -> Deltas:
    arrays = {name: np.array(line[name]) for name in SUMS}
    known = {**line, "arms": tuple(line["arms"]), "half_life": float(line["half_life"]), **arrays}
    return check_deltas(Deltas(**known), known["arms"], known["half_life"])


def _older_roster(document: dict[str, Any]) -> Roster:
    """Return the roster of a snapshot in which rounds and decisions were counted alike."""
    problem = Problem(**document["problem"])
    names = ("joined", "since", "promised")
    blank = dict.fromkeys(names, np.zeros(len(problem.arms)))
    promises = filled(document["promises"], blank)
    born, bound = (promises[name].astype(np.int64) for name in names[:2])
    marks = first_roster(problem).marks._replace(born=born, bound=bound)
    return make_roster(problem, problem.terms._replace(**promises), marks)


def _older_ledger(document: dict[str, Any], rounds: int) -> Ledger:
    """Return the ledger of a snapshot that knew names and rewards of decisions only."""
    ledger = Ledger(check_whole("memory", document["memory"], least=1))
    ledger.latest = check_whole("latest", document["latest"], least=0)
    if ledger.latest != rounds:
        raise ValueError(f"the latest decision is {ledger.latest} after {rounds} rounds")
    for key, chosen, told in document["decisions"]:
        decision_id, entry = older_entry(rounds, key, "", chosen, told)
        ledger.entries[decision_id] = entry
    return ledger


def _lists(arrays: Any) -> dict[str, Any]:
    """Return the arrays of a NamedTuple as lists; numbers beside them are no memory."""
    found = arrays._asdict().items()
    return {name: array.tolist() for name, array in found if isinstance(array, np.ndarray)}


def _remembered(lists: dict[str, Any], blank: Any) -> tuple[Any, ...]:
    """Return what the policy remembered, in the shape of its memory before the first round."""
    wanted = {name: blank._asdict()[name] for name in _lists(blank)}
    memory: tuple[Any, ...] = blank._replace(**filled(lists, wanted, lowest=-np.inf))
    return memory
