"""Sweeps from beginning to end."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path

from evenhand.sweeps import folder as disk
from evenhand.sweeps.board import Board
from evenhand.sweeps.conductor import Conductor
from evenhand.sweeps.engines import Borrowed, Engine, Local
from evenhand.sweeps.grid import Grid
from evenhand.sweeps.results import SweepResults
from evenhand.sweeps.speed import Speed
from evenhand.sweeps.tasks import Task


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
        How many tasks can be played at a time; all cores by default.
    resume
        Whether to go on with a folder; only what is missing is played.

    Returns
    -------
    SweepResults
        What is in the folder now; its ``failures`` were tried three times.
    """
    local = Local(workers)
    engine = local if executor is None else Borrowed(executor, local.workers())
    conduct(grid, Path(folder), lambda: engine, resume=resume)
    return SweepResults(folder)


def conduct(
    grid: Grid,
    folder: Path,
    open_engine: Callable[[], Engine],
    *,
    resume: bool,
    look: Callable[[Board], None] = lambda board: None,
) -> Board:
    """Play what is missing of a grid on an engine, which is opened only if anything is."""

    def write(task: Task, content: bytes) -> None:
        disk.write_part(folder, task.runs, content)

    engine = open_engine() if disk.check(folder, grid, resume=resume) else None
    with disk.opened(folder, grid) as missing:
        board = Board(grid, missing, Speed())
        if engine is not None:
            try:
                Conductor(board, missing, engine, write, look).run()
            except BaseException:
                engine.close(at_once=True)
                raise
            engine.close(at_once=False)
        disk.write_failures(folder, [failure._asdict() for failure in board.given_up])
        results = SweepResults(folder)
        if results.runs_done:
            results.save_summary()
    return board
