"""The paper's whole evaluation: run what is missing, draw, judge, and write the report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.checks import known
from evenhand.errors import InputError
from evenhand.machine import digest
from evenhand.paper.claims import Verdict, judge_all
from evenhand.paper.drawing import Drawn, draw
from evenhand.paper.evidence import Evidence
from evenhand.paper.movielens.claims import movie_claims
from evenhand.paper.movielens.drawing import draw_movies
from evenhand.paper.movielens.reader import open_release
from evenhand.paper.movies import finished_movies, run_movie_cell
from evenhand.paper.page import write_page
from evenhand.paper.section5 import section_5
from evenhand.paper.settings import NAMES, SEED, Cell, Experiment, Plan, experiments
from evenhand.plain import to_json
from evenhand.policies import REGISTRY
from evenhand.results import Results
from evenhand.simulation import simulate
from evenhand.simulation._kernel import play
from evenhand.simulation.description import describe
from evenhand.simulation.progress import Progress
from evenhand.storage import claimed, write_text

MARKER = "reproduction.json"
MOVIES = "movies"


@dataclass(frozen=True)
class Reproduction:
    """What a reproduction leaves behind."""

    plan: Plan
    verdicts: tuple[Verdict, ...]
    report: Path
    seconds: float


def reproduce(
    out: Path, plan: Plan, only: Sequence[str] = (), movielens: Path | None = None
) -> Reproduction:
    """Run the experiments (or only some) into a folder; finished cells there are kept.

    Interrupted, it leaves what is finished, and the next call goes on from there. The movie
    experiment reads a MovieLens release if there is one, and a generated sample if not.
    """
    chosen = experiments(plan)
    known("experiment", only, [*chosen, MOVIES])
    if movielens is not None and not movielens.exists():
        raise InputError(f"path of MovieLens must exist, got {str(movielens)!r}")
    cells = [
        cell
        for experiment in chosen.values()
        if not only or experiment.id in only
        for cell in experiment.cells
    ]
    if movielens is not None:
        with open_release(movielens):
            pass
    with claimed(out, overwrite=(out / MARKER).exists()):
        mark_folder(out, plan, movielens)
        run_cells(out, cells, plan)
        if not only or MOVIES in only:
            run_movie_cell(out, plan, movielens)
        return _judged(out, plan, chosen)


def _judged(out: Path, plan: Plan, chosen: Mapping[str, Experiment]) -> Reproduction:
    """Draw and judge whatever is finished."""
    every = [cell for experiment in chosen.values() for cell in experiment.cells]
    found = {cell.id: finished(out, cell, plan) for cell in every}
    results = {id_: result for id_, result in found.items() if result is not None}
    summary = finished_movies(out, plan)
    movies = None
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
    report = write_page(out / "report.html", evidence, verdicts, figures)
    seconds = sum(entry.seconds for entry in results.values())
    return Reproduction(plan, verdicts, report, seconds)


def mark_folder(out: Path, plan: Plan, movielens: Path | None) -> None:
    """Mark an empty folder; accept one with an unfinished or finished run of the same kind."""
    marker = {
        "format": "evenhand reproduction",
        "quick": plan.quick,
        "seed": SEED,
        "movielens": None if movielens is None else _stamp(movielens),
        "code": [digest(play, score=REGISTRY[name].score) for name in NAMES],
    }
    file = out / MARKER
    if not file.exists():
        write_text(file, json.dumps(marker) + "\n")
        return
    try:
        given = json.loads(file.read_bytes())
    except ValueError:
        given = None
    found = given if isinstance(given, dict) else {}
    if found != marker:
        differing = [key for key in marker if found.get(key) != marker[key]]
        raise InputError(
            f"output folder must be new, or hold a run of the same kind and version to go on "
            f"with, got {str(out)!r}, which differs in {', '.join(differing)}; name another --out"
        )


def _stamp(release: Path) -> list[str]:
    """Return what tells a release from another one, or from itself after a change."""
    files = sorted(release.glob("**/*.*")) if release.is_dir() else [release]
    stats = [(file.name, file.stat()) for file in files]
    return [str(release.resolve()), *(f"{n} {s.st_size} {s.st_mtime_ns}" for n, s in stats)]


def run_cells(out: Path, cells: Sequence[Cell], plan: Plan) -> None:
    """Simulate the cells that are not finished."""
    rounds = {cell.id: len(cell.policies()) * plan.replications * cell.horizon for cell in cells}
    missing = [cell for cell in cells if finished(out, cell, plan) is None]
    with Progress("reproduction", sum(rounds[cell.id] for cell in missing)) as bar:
        before = 0
        for cell in missing:
            results = simulate(
                cell.setting.environment(),
                cell.policies(),
                horizon=cell.horizon,
                replications=plan.replications,
                seed=SEED,
                progress=bar.stage(cell.id, rounds[cell.id], before),
            )
            results.save(out / "cells" / cell.id, overwrite=True)
            before += rounds[cell.id]


def finished(out: Path, cell: Cell, plan: Plan) -> Results | None:
    """Return a cell's results if they are whole, and of these settings; None otherwise."""
    try:
        results = Results.load(out / "cells" / cell.id)
    except InputError:
        return None
    environment, policies = cell.setting.environment(), cell.policies()
    wanted = describe(environment, policies, cell.horizon, plan.replications, SEED, 0)
    return results if results.provenance.get("settings") == wanted else None
