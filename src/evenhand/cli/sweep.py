"""``evenhand sweep``: play a grid of cells, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from evenhand.checks import choice
from evenhand.cli.live import LiveTable, clock
from evenhand.cli.screen import Stopped, errors, screen
from evenhand.errors import InputError
from evenhand.sweeps import Grid, SweepResults
from evenhand.sweeps.board import Board
from evenhand.sweeps.engines import Cluster, Engine, Local
from evenhand.sweeps.forecast import Forecast, forecast
from evenhand.sweeps.run import conduct

FAILED = 4
MANY_CELLS = 20


def sweep(
    file: Annotated[Path, typer.Argument(help="A TOML file with instances, policies, horizons.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    engine: Annotated[str, typer.Option(help="local, or dask for a cluster.")] = "local",
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a dask scheduler, tcp://HOST:PORT.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes on this machine; one per core by default.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the sweep in the folder.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print cells, rounds and an estimate of the time.")
    ] = False,
) -> None:
    """Play every cell of FILE's grid; a sweep that was stopped goes on with --resume.

    The exit code is 4 if a cell failed three times.
    """
    grid = Grid.load(file)
    open_engine = opener(engine, scheduler, workers)
    if dry_run:
        show_plan(grid, forecast(grid), workers)
        return
    if out is None:
        raise InputError("sweep must have --out DIR, a folder for the results")
    try:
        with LiveTable() as live:
            board = conduct(grid, out, open_engine, resume=resume, look=live.look)
    except Stopped:
        errors.print(f"what is done is kept in {out}: --resume goes on", soft_wrap=True)
        raise
    show(board, out)
    if board.given_up:
        raise typer.Exit(FAILED)


def opener(name: str, scheduler: str | None, workers: int | None) -> Callable[[], Engine]:
    """Return what opens the engine that the options ask for; the options are checked at once."""
    choice("engine", name, ("local", "dask"))
    if workers is not None and workers < 1:
        raise InputError(f"workers must be a whole number of at least 1, got {workers}")
    if name == "dask":
        return lambda: Cluster(scheduler, workers)
    if scheduler is not None:
        raise InputError("a scheduler needs --engine dask, got --engine local")
    return lambda: Local(workers)


def show_plan(grid: Grid, found: Forecast, workers: int | None) -> None:
    """Print what a sweep would do, and how long it should take."""
    table = Table(box=None, pad_edge=False)
    for column in ("cell", "rounds", "seconds"):
        table.add_column(column, justify="left" if column == "cell" else "right")
    for number in range(min(grid.cells, MANY_CELLS)):
        cell = grid.cell(number)
        rounds = cell.horizon * grid.replications
        seconds = found.speed.seconds(cell) * grid.replications
        table.add_row(Text(str(cell)), f"{rounds:,}", f"{seconds:,.2f}")
    screen.print(table)
    if grid.cells > MANY_CELLS:
        screen.print(f"... and {grid.cells - MANY_CELLS:,} more cells")
    cores = Local(workers).workers()
    screen.print()
    screen.print(
        f"{grid.cells:,} cells, {grid.replications:,} replications each: {grid.runs:,} runs, "
        f"{grid.rounds:,} rounds",
        soft_wrap=True,
    )
    screen.print(
        f"about {clock(found.seconds)} on one core of this machine, "
        f"{clock(found.seconds / cores)} on {cores}, from {found.probes} short measurements",
        soft_wrap=True,
    )


def summary_table(lines: list[dict[str, Any]]) -> Table:
    """Return what came of some cells; margins are those of 95% intervals."""
    table = Table(box=None, pad_edge=False)
    table.add_column("cell")
    for column in ("regret", "± 95%", "shortfall", "kept"):
        table.add_column(column, justify="right")
    for line in lines:
        cell = f"{line['instance']} | {line['label']} | T={line['horizon']}"
        numbers = [line[key] for key in ("regret", "margin", "worst_shortfall")]
        shown = ["" if number is None else f"{number:.5f}" for number in numbers]
        table.add_row(Text(cell), *shown, f"{line['all_kept']:.0%}")
    return table


def show(board: Board, out: Path) -> None:
    """Print how a sweep has ended."""
    grid = board.grid
    speed = (
        f"{board.rounds:,} rounds now in {clock(board.elapsed)}, "
        f"{board.rounds_per_second:,.0f} rounds per second"
    )
    screen.print(
        f"{board.cells_done:,} of {grid.cells:,} cells complete, "
        f"{speed if board.rounds else 'nothing was played now'}",
        soft_wrap=True,
    )
    lines = SweepResults(out).summary().head(MANY_CELLS).to_dicts() if board.runs_done else []
    if lines:
        screen.print()
        screen.print(summary_table(lines))
        screen.print()
    more = f" with all {grid.cells:,} cells" if grid.cells > MANY_CELLS else ""
    screen.print(f"results in {out}: evenhand report {out}{more}", soft_wrap=True, markup=False)
    for failure in board.given_up:
        first, last = failure.replications
        errors.print(
            f"failed {failure.tries} times: {failure.cell}, replications {first} to {last}: "
            f"{failure.error}",
            soft_wrap=True,
            markup=False,
        )
