"""Sweeps from beginning to end."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

from evenhand.sweeps import folder as disk
from evenhand.sweeps.board import Board
from evenhand.sweeps.conductor import Conductor
from evenhand.sweeps.engines import Borrowed, Engine, Local
from evenhand.sweeps.grid import Grid
from evenhand.sweeps.results import SweepResults
from evenhand.sweeps.speed import Speed
from evenhand.sweeps.tasks import Task


class Outcome(NamedTuple):
    """How a sweep went, and what is in its folder now."""

    board: Board
    results: SweepResults


def run_sweep(
    grid: Grid,
    folder: Path | str,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    resume: bool = False,
) -> SweepResults:
    """Play every cell of a grid, and keep what it gives in a folder.

    Parameters
    ----------
    grid
        The cells; :meth:`Grid.load` reads them from a file.
    folder
        Where parts go: new or empty, or with ``resume`` that of the same grid.
    executor
        Any :class:`concurrent.futures.Executor` whose workers have this package; processes on this
        machine by default.
    workers
        How many tasks can be played at a time: by default as many as the executor says, or as there
        are cores.
    resume
        Whether to go on with a folder; only what is missing is played.

    Returns
    -------
    SweepResults
        What is in the folder now; its ``failures`` were tried three times.
    """

    def open_engine() -> Engine:
        return Local(workers) if executor is None else Borrowed(executor, workers)

    return conduct(grid, Path(folder), open_engine, resume=resume).results


def conduct(
    grid: Grid,
    folder: Path,
    open_engine: Callable[[], Engine],
    *,
    resume: bool,
    look: Callable[[Board], None] = lambda board: None,
) -> Outcome:
    """Play what is missing of a grid on an engine, which is opened only if anything is."""
    engine = open_engine() if disk.check(folder, grid, resume=resume) else None
    try:
        outcome = _played(grid, folder, engine, look)
    except BaseException:
        if engine is not None:
            engine.close(at_once=True)
        raise
    if engine is not None:
        engine.close(at_once=False)
    return outcome


def _played(
    grid: Grid, folder: Path, engine: Engine | None, look: Callable[[Board], None]
) -> Outcome:
    def write(task: Task, content: bytes) -> None:
        disk.write_part(folder, task.runs, content)

    with disk.opened(folder, grid) as missing:
        board = Board(grid, missing, Speed())
        if engine is not None:
            Conductor(board, missing, engine, write, look).run()
        disk.write_failures(folder, [failure._asdict() for failure in board.given_up])
        results = SweepResults(folder)
        if results.runs_done:
            results.save_summary()
    return Outcome(board, results)
