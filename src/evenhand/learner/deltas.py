"""What an agent has seen since it last said so: sums that other agents may add to theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.checks import fail
from evenhand.core.round import begin_epoch
from evenhand.core.state import FADING, SUMS, State, copied

ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Deltas:
    """Decisions and feedback of one agent as sums, arm by arm.

    Attributes
    ----------
    arms
        The arms, in the order of the numbers.
    half_life, epoch
        How the policy forgets, and from when weights count.
    rounds, cancelled, played, awake_counts, feedbacks, reward_sums
        What is to be added; less than nothing where decisions were cancelled.
    """

    arms: tuple[str, ...]
    half_life: float
    epoch: int
    rounds: int
    cancelled: int
    played: Integers
    awake_counts: Floats
    feedbacks: Floats
    reward_sums: Floats


def difference(arms: tuple[str, ...], half_life: float, now: State, base: State) -> Deltas:
    """Return what has come to a state since its base."""
    # Counted from the present, no weight is large, also for whom it is still to come.
    present = int((now.rounds[0] + now.cancelled[0]) / half_life)
    now, then = copied(now), copied(base)
    for state in (now, then):
        begin_epoch(state, present)
    sums = {name: getattr(now, name) - getattr(then, name) for name in SUMS}
    clock = (int(now.rounds[0] - then.rounds[0]), int(now.cancelled[0] - then.cancelled[0]))
    return Deltas(arms, half_life, int(now.epoch[0]), *clock, **sums)


def check_deltas(deltas: object, arms: tuple[str, ...], half_life: float) -> Deltas:
    """Return deltas that may be added to the sums of these arms, or complain."""
    if not isinstance(deltas, Deltas):
        fail("deltas", "what deltas() returned", deltas)
    if set(deltas.arms) != set(arms) or len(deltas.arms) != len(arms):
        other = ", ".join(sorted(map(str, set(deltas.arms) ^ set(arms))))
        fail("deltas", f"of the arms {', '.join(arms)}", f"those of others: {other}")
    for name in SUMS:
        column = np.asarray(getattr(deltas, name))
        if column.shape != (len(arms),) or column.dtype.kind not in "if":
            fail(f"{name} of deltas", f"one number for each of {len(arms)} arms", column.shape)
        if not np.isfinite(column).all():
            fail(f"{name} of deltas", "made of finite numbers", column.tolist())
    if deltas.half_life != half_life:
        fail("half_life of deltas", f"the agent's, {half_life:g}", deltas.half_life)
    return deltas


def added(
    waiting: list[Deltas], states: tuple[State, State], arms: tuple[str, ...]
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
    totals = [trial.rounds, *(getattr(trial, name) for name in SUMS)]
    return all(bool(np.all(total >= -ROUNDING)) for total in totals)


def add(state: State, deltas: Deltas, arms: tuple[str, ...]) -> None:
    """Add deltas to a state's sums; debts are not among them.

    Deltas that waited while arms came or went have nothing for those, and more than is wanted.
    """
    if deltas.epoch > state.epoch[0]:
        begin_epoch(state, deltas.epoch)
    scale = math.ldexp(1.0, deltas.epoch - int(state.epoch[0]))
    place = {arm: i for i, arm in enumerate(deltas.arms)}
    order = np.array([place.get(arm, len(place)) for arm in arms])
    state.rounds[0] += deltas.rounds
    state.cancelled[0] += deltas.cancelled
    for name in SUMS:
        some: Any = np.append(getattr(deltas, name), 0)[order]
        getattr(state, name)[:] += some * scale if name in FADING else some
