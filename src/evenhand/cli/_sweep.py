"""``evenhand sweep``: play a grid of cells, on this machine or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from evenhand.cli import _sweeping as sweeping
from evenhand.cli._live import clock
from evenhand.cli._screen import errors, print_table, say, screen
from evenhand.errors import InputError
from evenhand.simulation.runner import worker_count
from evenhand.sweeps import Grid, SweepResults
from evenhand.sweeps import folder as disk
from evenhand.sweeps.cells import CellId
from evenhand.sweeps.forecast import Forecast, forecast
from evenhand.sweeps.progress import SweepProgress

MANY_CELLS = 20


def sweep(
    file: Annotated[Path, typer.Argument(help="A TOML file with instances, policies, horizons.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    backend: Annotated[
        str | None, typer.Option(help="threads, local (processes, the default) or dask.")
    ] = None,
    scheduler: sweeping.SchedulerOption = None,
    workers: sweeping.WorkersOption = None,
    resume: sweeping.ResumeOption = False,
    any_version: sweeping.AnyVersionOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print cells, rounds and an estimate of the time.")
    ] = False,
    engine: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Play every cell of FILE's grid; --resume continues a stopped sweep.

    FILE may also be that of a simulation. The exit code is 4 if a run failed three times.
    """
    grid = Grid.load(file)
    if engine is not None and backend is not None:
        raise InputError("--engine must be left out: --backend says the same")
    options = sweeping.BackendOptions(backend or engine or "local", workers, scheduler).check()
    if dry_run:
        plan(grid, out if resume else None, worker_count(workers), any_version=any_version)
        return
    if out is None:
        raise InputError("sweep must have --out DIR, a folder for the results")
    progress, results = sweeping.play_grid(
        grid, out, options, resume=resume, any_version=any_version
    )
    show(progress, results)
    if progress.given_up:
        raise typer.Exit(sweeping.FAILED)


def plan(grid: Grid, out: Path | None, cores: int, *, any_version: bool) -> None:
    """Print what a sweep would do, or what is left of one, and how long it should take."""
    everything = [range(grid.runs)]
    missing = everything if out is None else disk.left(out, grid, any_version=any_version)
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
        table.add_row(Text(str(cell.cell_id)), f"{rounds:,}", f"{seconds:,.2f}")
    print_table(table)
    if grid.cells > MANY_CELLS:
        screen.print(f"... and {grid.cells - MANY_CELLS:,} more cells")
    screen.print()


def show(progress: SweepProgress, results: SweepResults) -> None:
    """Print how a sweep has ended."""
    grid, out = progress.grid, results.folder
    speed = (
        f"{progress.rounds:,} rounds now in {clock(progress.elapsed)}, "
        f"{progress.rounds_per_second:,.0f} rounds per second"
    )
    played = speed if progress.rounds else "nothing was played now"
    say(screen, f"{progress.cells_done:,} of {grid.cells:,} cells complete, {played}")
    if results.runs_done:
        screen.print()
        print_table(summary_table(results.summary().head(MANY_CELLS).to_dicts()))
        if grid.cells > MANY_CELLS:
            screen.print(f"... and {grid.cells - MANY_CELLS:,} more cells")
        screen.print()
        say(screen, f"Results are in {out}; for all of them as a page: evenhand report {out}")
    sweeping.tell_failures(progress)
    sweeping.tell_versions(results)


def summary_table(lines: list[dict[str, Any]]) -> Table:
    """Return what came of some cells; margins are those of 95% intervals."""
    table = Table(box=None, pad_edge=False)
    table.add_column("cell")
    for column in ("regret", "± 95%", "shortfall", "kept"):
        table.add_column(column, justify="right")
    for line in lines:
        cell = CellId(line["cell"], line["instance"], line["label"], line["horizon"])
        known = line["regret"] is not None
        regret = f"{line['regret']:.5f}" if known else "infeasible"
        margin = f"{line['margin']:.5f}" if known and line["margin"] is not None else ""
        shortfall, kept = f"{line['worst_shortfall']:.5f}", f"{line['all_kept']:.0%}"
        table.add_row(Text(str(cell)), regret, margin, shortfall, kept)
    return table
