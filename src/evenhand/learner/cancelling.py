"""A decision that was never shown: clock, plays, awake counts and debts as if never made."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.fading import round_weight
from evenhand.core.round import Forms, tightened
from evenhand.core.state import State, cumulative_debts
from evenhand.learner.arm_table import Roster, without_round
from evenhand.learner.decision_log import Entry


def as_if_never_made(
    decision_id: int,
    entry: Entry,
    later: Iterable[Entry],
    roster: Roster,
    state: State,
    forms: Forms,
) -> Roster:
    """Take a decision out of the state, in place; return the roster with its clock set back."""
    assert entry.roster is not None
    corrections: Floats | None = None
    if forms.reflected:
        corrections = _reflected(entry, later, roster, decision_id, forms.tightening)
    weight = round_weight(entry.time, int(state.epoch[0]), forms.half_life)
    awake = _present(entry.roster, entry.awake_places(), roster, decision_id)
    chosen = _present(entry.roster, entry.places, roster, decision_id)
    if entry.time < state.rounds[0] + state.cancelled[0]:
        state.cancelled[0] += 1
    state.rounds[0] -= 1
    state.awake_counts[awake] = np.maximum(state.awake_counts[awake] - weight, 0.0)
    state.played[chosen] -= 1
    changed = without_round(roster, entry.roster, decision_id, chosen)
    if corrections is None:
        state.debts[:] = cumulative_debts(state, changed.terms)
    else:
        state.debts[:] = np.maximum(state.debts + corrections, 0.0)
    return changed


def _present(then: Roster, places: Integers, now: Roster, decision_id: int) -> Integers:
    """Return where arms of an earlier roster are now; those that have left are left out."""
    if then is now:
        return places
    arms = then.problem.arms
    found = [now.position.get(arms[place], -1) for place in places.tolist()]
    return np.array(
        [place for place in found if place >= 0 and now.marks.born[place] < decision_id],
        dtype=np.int64,
    )


def _reflected(
    entry: Entry, later: Iterable[Entry], roster: Roster, decision_id: int, tightening: float
) -> Floats:
    """Return by how much every debt that forgets a surplus would be another without a decision.

    Without it a debt would have been less by the floor, or more by ``1 - floor`` if the arm was
    played; from then on both grow alike, until a later play meets one of them at 0. What was owed
    before each play is in the ledger, and is corrected there, too.
    """
    then = entry.roster
    assert then is not None
    assert entry.before is not None
    promised = then.terms.floors * tightened(tightening, entry.round)
    gaps = dict(zip(then.problem.arms, (-promised).tolist(), strict=True))
    for place, owed in zip(entry.places.tolist(), entry.before.tolist(), strict=True):
        arm, floor = then.problem.arms[place], float(promised[place])
        gaps[arm] = owed - max(owed + floor - 1.0, 0.0)
    for other in later:
        if other.roster is None or other.before is None:
            continue
        grown = tightened(tightening, other.round)
        for j, place in enumerate(other.places.tolist()):
            arm, floor = other.chosen[j], float(other.roster.terms.floors[place]) * grown
            if arm in gaps and other.roster.marks.born[place] < decision_id:
                owed = float(other.before[j])
                other.before[j] = max(owed + gaps[arm], 0.0)
                after = max(owed + floor - 1.0, 0.0)
                gaps[arm] = max(float(other.before[j]) + floor - 1.0, 0.0) - after
    there = roster.marks.born < decision_id
    return np.array(
        [
            gaps.get(arm, 0.0) if here else 0.0
            for arm, here in zip(roster.problem.arms, there, strict=True)
        ]
    )
