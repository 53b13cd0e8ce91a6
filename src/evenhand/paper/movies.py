"""The movie experiment as a part of the reproduction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.paper.movielens.experiment import Choices, load_release, policies_of, run_movies
from evenhand.paper.movielens.sample import write_sample
from evenhand.paper.settings import SEED, Plan
from evenhand.plain import finite
from evenhand.results import Results
from evenhand.sealed import open_json, sealed_json
from evenhand.storage import write_bytes

SUMMARY = "movies.json"
SAMPLE_RATINGS, SAMPLE_USERS = 250_000, 42_000


def run_movie_cell(out: Path, plan: Plan, movielens: Path | None) -> None:
    """Run the movie experiment, unless it is finished."""
    if finished_movies(out, plan) is not None:
        return
    release = movielens or _sample(out, plan)
    outcome = run_movies(
        load_release(release), Choices(replications=replications_of(plan), seed=SEED)
    )
    cell = out / "cells" / "movies"
    write_bytes(cell / SUMMARY, sealed_json(finite(outcome.as_json())))
    outcome.results.save(cell, overwrite=True)


def finished_movies(out: Path, plan: Plan) -> tuple[Results, dict[str, Any]] | None:
    """Return results and summary of the movie experiment if they are whole; None otherwise."""
    cell = out / "cells" / "movies"
    try:
        results, summary = Results.load(cell), open_json((cell / SUMMARY).read_bytes())
    except (InputError, OSError, ValueError):
        return None
    settings = results.provenance.get("settings", {})
    wanted = {"seed": SEED, "replications": replications_of(plan)}
    same = all(settings.get(key) == value for key, value in wanted.items())
    return (results, summary) if same and set(results.labels) == set(policies_of("paper")) else None


def replications_of(plan: Plan) -> int:
    """Return how often the experiment is repeated."""
    return 3 if plan.quick else 20


def _sample(out: Path, plan: Plan) -> Path:
    """Write the generated sample that stands in for the real data."""
    share = 10 if plan.quick else 1
    folder = out / "sample"
    write_sample(
        folder,
        ratings=SAMPLE_RATINGS // share,
        users=SAMPLE_USERS // share,
        seed=SEED,
        overwrite=True,
    )
    return folder
