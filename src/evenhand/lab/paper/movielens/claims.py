"""The claims of the movie experiment."""

from __future__ import annotations

import numpy as np

from evenhand.lab.judging import Claim, Measured, Rule
from evenhand.lab.measurement import Bound, Measurement
from evenhand.lab.paper import _rules as rules
from evenhand.lab.paper._evidence import Evidence, Pairing
from evenhand.lab.paper.movielens.drawing import belief
from evenhand.lab.paper.movielens.experiment import MOVIES, PAPERS_ETA
from evenhand.lab.paper.movielens.releases import PAPER_USERS
from evenhand.lab.paper.settings import NAMES

CELL = MOVIES


def _label(pairing: Pairing, name: str) -> str:
    return f"{pairing.label(name)}, {PAPERS_ETA}"


def _users(evidence: Evidence, pairing: Pairing) -> Measured:
    return Measured([Measurement("users:", float(evidence.results[CELL].horizon))])


def _distances(evidence: Evidence, pairing: Pairing) -> Measured:
    results, found = evidence.results[CELL], []
    for name in NAMES:
        label = _label(pairing, name)
        away = np.abs(belief(results, label, optimistic=name == "lfg") - results.means).mean()
        found.append(Measurement(f"{label}: mean distance", float(away)))
    ours, theirs = found
    return Measured(found, [Measurement("LFG's - TSCSF-B's:", theirs.value - ours.value)])


def _bounds_above_truth(evidence: Evidence, pairing: Pairing) -> Measured:
    results = evidence.results[CELL]
    above = belief(results, _label(pairing, "lfg"), optimistic=True) - results.means
    pairs = zip(results.arms, above.tolist(), strict=True)
    return Measured([Measurement(f"{arm}: bound - truth", value) for arm, value in pairs])


def _gap(evidence: Evidence, pairing: Pairing) -> Measured:
    return Measured([evidence.gap(CELL, pairing, suffix=f", {PAPERS_ETA}")])


def _regrets_under_genre_shares(evidence: Evidence, pairing: Pairing) -> Measured:
    results = evidence.results[CELL]
    value = (evidence.movies or {})["optimum"]["paper_scaled"]
    labels = [_label(pairing, name) for name in NAMES]
    return Measured(
        [Measurement(f"{label}: R(T)", value - results.reward(label).mean) for label in labels]
    )


USERS = Rule("The number of users is {bound}.", Bound(PAPER_USERS, PAPER_USERS), _users)
ESTIMATES_CLOSER = Rule(
    "The mean distance of LFG's upper confidence bounds from the truth, minus that of TSCSF-B's "
    "posterior means, is {bound}.",
    rules.POSITIVE,
    _distances,
)
LFG_TOO_HIGH = Rule(
    "LFG's upper confidence bound at the end, minus the truth, is {bound} for every movie.",
    rules.POSITIVE,
    _bounds_above_truth,
)
FLOORS_KEPT = Rule(
    "Every movie's mean rate minus its floor is {bound}.",
    rules.FLOOR_KEPT,
    rules.rates_above_floors(CELL, suffix=f", {PAPERS_ETA}"),
)
REGRET_BELOW_LFG = Rule(
    "LFG's R(T) minus TSCSF-B's, paired by replication, is {bound}.", rules.POSITIVE, _gap
)
BELOW_THE_PAPERS_OPT_F = Rule(
    "R(T) against the optimum under genre shares, its floors scaled until they fit, is {bound} for "
    "both.",
    rules.NEGATIVE,
    _regrets_under_genre_shares,
)


def movie_claims(note: str) -> tuple[Claim, ...]:
    """Return the claims; a note says what the data are, if they are not MovieLens.

    How many users there are is a question for the real data alone.
    """
    rows = (
        (
            "movies-users",
            f"{PAPER_USERS:,} users of MovieLens 20M have rated at least one of the five movies.",
            USERS,
        ),
        (
            "movies-estimates",
            "TSCSF-B's final ratings are closer to the true averages than LFG's.",
            ESTIMATES_CLOSER,
        ),
        (
            "movies-lfg-high",
            "The ratings acquired by LFG are higher than the true averages.",
            LFG_TOO_HIGH,
        ),
        (
            "movies-floors",
            "Both algorithms satisfy the floors of all five movies at the paper's η.",
            FLOORS_KEPT,
        ),
        ("movies-regret", "TSCSF-B's regret is below LFG's.", REGRET_BELOW_LFG),
        (
            "movies-below-opt-f",
            "Both algorithms stay below Opt-F as the paper computes it (genre shares).",
            BELOW_THE_PAPERS_OPT_F,
        ),
    )
    suffix = f" [{note}]" if note else ""
    return tuple(
        Claim(id_, "5.3, movies", says + suffix, rule, (CELL,))
        for id_, says, rule in rows
        if not (note and rule is USERS)
    )
