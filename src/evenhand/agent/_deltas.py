"""What an agent has seen since it last said so: sums that other agents may add to theirs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.checks import fail
from evenhand.core.round import begin_epoch
from evenhand.core.schema import carried, copied, fields_of, names_of
from evenhand.core.state import State
from evenhand.learner.arm_table import kept_arms

ROUNDING = 1e-6
SUMS = names_of(State, adds_up=True)


@dataclass(frozen=True, eq=False)
class Deltas:
    """Decisions and feedback of one agent as sums.

    Attributes
    ----------
    arms
        The arms, in the order of the numbers.
    half_life, epoch
        How the policy forgets, and from when weights count.
    sums
        What is to be added, by name: whatever of a state adds up. Less than nothing where decisions
        were cancelled.
    """

    arms: tuple[str, ...]
    half_life: float
    epoch: int
    sums: Mapping[str, NDArray[Any]]


def difference(arms: tuple[str, ...], half_life: float, now: State, base: State) -> Deltas:
    """Return what has come to a state since its base."""
    # Counted from the present, no weight is large, also for whom it is still to come.
    present = int((now.rounds[0] + now.cancelled[0]) / half_life)
    now, then = copied(now), copied(base)
    for state in (now, then):
        begin_epoch(state, present)
    sums = {name: getattr(now, name) - getattr(then, name) for name in SUMS}
    return Deltas(arms, half_life, int(now.epoch[0]), sums)


def check_deltas(deltas: object, arms: tuple[str, ...], half_life: float) -> Deltas:
    """Return deltas that fit the sums of these arms, or raise InputError."""
    if not isinstance(deltas, Deltas):
        fail("deltas", "what deltas() returned", deltas)
    if set(deltas.arms) != set(arms) or len(deltas.arms) != len(arms):
        other = ", ".join(sorted(map(str, set(deltas.arms) ^ set(arms))))
        fail("deltas", f"of the arms {', '.join(arms)}", f"those of others: {other}")
    if set(deltas.sums) != set(SUMS):
        fail("sums of deltas", f"those of {', '.join(SUMS)}", ", ".join(sorted(deltas.sums)))
    for field in fields_of(State):
        if field.column.adds_up:
            column, size = np.asarray(deltas.sums[field.name]), field.size(len(arms))
            if column.shape != (size,) or column.dtype.kind not in "if":
                fail(f"{field.name} of deltas", f"{size} numbers", column.shape)
            if not np.isfinite(column).all():
                fail(f"{field.name} of deltas", "made of finite numbers", column.tolist())
    if deltas.half_life != half_life:
        fail("half_life of deltas", f"the agent's, {half_life:g}", deltas.half_life)
    return deltas


def added(
    waiting: Sequence[Deltas], states: tuple[State, State], arms: tuple[str, ...]
) -> list[Deltas]:
    """Add as many deltas to states as there is something to take back from; return the others."""
    left = list(waiting)
    while True:
        fitting = next((deltas for deltas in left if _fits(states[0], deltas, arms)), None)
        if fitting is None:
            return left
        left = [deltas for deltas in left if deltas is not fitting]
        for state in states:
            add(state, fitting, arms)


def _fits(state: State, deltas: Deltas, arms: tuple[str, ...]) -> bool:
    """Say whether no total would be less than nothing."""
    trial = copied(state)
    add(trial, deltas, arms)
    totals = (getattr(trial, name) for name in SUMS if name != "cancelled")
    return all(bool(np.all(total >= -ROUNDING)) for total in totals)


def add(state: State, deltas: Deltas, arms: tuple[str, ...]) -> None:
    """Add deltas to a state's sums; debts are not among them.

    Deltas that waited while arms came or went have nothing for those, and more than is wanted.
    """
    if deltas.epoch > state.epoch[0]:
        begin_epoch(state, deltas.epoch)
    scale = math.ldexp(1.0, deltas.epoch - int(state.epoch[0]))
    theirs = state._replace(**deltas.sums, epoch=state.epoch, debts=np.zeros(len(deltas.arms)))
    mine = carried(theirs, kept_arms(deltas.arms, arms))
    for field in fields_of(State):
        if field.column.adds_up:
            some = getattr(mine, field.name)
            getattr(state, field.name)[:] += some * scale if field.column.fades else some
