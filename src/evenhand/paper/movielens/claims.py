"""The claims of the movie experiment."""

from __future__ import annotations

import numpy as np

from evenhand.paper import rules
from evenhand.paper.claims import Claim, Measured
from evenhand.paper.evidence import Evidence, Figure, Pairing
from evenhand.paper.movielens.drawing import belief
from evenhand.paper.movielens.experiment import PAPERS_ETA, results_means
from evenhand.paper.movielens.releases import PAPER_USERS
from evenhand.paper.settings import NAMES

CELL = "movies"


def _label(pairing: Pairing, name: str) -> str:
    return f"{pairing.label(name)}, {PAPERS_ETA}"


def users(evidence: Evidence, pairing: Pairing) -> Measured:
    """As many users as the paper has."""
    count = evidence.results[CELL].horizon
    return Measured(count == PAPER_USERS, [Figure("users:", float(count))])


def estimates_closer(evidence: Evidence, pairing: Pairing) -> Measured:
    """Smaller mean distance from the truth for TSCSF-B's posterior means than LFG's bounds."""
    results = evidence.results[CELL]
    truth = np.array(list(results_means(results).values()))
    figures = []
    for name in NAMES:
        label = _label(pairing, name)
        away = np.abs(belief(results, label, optimistic=name == "lfg") - truth).mean()
        figures.append(Figure(f"{label}: mean distance", float(away)))
    return Measured(figures[0].value < figures[1].value, figures)


def lfg_too_high(evidence: Evidence, pairing: Pairing) -> Measured:
    """Upper confidence bounds above the truth for every movie."""
    results = evidence.results[CELL]
    truth = results_means(results)
    believed = belief(results, _label(pairing, "lfg"), optimistic=True)
    figures = [
        Figure(f"{arm}: bound - truth", float(value - truth[arm]))
        for arm, value in zip(results.arms, believed, strict=True)
    ]
    return Measured(all(figure.value > 0.0 for figure in figures), figures)


def floors_kept(evidence: Evidence, pairing: Pairing) -> Measured:
    """No movie recommended less often than promised."""
    return rules.floors_kept(CELL, evidence, pairing, suffix=f", {PAPERS_ETA}")


def regret_below_lfg(evidence: Evidence, pairing: Pairing) -> Measured:
    """TSCSF-B ahead of LFG, paired by replication."""
    gap = evidence.gap(CELL, pairing, suffix=f", {PAPERS_ETA}")
    return Measured(gap.value > gap.margin, [gap])


def below_the_papers_opt_f(evidence: Evidence, pairing: Pairing) -> Measured:
    """Negative regret against the optimum under genre shares, floors scaled to fit."""
    results = evidence.results[CELL]
    value = (evidence.movies or {})["optimum"]["paper_scaled"]
    figures = [
        Figure(f"{label}: R(T)", value - results.reward(label).mean)
        for label in (_label(pairing, name) for name in NAMES)
    ]
    return Measured(all(figure.value < 0.0 for figure in figures), figures)


def movie_claims(note: str) -> tuple[Claim, ...]:
    """Return the claims; a note says what the data are, if they are not MovieLens.

    How many users there are is a question for the real data alone.
    """
    rows = (
        (
            "movies-users",
            "28,356 users of MovieLens 20M have rated at least one of the five movies.",
            f"The number of users is {PAPER_USERS:,}.",
            users,
        ),
        (
            "movies-estimates",
            "TSCSF-B's final ratings are closer to the true averages than LFG's.",
            "The mean distance of TSCSF-B's posterior means from the truth is below that of LFG's "
            "upper confidence bounds.",
            estimates_closer,
        ),
        (
            "movies-lfg-high",
            "The ratings acquired by LFG are higher than the true averages.",
            "LFG's upper confidence bound at the end exceeds the truth for every movie.",
            lfg_too_high,
        ),
        (
            "movies-floors",
            "Both algorithms satisfy the floors of all five movies at the paper's η.",
            f"No movie's mean rate is below its floor by more than {rules.TOLERANCE}.",
            floors_kept,
        ),
        (
            "movies-regret",
            "TSCSF-B's regret is below LFG's.",
            "LFG's R(T) minus TSCSF-B's, paired by replication, exceeds its 95% margin.",
            regret_below_lfg,
        ),
        (
            "movies-below-opt-f",
            "Both algorithms stay below Opt-F as the paper computes it (genre shares).",
            "R(T) against the optimum under genre shares, its floors scaled until they fit, is "
            "negative for both.",
            below_the_papers_opt_f,
        ),
    )
    suffix = f" [{note}]" if note else ""
    return tuple(
        Claim(id_, "5.3, movies", says + suffix, rule, (CELL,), check)
        for id_, says, rule, check in rows
        if not (note and check is users)
    )
