"""The movie experiment as a part of the reproduction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evenhand.core.plain import finite
from evenhand.core.sealed import open_json, sealed_json
from evenhand.core.storage import write_bytes
from evenhand.errors import InputError
from evenhand.lab.judging import RunSize
from evenhand.lab.paper.movielens.experiment import (
    MOVIES,
    Choices,
    Data,
    load_release,
    movie_grid,
    outcome_of,
)
from evenhand.lab.paper.movielens.synthetic import write_synthetic
from evenhand.lab.paper.settings import SEED
from evenhand.results import Results
from evenhand.sweeps import SweepResults
from evenhand.sweeps.grid import Grid

SUMMARY, SAMPLE = "movies.json", "sample"
SAMPLE_RATINGS, SAMPLE_USERS = 250_000, 42_000


def movie_data(out: Path, size: RunSize, movielens: Path | None) -> Data:
    """Return the ratings: of a MovieLens release, or of a generated sample that says so."""
    if movielens is not None:
        return load_release(movielens)
    share = 10 if size.quick else 1
    write_synthetic(
        out / SAMPLE,
        ratings=SAMPLE_RATINGS // share,
        users=SAMPLE_USERS // share,
        seed=SEED,
        overwrite=True,
    )
    return load_release(out / SAMPLE)


def grid_of_movies(size: RunSize, data: Data) -> Grid:
    """Return the experiment as a grid."""
    return movie_grid(data, Choices(replications=3 if size.quick else 20, seed=SEED))


def write_summary(out: Path, data: Data, found: SweepResults) -> None:
    """Write what is known of the movies beside the results: ratings, and the optimum both ways."""
    outcome = outcome_of(data, Choices(), _results(found))
    write_bytes(out / SUMMARY, sealed_json(finite(outcome.as_json())))


def finished_movies(out: Path) -> tuple[Results, dict[str, Any]] | None:
    """Return results and summary of the movie experiment if they are whole; None otherwise."""
    try:
        summary = open_json((out / SUMMARY).read_bytes())
    except (InputError, OSError, ValueError):
        return None
    found = SweepResults(out / MOVIES)
    return (_results(found), summary) if found.complete else None


def _results(found: SweepResults) -> Results:
    """Return the results, of all policies."""
    return found.results(MOVIES, found.horizons[0])
