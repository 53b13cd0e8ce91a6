"""``evenhand study``: `priced` against the others on random instances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from evenhand._base.plain import to_json
from evenhand._base.storage import write_text
from evenhand.cli._screen import screen
from evenhand.cli._sweeping import (
    FAILED,
    AnyVersionOption,
    BackendOption,
    Machine,
    ResumeOption,
    SchedulerOption,
    WorkersOption,
    play_grid,
    tell_failures,
    tell_versions,
)
from evenhand.paper import _study as ours


def study(
    out: Annotated[Path | None, typer.Option(help="Folder for the runs and study.json.")] = None,
    into: Annotated[
        Path | None, typer.Option(help="Page whose marked block is replaced by the table.")
    ] = None,
    instances: Annotated[int, typer.Option(help="Random instances.", min=1)] = 40,
    horizon: Annotated[int, typer.Option(help="Rounds.", min=100)] = 20_000,
    replications: Annotated[int, typer.Option(help="Repetitions of each.", min=2)] = 20,
    backend: BackendOption = "threads",
    scheduler: SchedulerOption = None,
    workers: WorkersOption = None,
    resume: ResumeOption = False,
    any_version: AnyVersionOption = False,
) -> None:
    """Compare priced with the other policies on random feasible instances."""
    machine = Machine(backend, workers, scheduler).check()
    if into is not None:
        ours.with_block(into, "")
    scope = ours.Scope(instances, horizon, replications)
    played = ours.games(scope)
    grid = ours.grid_of(scope, played)
    outcome = play_grid(grid, out, machine, resume=resume, any_version=any_version)
    if outcome.board.given_up:
        tell_failures(outcome.board)
        raise typer.Exit(FAILED)
    tell_versions(outcome.results)
    scores = ours.scores_of(played, outcome.results)
    table = ours.as_markdown(scope, scores)
    screen.print(Markdown(table))
    if out is not None:
        write_text(out / "study.json", to_json(ours.as_json(scope, scores)))
    if into is not None:
        write_text(into, ours.with_block(into, table))
