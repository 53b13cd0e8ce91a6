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
from evenhand.cli.screen import Stopped, errors, print_table, say, screen
from evenhand.errors import InputError
from evenhand.sweeps import Grid, SweepResults
from evenhand.sweeps import folder as disk
from evenhand.sweeps.board import Board
from evenhand.sweeps.engines import Cluster, Engine, Local, worker_count
from evenhand.sweeps.forecast import Forecast, forecast
from evenhand.sweeps.grid import cell_name
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
        plan(grid, out if resume else None, worker_count(workers))
        return
    if out is None:
        raise InputError("sweep must have --out DIR, a folder for the results")
    try:
        with LiveTable() as live:
            board, results = conduct(grid, out, open_engine, resume=resume, look=live.look)
    except Stopped:
        done = SweepResults(out).runs_done if (out / disk.ABOUT).exists() else 0
        say(errors, f"{done:,} of {grid.runs:,} runs are kept in {out}: --resume goes on")
        raise
    show(board, results)
    if board.given_up:
        raise typer.Exit(FAILED)


def opener(name: str, scheduler: str | None, workers: int | None) -> Callable[[], Engine]:
    """Return what opens the engine that the options ask for; the options are checked at once."""
    choice("engine", name, ("local", "dask"))
    worker_count(workers)
    if name == "dask":
        return lambda: Cluster(scheduler, workers)
    if scheduler is not None:
        raise InputError("a scheduler needs --engine dask, got --engine local")
    return lambda: Local(workers)


def plan(grid: Grid, out: Path | None, cores: int) -> None:
    """Print what a sweep would do, or what is left of one, and how long it should take."""
    missing = [range(grid.runs)] if out is None else disk.left(out, grid)
    with errors.status("measuring"):
        found = forecast(grid, missing)
    show_plan(grid, found)
    left = sum(map(len, missing))
    say(
        screen,
        f"{grid.cells:,} cells, {grid.replications:,} replications each: {grid.runs:,} runs, "
        f"{grid.rounds:,} rounds" + ("" if left == grid.runs else f"; {left:,} runs are left"),
    )
    say(
        screen,
        f"about {clock(found.seconds)} on one core of this machine, "
        f"{clock(found.seconds / cores)} on {cores}, and some seconds to start; "
        f"from {found.probes} short measurements",
    )
    for warning in found.warnings:
        say(errors, warning)


def show_plan(grid: Grid, found: Forecast) -> None:
    """Print the first cells with their rounds and seconds."""
    table = Table(box=None, pad_edge=False)
    for column in ("cell", "rounds", "seconds"):
        table.add_column(column, justify="left" if column == "cell" else "right")
    for number in range(min(grid.cells, MANY_CELLS)):
        cell = grid.cell(number)
        seconds = found.speed.seconds(cell) * grid.replications
        rounds = cell.horizon * grid.replications
        table.add_row(Text(str(cell)), f"{rounds:,}", f"{seconds:,.2f}")
    print_table(table)
    if grid.cells > MANY_CELLS:
        screen.print(f"... and {grid.cells - MANY_CELLS:,} more cells")
    screen.print()


def show(board: Board, results: SweepResults) -> None:
    """Print how a sweep has ended."""
    grid, out = board.grid, results.folder
    speed = (
        f"{board.rounds:,} rounds now in {clock(board.elapsed)}, "
        f"{board.rounds_per_second:,.0f} rounds per second"
    )
    played = speed if board.rounds else "nothing was played now"
    say(screen, f"{board.cells_done:,} of {grid.cells:,} cells complete, {played}")
    if results.runs_done:
        screen.print()
        print_table(summary_table(results.summary().head(MANY_CELLS).to_dicts()))
        if grid.cells > MANY_CELLS:
            screen.print(f"... and {grid.cells - MANY_CELLS:,} more cells")
        screen.print()
        say(screen, f"Results are in {out}; for all of them as a page: evenhand report {out}")
    for failure in board.given_up[:MANY_CELLS]:
        first, last = failure.replications
        say(
            errors,
            f"failed {failure.tries} times: {failure.cell}, replications {first} to {last}: "
            f"{failure.error}",
        )
    if len(board.given_up) > MANY_CELLS:
        say(errors, f"... and {len(board.given_up) - MANY_CELLS:,} more in {out / disk.FAILURES}")


def summary_table(lines: list[dict[str, Any]]) -> Table:
    """Return what came of some cells; margins are those of 95% intervals."""
    table = Table(box=None, pad_edge=False)
    table.add_column("cell")
    for column in ("regret", "± 95%", "shortfall", "kept"):
        table.add_column(column, justify="right")
    for line in lines:
        cell = cell_name(line["instance"], line["label"], line["horizon"])
        known = line["regret"] is not None
        regret = f"{line['regret']:.5f}" if known else "infeasible"
        margin = f"{line['margin']:.5f}" if known and line["margin"] is not None else ""
        shortfall, kept = f"{line['worst_shortfall']:.5f}", f"{line['all_kept']:.0%}"
        table.add_row(Text(cell), regret, margin, shortfall, kept)
    return table
