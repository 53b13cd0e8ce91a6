"""What an agent has seen since it last said so: sums that other agents may add to theirs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.beliefs.regression import Regression, follow_epoch
from evenhand.core.checks import fail
from evenhand.core.promises import PromiseState
from evenhand.core.round import begin_epoch
from evenhand.core.schema import Field, carried, copied, fields_of, names_of
from evenhand.core.state import NoPromises, State
from evenhand.learner.arm_table import kept_arms
from evenhand.learner.promises import RowKey, positions

ROUNDING = 1e-6


class Sums(NamedTuple):
    """What adds up over decisions and feedback: the state, a belief's statistics, and promises.

    ``promises`` are those beyond floors, and ``keys`` tell their sides apart.
    """

    state: State
    belief: Any
    promises: Any = NoPromises()
    keys: tuple[RowKey, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays that add up."""
        return tuple(field.name for field in self.fields())

    def array(self, name: str) -> NDArray[Any]:
        """Return an array by name."""
        part = next(part for part in self[:3] if name in type(part)._fields)
        found: NDArray[Any] = getattr(part, name)
        return found

    def fields(self) -> Iterator[Field]:
        """Yield the declarations of the arrays that add up."""
        for part in self[:3]:
            for field in fields_of(type(part)):
                if field.column.adds_up:
                    yield field

    def begin_epoch(self, epoch: int) -> None:
        """Count weights from another epoch."""
        begin_epoch(self.state, epoch)
        if isinstance(self.belief, Regression):
            follow_epoch(self.belief, epoch)

    def know_priors(self, now: Sums, before: Sequence[str], arms: Sequence[str]) -> None:
        """Take over what an agent knows of new arms: their priors are no news to others."""
        fresh = kept_arms(before, arms) < 0
        for field in self.fields():
            if field.follows_arms and field.name not in ("played", "awake_counts"):
                self.array(field.name)[fresh] = now.array(field.name)[fresh]


def copied_sums(sums: Sums) -> Sums:
    """Return sums with arrays of their own."""
    return Sums(copied(sums.state), copied(sums.belief), copied(sums.promises), sums.keys)


def carried_sums(sums: Sums, before: Sequence[str], now: Sums, arms: Sequence[str]) -> Sums:
    """Return the sums for other arms, and for other promises beyond floors."""
    kept = kept_arms(before, arms)
    belief, promises = sums.belief, copied(now.promises)
    if isinstance(promises, PromiseState):
        for array in promises:
            array[:] = 0.0
        if isinstance(sums.promises, PromiseState):
            rows = positions(sums.keys, now.keys)
            for mine, theirs in zip(promises, sums.promises, strict=True):
                mine[rows >= 0] = theirs[rows[rows >= 0]]
    return Sums(
        carried(sums.state, kept),
        carried(belief, kept) if fields_of(type(belief)) else belief,
        promises,
        now.keys,
    )


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
        What is to be added, by name: whatever of a state, or of a belief, adds up. Less than
        nothing where decisions were cancelled.
    rows
        The sides of promises beyond floors, in the order of the numbers.
    """

    arms: tuple[str, ...]
    half_life: float
    epoch: int
    sums: Mapping[str, NDArray[Any]]
    rows: tuple[RowKey, ...] = ()


def difference(arms: tuple[str, ...], half_life: float, now: Sums, base: Sums) -> Deltas:
    """Return what has been added to sums since their base."""
    # Counted from the present, no weight is large, also for whom it is still to come.
    present = int((now.state.rounds[0] + now.state.cancelled[0]) / half_life)
    now, then = copied_sums(now), copied_sums(base)
    for sums in (now, then):
        sums.begin_epoch(present)
    found = {name: now.array(name) - then.array(name) for name in now.names}
    return Deltas(arms, half_life, int(now.state.epoch[0]), found, now.keys)


def check_deltas(deltas: object, arms: tuple[str, ...], half_life: float, mine: Sums) -> Deltas:
    """Return deltas that fit the sums of these arms, or raise InputError."""
    if not isinstance(deltas, Deltas):
        fail("deltas", "what deltas() returned", deltas)
    if set(deltas.arms) != set(arms) or len(deltas.arms) != len(arms):
        other = ", ".join(sorted(map(str, set(deltas.arms) ^ set(arms))))
        fail("deltas", f"of the arms {', '.join(arms)}", f"those of others: {other}")
    if set(deltas.rows) != set(mine.keys) or len(deltas.rows) != len(mine.keys):
        names = (
            ", ".join(dict.fromkeys(key[0] for key in keys)) for keys in (mine.keys, deltas.rows)
        )
        listed, given = (each or "none" for each in names)
        fail("deltas", f"of the promises {listed}", f"those of others: {given}")
    if set(deltas.sums) != set(mine.names):
        listed = ", ".join(mine.names)
        fail("sums of deltas", f"those of {listed}", ", ".join(sorted(deltas.sums)))
    for field in mine.fields():
        column, shape = np.asarray(deltas.sums[field.name]), mine.array(field.name).shape
        if column.shape != shape or column.dtype.kind not in "if":
            fail(f"{field.name} of deltas", f"of shape {shape}", column.shape)
        if not np.isfinite(column).all():
            fail(f"{field.name} of deltas", "made of finite numbers", column.tolist())
    if deltas.half_life != half_life:
        fail("half_life of deltas", f"the agent's, {half_life:g}", deltas.half_life)
    return deltas


def added(
    waiting: Sequence[Deltas], states: tuple[Sums, Sums], arms: tuple[str, ...]
) -> list[Deltas]:
    """Add as many deltas to sums as there is something to take back from; return the others."""
    left = list(waiting)
    while True:
        fitting = next((deltas for deltas in left if _fits(states[0], deltas, arms)), None)
        if fitting is None:
            return left
        left = [deltas for deltas in left if deltas is not fitting]
        for sums in states:
            add(sums, fitting, arms)


def _fits(sums: Sums, deltas: Deltas, arms: tuple[str, ...]) -> bool:
    """Say whether no total would be less than nothing."""
    trial = copied_sums(sums)
    add(trial, deltas, arms)
    totals = (
        getattr(trial.state, name) for name in names_of(State, adds_up=True) if name != "cancelled"
    )
    return all(bool(np.all(total >= -ROUNDING)) for total in totals)


def add(sums: Sums, deltas: Deltas, arms: tuple[str, ...]) -> None:
    """Add deltas to sums; debts are not among them.

    Deltas that waited while arms came or went have nothing for those, and more than is wanted.
    """
    if deltas.epoch > sums.state.epoch[0]:
        sums.begin_epoch(deltas.epoch)
    scale = math.ldexp(1.0, deltas.epoch - int(sums.state.epoch[0]))
    kept = kept_arms(deltas.arms, arms)
    there = kept >= 0
    rows = positions(deltas.rows, sums.keys)
    for field in sums.fields():
        if field.name not in deltas.sums:
            continue
        theirs, mine = np.asarray(deltas.sums[field.name]), sums.array(field.name)
        if field.column.fades:
            theirs = theirs * scale
        if field.column.axis == "promise":
            mine[rows >= 0] += theirs[rows[rows >= 0]]
        elif field.follows_arms:
            mine[there] += theirs[kept[there]]
        else:
            mine += theirs
