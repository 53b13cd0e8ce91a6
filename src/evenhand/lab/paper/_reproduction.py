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
from evenhand.lab.judging import RunSize, Verdict, judge
from evenhand.lab.paper._drawing import DrawnFigure, draw
from evenhand.lab.paper._evidence import OTHERS, PUBLISHED, Evidence
from evenhand.lab.paper._movies import (
    SAMPLE,
    finished_movies,
    grid_of_movies,
    movie_data,
    write_summary,
)
from evenhand.lab.paper._page import write_page
from evenhand.lab.paper._section5 import section_5
from evenhand.lab.paper.movielens.claims import movie_claims
from evenhand.lab.paper.movielens.drawing import draw_movies
from evenhand.lab.paper.movielens.experiment import MOVIES
from evenhand.lab.paper.movielens.reader import open_release
from evenhand.lab.paper.movielens.releases import MARK
from evenhand.lab.paper.settings import ETA_MARK, SEED, experiments, grid_of, note_of
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

    size: RunSize
    verdicts: tuple[Verdict, ...]
    report: Path


def claims_of(size: RunSize, ids: Sequence[str]) -> tuple[set[str], list[str]]:
    """Return the ids of some claims, all if there are none, and the experiments they need.

    >>> claims_of(RunSize(), ["eta-6355"])
    ({'eta-6355'}, ['setting2-paper'])
    """
    known = {claim.id: claim for claim in (*section_5(size), *movie_claims(""))}
    check_known("claim", ids, known)
    cells = {cell for id_ in ids for cell in known[id_].cells}
    owners = {
        experiment.cell(horizon): experiment.id
        for experiment in experiments(size).values()
        for horizon in experiment.horizons
    }
    needed = sorted({owners.get(cell, cell) for cell in cells})
    return set(ids or known), needed


def play_here(grid: Grid, folder: Path, only: Iterable[str] | None = None) -> SweepResults:
    """Play with threads of this process."""
    return conduct(grid, folder, Threads, resume=True, only=only).results


def reproduce(
    out: Path,
    size: RunSize,
    only: Sequence[str] = (),
    movielens: Path | None = None,
    play: Play = play_here,
) -> Reproduction:
    """Run the experiments (or only some) into a folder; what is finished there is kept.

    Interrupted, it leaves what is finished, and the next call goes on from there. The movie
    experiment reads a MovieLens release if there is one, and a generated sample if not.
    """
    known = list(experiments(size))
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
            play(grid_of(size), out / SETTINGS, wanted)
        if not only or MOVIES in only:
            data = movie_data(out, size, movielens)
            found = play(grid_of_movies(size, data), out / MOVIES)
            if found.complete:
                write_summary(out, data, found)
        return _judged(out, size)


def _judged(out: Path, size: RunSize) -> Reproduction:
    """Draw and judge whatever is finished."""
    results, movies = _finished(out, size), None
    summary = finished_movies(out)
    if summary is not None:
        results[MOVIES], movies = summary
    evidence = Evidence(size, results, movies)
    note = movies["note"] if movies else ""
    figures = draw(out / "figures", evidence)
    if movies:
        said = ", ".join(word for word in (note, note_of(size)) if word)
        drawn = draw_movies(out / "figures", results[MOVIES], said)
        figures += [DrawnFigure(path, caption) for path, caption in drawn]
    verdicts = tuple(
        judge(claim, evidence, PUBLISHED, OTHERS)
        for claim in (*section_5(size), *movie_claims(note))
        if all(cell in evidence.results for cell in claim.cells)
    )
    rows = [verdict.as_json() for verdict in verdicts]
    document = {"quick": size.quick, "note": note_of(size), "seed": SEED, "claims": rows}
    write_text(out / "claims.json", to_json(document))
    return Reproduction(
        size, verdicts, write_page(out / "report.html", evidence, verdicts, figures)
    )


def _finished(out: Path, size: RunSize) -> dict[str, Results]:
    """Return the results of all complete cells by id, under labels that leave the eta out."""
    if not (out / SETTINGS / ABOUT).exists():
        return {}
    found, results = SweepResults(out / SETTINGS), {}
    for experiment in experiments(size).values():
        for horizon in experiment.horizons:
            if found.is_complete(experiment.id, horizon):
                cell = found.results(experiment.id, horizon)
                labels = tuple(label.partition(ETA_MARK)[0] for label in cell.labels)
                results[experiment.cell(horizon)] = replace(cell, labels=labels)
    return results
