"""The paper's whole evaluation: play what is missing, draw, judge, and write the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from evenhand.core.checks import check_known
from evenhand.core.plain import to_json
from evenhand.core.storage import claimed, write_text
from evenhand.errors import InputError
from evenhand.paper._claims import Verdict, judge_all
from evenhand.paper._drawing import Drawn, draw
from evenhand.paper._evidence import Evidence
from evenhand.paper._movies import (
    SAMPLE,
    finished_movies,
    grid_of_movies,
    movie_data,
    write_summary,
)
from evenhand.paper._page import write_page
from evenhand.paper._section5 import section_5
from evenhand.paper.movielens.claims import movie_claims
from evenhand.paper.movielens.drawing import draw_movies
from evenhand.paper.movielens.experiment import MOVIES
from evenhand.paper.movielens.reader import open_release
from evenhand.paper.movielens.releases import MARK
from evenhand.paper.settings import ETA_MARK, SEED, Plan, experiments, grid_of
from evenhand.results import Results
from evenhand.sweeps import Grid, SweepResults
from evenhand.sweeps.backends import Threads
from evenhand.sweeps.folder import ABOUT
from evenhand.sweeps.run import conduct

SETTINGS = "settings"


class Play(Protocol):
    """Plays what a folder lacks of a grid, or of some of its instances."""

    def __call__(self, grid: Grid, folder: Path, only: Iterable[str] | None = None) -> SweepResults:
        """Return what is in the folder then."""


@dataclass(frozen=True)
class Reproduction:
    """What a reproduction leaves behind."""

    plan: Plan
    verdicts: tuple[Verdict, ...]
    report: Path


def play_here(grid: Grid, folder: Path, only: Iterable[str] | None = None) -> SweepResults:
    """Play with threads of this process."""
    return conduct(grid, folder, Threads, resume=True, only=only).results


def reproduce(
    out: Path,
    plan: Plan,
    only: Sequence[str] = (),
    movielens: Path | None = None,
    play: Play = play_here,
) -> Reproduction:
    """Run the experiments (or only some) into a folder; what is finished there is kept.

    Interrupted, it leaves what is finished, and the next call goes on from there. The movie
    experiment reads a MovieLens release if there is one, and a generated sample if not.
    """
    known = list(experiments(plan))
    check_known("experiment", only, [*known, MOVIES])
    if movielens is not None:
        if not movielens.exists():
            raise InputError(f"path of MovieLens must exist, got {str(movielens)!r}")
        with open_release(movielens):
            pass
    marks = (SETTINGS, ABOUT), (MOVIES, ABOUT), (SAMPLE, MARK)
    ours = any(out.joinpath(*mark).exists() for mark in marks)
    with claimed(out, overwrite=ours):
        wanted = [id_ for id_ in known if not only or id_ in only]
        if wanted:
            play(grid_of(plan), out / SETTINGS, wanted)
        if not only or MOVIES in only:
            data = movie_data(out, plan, movielens)
            found = play(grid_of_movies(plan, data), out / MOVIES)
            if found.complete:
                write_summary(out, data, found)
        return _judged(out, plan)


def _judged(out: Path, plan: Plan) -> Reproduction:
    """Draw and judge whatever is finished."""
    results, movies = _finished(out, plan), None
    summary = finished_movies(out)
    if summary is not None:
        results[MOVIES], movies = summary
    evidence = Evidence(plan, results, movies)
    note = movies["note"] if movies else ""
    figures = draw(out / "figures", evidence)
    if movies:
        said = ", ".join(word for word in (note, plan.note) if word)
        drawn = draw_movies(out / "figures", results[MOVIES], said)
        figures += [Drawn(path, caption) for path, caption in drawn]
    verdicts = tuple(judge_all((*section_5(plan), *movie_claims(note)), evidence))
    rows = [verdict.as_json() for verdict in verdicts]
    document = {"quick": plan.quick, "note": plan.note, "seed": SEED, "claims": rows}
    write_text(out / "claims.json", to_json(document))
    return Reproduction(
        plan, verdicts, write_page(out / "report.html", evidence, verdicts, figures)
    )


def _finished(out: Path, plan: Plan) -> dict[str, Results]:
    """Return the results of all complete cells by id, under labels that leave the eta out."""
    if not (out / SETTINGS / ABOUT).exists():
        return {}
    found, results = SweepResults(out / SETTINGS), {}
    for experiment in experiments(plan).values():
        for horizon in experiment.horizons:
            if found.is_complete(experiment.id, horizon):
                cell = found.results(experiment.id, horizon)
                labels = tuple(label.partition(ETA_MARK)[0] for label in cell.labels)
                results[experiment.cell(horizon)] = replace(cell, labels=labels)
    return results
