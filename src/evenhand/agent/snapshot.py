"""An agent as versioned JSON text, exact to the last bit."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from evenhand.agent.ledger import Entry, Ledger
from evenhand.errors import InputError, SnapshotError
from evenhand.policies import Policy, State, make_policy, new_state, plain
from evenhand.problem import Problem

FORMAT = "evenhand agent"
VERSION = 1


class Pieces(NamedTuple):
    """All that an agent is made of."""

    problem: Problem
    policy: Policy
    horizon: int | None
    state: State
    joined: dict[str, int]
    ledger: Ledger
    rng: np.random.Generator


def write(pieces: Pieces) -> str:
    """Return the pieces as JSON; floats are written so that they come back exactly."""
    problem, policy, ledger = pieces.problem, pieces.policy, pieces.ledger
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
        "joined": pieces.joined,
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
    except (TypeError, ValueError) as error:
        raise SnapshotError(f"snapshot must be JSON, got {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SnapshotError(f"snapshot must have the format {FORMAT!r}")
    if document.get("version") != VERSION:
        raise SnapshotError(
            f"snapshot must be of version {VERSION}, got {document.get('version')!r}"
        )
    try:
        return _pieces(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise SnapshotError(f"snapshot must be undamaged, got {what}") from None


def _pieces(document: dict[str, Any]) -> Pieces:
    problem = Problem(**document["problem"])
    rng = np.random.default_rng()
    rng.bit_generator.state = document["random"]
    ledger = Ledger(int(document["memory"]))
    ledger.latest = int(document["latest"])
    ledger.entries = {
        decision_id: Entry(tuple(chosen), dict(told))
        for decision_id, chosen, told in document["decisions"]
    }
    return Pieces(
        problem,
        make_policy(document["policy"]["name"], **document["policy"]["parameters"]),
        document["horizon"],
        _state(document["state"], len(problem.arms)),
        {arm: int(document["joined"][arm]) for arm in problem.arms},
        ledger,
        rng,
    )


def _state(arrays: dict[str, list[float]], arms: int) -> State:
    """Return the state with every array in its type and shape."""
    blank = new_state(arms)._asdict()
    filled = {name: np.array(arrays[name], dtype=array.dtype) for name, array in blank.items()}
    for name, array in filled.items():
        if array.shape != blank[name].shape:
            raise ValueError(f"{name} has {array.size} entries for {arms} arms")
    return State(**filled)
