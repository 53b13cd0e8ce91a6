"""An agent as versioned JSON text, exact to the last bit."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from evenhand.agent.ledger import Entry, Ledger
from evenhand.checks import brief, fail, names, number, whole
from evenhand.errors import InputError, SnapshotError
from evenhand.policies import REGISTRY, Policy, State, make_policy, new_state, plain
from evenhand.problem import Problem

FORMAT = "evenhand agent"
VERSION = 2


class Pieces(NamedTuple):
    """All that an agent is made of."""

    problem: Problem
    policy: Policy
    horizon: int | None
    state: State
    ledger: Ledger
    rng: np.random.Generator


def write(pieces: Pieces) -> str:
    """Return the pieces as JSON; floats are written so that they come back exactly."""
    problem, policy, ledger = pieces.problem, pieces.policy, pieces.ledger
    if REGISTRY.get(policy.name) is not type(policy):
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
        "state": {name: array.tolist() for name, array in pieces.state._asdict().items()},
        "memory": ledger.memory,
        "latest": ledger.latest,
        "decisions": [
            [decision_id, list(entry.chosen), entry.told]
            for decision_id, entry in ledger.entries.items()
        ],
        "random": pieces.rng.bit_generator.state,
    }
    return json.dumps(document, allow_nan=False)


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
    state = _state(document["state"], len(problem.arms))
    return Pieces(
        problem,
        make_policy(document["policy"]["name"], **document["policy"]["parameters"]),
        document["horizon"],
        state,
        _ledger(document, int(state.rounds[0])),
        rng,
    )


def _ledger(document: dict[str, Any], rounds: int) -> Ledger:
    """Return the ledger; its decisions are numbered up to the last round."""
    ledger = Ledger(whole("memory", document["memory"], least=1))
    ledger.latest = whole("latest", document["latest"], least=0)
    if ledger.latest != rounds:
        raise ValueError(f"the latest decision is {ledger.latest} after {rounds} rounds")
    for decision_id, chosen, told in document["decisions"]:
        if whole("decision", decision_id, least=1) > rounds:
            raise ValueError(f"decision {decision_id} after {rounds} rounds")
        picked = names("chosen arms", chosen)
        if not isinstance(told, dict) or not set(told) <= set(picked):
            raise ValueError(f"rewards of decision {decision_id} are not by arms that it chose")
        rewards = {arm: number(f"reward of arm {arm!r}", told[arm]) for arm in told}
        ledger.entries[decision_id] = Entry(picked, rewards)
    return ledger


def _state(arrays: dict[str, list[float]], arms: int) -> State:
    """Return the state with every array in its type and shape."""
    blank = new_state(arms)._asdict()
    filled = {name: np.array(arrays[name], dtype=array.dtype) for name, array in blank.items()}
    for name, array in filled.items():
        if array.shape != blank[name].shape:
            raise ValueError(f"{name} has {array.size} entries for {arms} arms")
        if array.tolist() != arrays[name] or not np.all((array >= 0) & np.isfinite(array)):
            raise ValueError(f"{name} must be of its kind, finite and not negative")
    if np.any(filled["reward_sums"] > filled["feedbacks"]):
        raise ValueError("reward_sums exceed feedbacks")
    return State(**filled)
