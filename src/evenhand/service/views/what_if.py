"""What if floors were different: the exact optimum under measured rates."""

from __future__ import annotations

import math

import numpy as np

from evenhand.core.arrays import Floats, Integers
from evenhand.core.nature import Awake
from evenhand.errors import InfeasibleFloors
from evenhand.optimum.result import Limits, Optimum
from evenhand.optimum.solver import solve
from evenhand.service.problems import not_found
from evenhand.service.schemas import CertificateResponse, WhatIfBody
from evenhand.service.views.lookup import StoredBandit
from evenhand.service.views.measures import BanditMeasures, in_words
from evenhand.service.views.schemas import ArmWhatIf, WhatIf


def what_if(bandit: StoredBandit, body: WhatIfBody, compiled: bool) -> WhatIf:
    """Return the optimum with other floors, and with the present ones.

    Paused arms take no part. Values are posterior means times weights; arms are taken to wake
    independently, each at its measured rate.
    """
    measures = BanditMeasures(bandit.config, bandit.counters.state)
    floors = measures.problem.floors.copy()
    for arm, floor in body.floors.items():
        if arm not in bandit.config.table.position:
            raise not_found("arm", arm)
        floors[bandit.config.table.position[arm]] = floor
    here = np.flatnonzero(~measures.arrays.paused)
    now = _solved(measures, measures.problem.floors, here, compiled)
    then = _solved(measures, floors, here, compiled)
    known = then if isinstance(then, Optimum) else now
    if not isinstance(known, Optimum):
        known = _solved(measures, np.zeros(floors.size), here, compiled)
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
        answer.arms = _arms(measures, then, here)
    else:
        answer.certificate = CertificateResponse.of(then.certificate)
        answer.detail = in_words(then)
    return answer


def nowhere() -> Limits:
    """Return how much more could be promised to nobody."""
    return Limits(math.inf, 0.0)


def _solved(
    measures: BanditMeasures, floors: Floats, here: Integers, compiled: bool
) -> Optimum | InfeasibleFloors:
    """Return the optimum, or the certificate that there is none."""
    if not here.size:
        nothing = np.zeros(0)
        return Optimum((), nothing, 0.0, 0.0, 0.0, nothing, nothing, nowhere)
    values = (measures.means * measures.problem.weights)[here]
    arms = [measures.problem.arms[index] for index in here.tolist()]
    awake = Awake(probabilities=measures.awake[here])
    try:
        return solve(values, floors[here], measures.plays, awake, arms, compiled=compiled)
    except InfeasibleFloors as error:
        return error


def _arms(measures: BanditMeasures, then: Optimum, here: Integers) -> list[ArmWhatIf]:
    columns = (then.floors, measures.means[here], measures.awake[here], then.rates, then.prices)
    return list(map(ArmWhatIf, then.arms, *(column.tolist() for column in columns)))
