"""An agent as versioned JSON text, exact to the last bit."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from evenhand.agent._columns import log_columns, log_from
from evenhand.agent._decision_log import DecisionLog
from evenhand.agent._deltas import ROUNDING, Deltas, Sums, check_deltas
from evenhand.core.arrays import Random
from evenhand.core.checks import fail
from evenhand.core.forms import Form
from evenhand.core.promises import PromiseState
from evenhand.core.schema import carried, fields_of, from_lists, new, to_lists
from evenhand.core.state import NoPromises, State
from evenhand.errors import InputError, SnapshotError
from evenhand.learner.arm_table import ArmTable
from evenhand.learner.promises import Promises, keys_of, promise_columns, promises_from
from evenhand.learner.stored import table_columns, table_from
from evenhand.policies import Policy, make_policy, registered_policies

# Version 5 has neither contexts nor beliefs beside the state, version 6 no promises beyond floors.
FORM = Form(
    "evenhand agent",
    7,
    {
        5: lambda old: {**old, "belief": {}, "exchanged_belief": {}},
        6: lambda old: {**old, "promises": {}, "exchanged_promises": {}},
    },
)


class SnapshotParts(NamedTuple):
    """All that an agent is made of."""

    policy: Policy
    horizon: int | None
    table: ArmTable
    state: State
    base: Sums
    memory: Any
    belief: Any
    promises: Promises
    early: list[Deltas]
    log: DecisionLog
    rng: Random


def write(parts: SnapshotParts) -> str:
    """Return the parts as JSON; floats are written so that they come back exactly."""
    policy = parts.policy
    if registered_policies().get(policy.name) is not type(policy):
        fail("policy of an agent to snapshot", "a registered one", policy.name)
    document = FORM.write(
        {
            "policy": {"name": policy.name, "parameters": policy.described()},
            "horizon": parts.horizon,
            "table": table_columns(parts.table),
            "state": to_lists(parts.state),
            "exchanged": to_lists(parts.base.state),
            "memory": to_lists(parts.memory),
            "belief": to_lists(parts.belief),
            "exchanged_belief": to_lists(parts.base.belief),
            "promises": promise_columns(parts.promises),
            "exchanged_promises": to_lists(parts.base.promises),
            "early": [_plain(deltas) for deltas in parts.early],
            "log": log_columns(parts.log, parts.table),
            "random": parts.rng.bit_generator.state,
        }
    )
    try:
        return json.dumps(document, allow_nan=False)
    except ValueError:
        fail("what an agent remembers", "made of finite numbers to be written", "others")


def read(text: str) -> SnapshotParts:
    """Return the parts that :func:`write` wrote."""
    try:
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise SnapshotError(f"snapshot must be JSON, got {error}") from None
    try:
        document = FORM.read(document)
    except InputError as error:
        raise SnapshotError(f"snapshot cannot be read: {error}") from None
    try:
        with uncollected():
            return _parts_from(document)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise SnapshotError(f"snapshot must be undamaged, got {what}") from None


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the garbage collector off: of many new objects that all stay it finds none to free.

    It would look at all of them over and over, which takes longer than to make them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _parts_from(document: dict[str, Any]) -> SnapshotParts:
    rng = np.random.default_rng()
    rng.bit_generator.state = document["random"]
    policy = make_policy(document["policy"]["name"], **document["policy"]["parameters"])
    table = table_from(document["table"])
    arms = len(table.problem.arms)
    state = from_lists(State, document["state"], arms)
    for field in fields_of(State):
        if field.column.adds_up and np.any(getattr(state, field.name) < -ROUNDING):
            raise ValueError(f"{field.name} must be at least 0")
    if np.any(state.reward_sums > np.maximum(state.feedbacks, 0.0) + ROUNDING):
        raise ValueError("reward_sums exceed feedbacks")
    resolved, features = policy.resolved(table.problem), len(table.problem.features.columns)
    belief = resolved.known.start(arms, features)
    exchanged = belief
    if resolved.known.regresses:
        kind = resolved.known.statistics
        belief = from_lists(kind, document["belief"], arms, features)
        exchanged = from_lists(kind, document["exchanged_belief"], arms, features)
    rows = table.problem.rows
    keys = tuple(keys_of(rows))
    promises = promises_from(document["promises"], table, resolved.options.surplus)
    known: Any = NoPromises()
    if rows.size:
        known = from_lists(PromiseState, document["exchanged_promises"], arms, 1, rows.size)
    base = Sums(from_lists(State, document["exchanged"], arms), exchanged, known, keys)
    count = table.problem.rows.size
    memory = resolved.new_memory(arms, features, count)
    kind = resolved.memory_kind(count)
    if fields_of(kind):
        memory = from_lists(kind, document["memory"], arms, features, count)
    early = [_deltas(line, Sums(state, belief, known, keys)) for line in document["early"]]
    log = log_from(document["log"], table)
    given = table, state, base, memory, belief, promises, early, log, rng
    return SnapshotParts(policy, document["horizon"], *given)


def _plain(deltas: Deltas) -> dict[str, Any]:
    sums = {name: column.tolist() for name, column in deltas.sums.items()}
    half_life = str(deltas.half_life)
    about = {"arms": deltas.arms, "half_life": half_life, "epoch": deltas.epoch, "sums": sums}
    return {**about, "rows": deltas.rows} if deltas.rows else about


def _deltas(line: dict[str, Any], mine: Sums) -> Deltas:
    """Return deltas; of other arms, if these have changed since."""
    arms, half_life = tuple(line["arms"]), float(line["half_life"])
    sums = {name: np.array(column) for name, column in line["sums"].items()}
    rows = tuple((str(name), float(sign), bool(unit)) for name, sign, unit in line.get("rows", ()))
    state, belief = (_like(kind, len(arms)) for kind in mine[:2])
    known: Any = new(PromiseState, len(arms), promises=len(rows)) if rows else NoPromises()
    theirs = Sums(state, belief, known, rows)
    found = Deltas(arms, half_life, int(line["epoch"]), sums, rows)
    return check_deltas(found, arms, half_life, theirs)


def _like(kind: Any, arms: int) -> Any:
    """Return arrays as some are, of another number of arms."""
    return carried(kind, np.full(arms, -1)) if fields_of(type(kind)) else kind
