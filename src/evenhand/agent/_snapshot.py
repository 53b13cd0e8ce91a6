"""An agent as versioned JSON text, exact to the last bit."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from evenhand._base.checks import brief, check_names, check_number, check_whole, fail
from evenhand.agent._ledger import Entry, Ledger
from evenhand.errors import InputError, SnapshotError
from evenhand.policies import Policy, State, Terms, make_policy, registered_policies
from evenhand.policies._policy import plain
from evenhand.policies._state import new_state
from evenhand.problem import Problem

FORMAT = "evenhand agent"
PROMISES = ("joined", "since", "promised")
VERSION = 3


class Pieces(NamedTuple):
    """All that an agent is made of."""

    problem: Problem
    policy: Policy
    horizon: int | None
    terms: Terms
    state: State
    memory: tuple[Any, ...]
    ledger: Ledger
    rng: np.random.Generator


def write(pieces: Pieces) -> str:
    """Return the pieces as JSON; floats are written so that they come back exactly."""
    problem, policy, ledger = pieces.problem, pieces.policy, pieces.ledger
    if registered_policies().get(policy.name) is not type(policy):
        fail("policy of an agent to snapshot", "a registered one", policy.name)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "problem": {
            "arms": list(problem.arms),
            "plays": problem.plays,
            "weights": problem.weights.tolist(),
            "floors": problem.floors.tolist(),
        },
        "policy": {"name": policy.name, "parameters": plain(policy.parameters())},
        "horizon": pieces.horizon,
        "promises": {name: getattr(pieces.terms, name).tolist() for name in PROMISES},
        "state": _lists(pieces.state),
        "remembered": _lists(pieces.memory),
        "memory": ledger.memory,
        "latest": ledger.latest,
        "decisions": [
            [decision_id, list(entry.chosen), entry.told]
            for decision_id, entry in ledger.entries.items()
        ],
        "random": pieces.rng.bit_generator.state,
    }
    try:
        return json.dumps(document, allow_nan=False)
    except ValueError:
        fail("what an agent remembers", "made of finite numbers to be written", "others")


def read(text: str) -> Pieces:
    """Return the pieces that :func:`write` wrote.

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
    if document.get("version") != VERSION:
        raise SnapshotError(
            f"snapshot must be of version {VERSION}, got {brief(document.get('version'))}"
        )
    try:
        return _pieces(document)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise SnapshotError(f"snapshot must be undamaged, got {what}") from None


def _pieces(document: dict[str, Any]) -> Pieces:
    problem = Problem(**document["problem"])
    rng = np.random.default_rng()
    rng.bit_generator.state = document["random"]
    policy = make_policy(document["policy"]["name"], **document["policy"]["parameters"])
    arms = len(problem.arms)
    terms, memory = problem.terms, policy.new_memory(arms)
    promises = {name: getattr(terms, name) for name in PROMISES}
    state = State(**_arrays(document["state"], new_state(arms)._asdict()))
    if np.any(state.reward_sums > state.feedbacks):
        raise ValueError("reward_sums exceed feedbacks")
    return Pieces(
        problem,
        policy,
        document["horizon"],
        terms._replace(**_arrays(document["promises"], promises)),
        state,
        _remembered(document["remembered"], memory),
        _ledger(document, int(state.rounds[0])),
        rng,
    )


def _ledger(document: dict[str, Any], rounds: int) -> Ledger:
    """Return the ledger; its decisions are numbered up to the last round."""
    ledger = Ledger(check_whole("memory", document["memory"], least=1))
    ledger.latest = check_whole("latest", document["latest"], least=0)
    if ledger.latest != rounds:
        raise ValueError(f"the latest decision is {ledger.latest} after {rounds} rounds")
    for decision_id, chosen, told in document["decisions"]:
        if check_whole("decision", decision_id, least=1) > rounds:
            raise ValueError(f"decision {decision_id} after {rounds} rounds")
        picked = check_names("chosen arms", chosen)
        if not isinstance(told, dict) or not set(told) <= set(picked):
            raise ValueError(f"rewards of decision {decision_id} are not by arms that it chose")
        rewards = {arm: check_number(f"reward of arm {arm!r}", told[arm]) for arm in told}
        ledger.entries[decision_id] = Entry(picked, rewards)
    return ledger


def _lists(arrays: Any) -> dict[str, Any]:
    """Return the arrays of a NamedTuple as lists; numbers beside them are no memory."""
    found = arrays._asdict().items()
    return {name: array.tolist() for name, array in found if isinstance(array, np.ndarray)}


def _remembered(lists: dict[str, Any], blank: Any) -> tuple[Any, ...]:
    """Return what the policy remembered, in the shape of its memory before the first round."""
    wanted = {name: blank._asdict()[name] for name in _lists(blank)}
    memory: tuple[Any, ...] = blank._replace(**_arrays(lists, wanted, lowest=-np.inf))
    return memory


def _arrays(lists: dict[str, Any], blank: dict[str, Any], *, lowest: float = 0.0) -> dict[str, Any]:
    """Return lists as arrays of the type and shape of those that a new agent has."""
    filled = {name: np.array(lists[name], dtype=array.dtype) for name, array in blank.items()}
    for name, array in filled.items():
        if array.shape != blank[name].shape:
            raise ValueError(f"{name} has {array.size} entries instead of {blank[name].size}")
        if array.tolist() != lists[name] or not np.all((array >= lowest) & np.isfinite(array)):
            raise ValueError(f"{name} must be of its kind, finite and at least {lowest:g}")
    return filled
