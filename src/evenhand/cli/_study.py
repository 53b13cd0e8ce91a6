"""``evenhand lab study``: every policy in every world, and who wins where."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from evenhand import figures
from evenhand.cli import _sweeping as sweeping
from evenhand.cli._screen import print_table
from evenhand.core.checks import check_known
from evenhand.core.plain import to_json
from evenhand.core.storage import write_text
from evenhand.lab.science import games as _games
from evenhand.lab.science import study as _study
from evenhand.lab.science.scores import Score, scores_of, winners


def study(
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the runs, study.json, study.md and the figure."),
    ] = None,
    instances: Annotated[int, typer.Option(help="Random instances.", min=1)] = 40,
    horizon: Annotated[int, typer.Option(help="Rounds.", min=100)] = 20_000,
    replications: Annotated[int, typer.Option(help="Repetitions of each.", min=2)] = 20,
    backend: sweeping.BackendOption = "threads",
    scheduler: sweeping.SchedulerOption = None,
    workers: sweeping.WorkersOption = None,
    world: Annotated[
        list[str] | None, typer.Option(help="Only this world; may be given several times.")
    ] = None,
    resume: sweeping.ResumeOption = False,
    any_version: sweeping.AnyVersionOption = False,
) -> None:
    """Compare all policies on random feasible instances of many worlds; say who wins where."""
    options = sweeping.BackendOptions(backend, workers, scheduler).check()
    scope, worlds = _games.Scope(instances, horizon, replications), world or []
    check_known("world", worlds, _games.world_names())
    everybody, scores = _games.policies(scope), list[Score]()
    for name, (grid, played) in _games.grids_of(scope, _games.games(scope, worlds)).items():
        folder = None if out is None else out / name
        outcome = sweeping.play_grid(grid, folder, options, resume=resume, any_version=any_version)
        if outcome.progress.given_up:
            sweeping.tell_failures(outcome.progress)
            raise typer.Exit(sweeping.FAILED)
        sweeping.tell_versions(outcome.results)
        scores += scores_of(played, everybody, outcome.results)
    print_table(who_wins(scores))
    if out is not None:
        write_text(out / "study.json", to_json(_study.as_json(scope, scores)))
        write_text(out / "study.md", _study.as_markdown(scope, scores))
        for name, figure in _study.drawn(scope, scores).items():
            figures.save(figure, out / name)


def who_wins(scores: list[Score]) -> Table:
    """Return the table of who wins where."""
    heads, rows = _study.winners_table(winners(scores))
    table = Table(*heads, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    return table
