"""What if floors were others: the exact optimum under what has been measured."""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.nature import Awake
from evenhand.errors import InfeasibleFloors
from evenhand.optimum.solver import Optimum, solve
from evenhand.service._bodies import ArmWhatIf, CertificateShown, Supposed, WhatIf
from evenhand.service._measured import Measured, in_words
from evenhand.service._reading import Found
from evenhand.service._refusals import not_found


def what_if(found: Found, supposed: Supposed, compiled: bool) -> WhatIf:
    """Return the optimum with floors as they are supposed to be, and with those that there are.

    Arms that are paused take no part. Values are the posterior means times the weights; arms are
    taken to wake independently, each as often as has been measured.
    """
    measured = Measured(found.edition, found.counters.state)
    floors = measured.problem.floors.copy()
    for arm, floor in supposed.floors.items():
        if arm not in found.edition.table.position:
            raise not_found("arm", arm)
        floors[found.edition.table.position[arm]] = floor
    here = np.flatnonzero(~measured.arrays.paused)
    now = _solved(measured, measured.problem.floors, here, compiled)
    then = _solved(measured, floors, here, compiled)
    known = then if isinstance(then, Optimum) else now
    if not isinstance(known, Optimum):
        known = _solved(measured, np.zeros(floors.size), here, compiled)
    assert isinstance(known, Optimum)
    answer = WhatIf(
        isinstance(then, Optimum),
        then.with_floors if isinstance(then, Optimum) else None,
        now.with_floors if isinstance(now, Optimum) else None,
        known.without_floors,
        [],
        None,
        "",
    )
    if isinstance(then, Optimum):
        answer.arms = _arms(measured, then, here)
    else:
        answer.certificate = CertificateShown.of(then.certificate)
        answer.detail = in_words(then)
    return answer


def _solved(
    measured: Measured, floors: Floats, here: Integers, compiled: bool
) -> Optimum | InfeasibleFloors:
    """Return the optimum, or why there is none."""
    if not here.size:
        nothing = np.zeros(0)
        return Optimum((), nothing, 0.0, 0.0, 0.0, nothing, nothing, np.inf, 0.0)
    values = (measured.means * measured.problem.weights)[here]
    arms = [measured.problem.arms[place] for place in here.tolist()]
    awake = Awake(probabilities=measured.awake[here])
    try:
        return solve(values, floors[here], measured.plays, awake, arms, compiled=compiled)
    except InfeasibleFloors as error:
        return error


def _arms(measured: Measured, then: Optimum, here: Integers) -> list[ArmWhatIf]:
    columns = (then.floors, measured.means[here], measured.awake[here], then.rates, then.prices)
    return list(map(ArmWhatIf, then.arms, *(column.tolist() for column in columns)))
