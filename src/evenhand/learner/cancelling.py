"""A decision that was never shown: clock, plays, awake counts and debts as if never made."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.fading import round_weight
from evenhand.core.round import StepOptions, tightened
from evenhand.core.state import State, cumulative_debts
from evenhand.learner.arm_table import ArmTable, without_round
from evenhand.learner.awake import unpacked
from evenhand.learner.decision import DecisionRecord


def cancel_decision(
    record: DecisionRecord,
    later: Iterable[DecisionRecord],
    table: ArmTable,
    state: State,
    options: StepOptions,
) -> ArmTable:
    """Take a decision out of the state, in place; return the table with its clock set back.

    ``later`` are the decisions made since, as far as they are known. Debts with a finite surplus
    need them: without, what this round did to each debt is taken back, which differs by less than
    a play where a debt has reached its lowest since.
    """
    lowest = 0.0 - options.surplus
    corrections: Floats | None = None
    if options.surplus < math.inf:
        corrections = _corrections(record, later, table, options.tightening, lowest)
    weight = round_weight(record.time, int(state.epoch[0]), options.half_life)
    awake = _present(record.table, unpacked(record.awake, record.table), table, record.number)
    chosen = _present(record.table, record.indices, table, record.number)
    if record.time < state.rounds[0] + state.cancelled[0]:
        state.cancelled[0] += 1
    state.rounds[0] -= 1
    state.awake_counts[awake] = np.maximum(state.awake_counts[awake] - weight, 0.0)
    state.played[chosen] -= 1
    changed = without_round(table, record.table, record.number, chosen)
    if corrections is None:
        state.debts[:] = cumulative_debts(state, changed.arrays)
    else:
        state.debts[:] = np.maximum(state.debts + corrections, lowest)
    return changed


def _present(then: ArmTable, indices: Integers, now: ArmTable, number: int) -> Integers:
    """Return where arms of an earlier table are now; those that have left are left out."""
    if then is now:
        return indices
    found = [now.position.get(arm, -1) for arm in then.names(indices.tolist())]
    return np.array(
        [index for index in found if index >= 0 and now.clock.born[index] < number], dtype=np.int64
    )


def _corrections(
    record: DecisionRecord,
    later: Iterable[DecisionRecord],
    table: ArmTable,
    tightening: float,
    lowest: float,
) -> Floats:
    """Return by how much every debt would be another without a decision.

    Without it a debt would have been less by the floor, or more by what the play took off; from
    then on both grow alike, until a later play takes one of them to the lowest debt. What was owed
    before each play is in the records, and is corrected there, too.
    """
    then = record.table
    assert record.before is not None
    promised = then.arrays.floors * tightened(tightening, record.round)
    gaps = dict(zip(then.problem.arms, (-promised).tolist(), strict=True))
    for index, debt in zip(record.indices.tolist(), record.before.tolist(), strict=True):
        arm, floor = then.problem.arms[index], float(promised[index])
        gaps[arm] = debt - max(debt + floor - 1.0, lowest)
    for other in later:
        if other.before is None:
            continue
        grown = tightened(tightening, other.round)
        for j, index in enumerate(other.indices.tolist()):
            arm, floor = other.chosen[j], float(other.table.arrays.floors[index]) * grown
            if arm in gaps and other.table.clock.born[index] < record.number:
                debt = float(other.before[j])
                other.before[j] = max(debt + gaps[arm], lowest)
                after = max(debt + floor - 1.0, lowest)
                gaps[arm] = max(float(other.before[j]) + floor - 1.0, lowest) - after
    there = table.clock.born < record.number
    return np.array(
        [
            gaps.get(arm, 0.0) if here else 0.0
            for arm, here in zip(table.problem.arms, there, strict=True)
        ]
    )
