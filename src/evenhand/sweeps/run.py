"""Sweeps from beginning to end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from evenhand.core.checks import check_known, fail
from evenhand.errors import InputError
from evenhand.sweeps import folder as disk
from evenhand.sweeps._parts import StoredPart
from evenhand.sweeps._results import SweepResults
from evenhand.sweeps._runner import SweepRunner
from evenhand.sweeps._speed import Speed
from evenhand.sweeps.backends import Backend, ExternalExecutor, check_backend, open_backend
from evenhand.sweeps.grid import Grid
from evenhand.sweeps.progress import SweepProgress


class Outcome(NamedTuple):
    """How a sweep went, and what is in its folder now."""

    progress: SweepProgress
    results: SweepResults


def run_sweep(
    grid: Grid,
    folder: Path | str | None = None,
    *,
    backend: str = "local",
    executor: Executor | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    any_version: bool = False,
) -> SweepResults:
    """Play every cell of a grid, and keep what it gives in a folder.

    Parameters
    ----------
    grid
        The cells; :meth:`Grid.load` reads them from a file.
    folder
        Where parts go: new or empty, or with ``resume`` that of the same grid. Left out, they stay
        in memory.
    backend
        ``"local"`` for processes on this machine, ``"threads"`` for threads of this one, or
        ``"dask"``.
    executor
        In place of a backend any :class:`concurrent.futures.Executor` whose workers have this
        package.
    workers
        How many tasks can be played at a time: by default as many as the executor says, or as there
        are cores.
    scheduler
        The address of a dask scheduler; one is started here if there is none.
    resume
        Whether to resume a folder; only what is missing is played.
    any_version
        Whether to resume also what other versions of the code began, whose results could
        differ; the tables say which code played what.

    Returns
    -------
    SweepResults
        What is in the folder now; its ``failures`` were tried three times.
    """
    if not isinstance(grid, Grid):
        fail("grid", "a Grid; Grid.load reads one from a file", grid)
    check_backend(backend, workers, scheduler)
    opened: Callable[[], Backend] = partial(open_backend, backend, workers, scheduler)
    if executor is not None:
        if backend != "local" or scheduler is not None:
            raise InputError("backend and scheduler must be left out where an executor is given")
        if not isinstance(executor, Executor):
            fail("executor", "a concurrent.futures.Executor", executor)
        opened = partial(ExternalExecutor, executor, workers)
    if any_version and not resume:
        raise InputError("any_version must go with resume, which it is about")
    if folder is None:
        if resume:
            raise InputError("resume must go with a folder: memory holds nothing to go on with")
        return conduct_in_memory(grid, opened).results
    return conduct(grid, Path(folder), opened, resume=resume, any_version=any_version).results


def conduct(
    grid: Grid,
    folder: Path,
    opened: Callable[[], Backend],
    *,
    resume: bool,
    any_version: bool = False,
    look: Callable[[SweepProgress], None] = lambda progress: None,
    only: Iterable[str] | None = None,
) -> Outcome:
    """Play what is missing of a grid, or of some of its instances.

    The backend is opened only if anything is.
    """
    wanted = _runs_of(grid, only)
    known = disk.check(folder, grid, resume=resume, any_version=any_version)
    backend = opened() if common(known.missing, wanted) else None
    with closing(backend), disk.opened(folder, grid, known, any_version=any_version) as missing:
        progress = SweepProgress(grid, common(missing, wanted), Speed())
        if backend is not None:
            disk.note_versions(folder, grid)
            write = partial(disk.write_part, folder)
            SweepRunner(progress, common(missing, wanted), backend, write, look).run()
        disk.write_failures(folder, [failure._asdict() for failure in progress.given_up])
    return Outcome(progress, SweepResults(folder))


def conduct_in_memory(
    grid: Grid,
    opened: Callable[[], Backend],
    *,
    look: Callable[[SweepProgress], None] = lambda progress: None,
) -> Outcome:
    """Play a grid without a folder."""
    parts: list[StoredPart] = []

    def keep(runs: range, content: bytes) -> None:
        parts.append(StoredPart(runs, content))

    everything = [range(grid.runs)]
    progress, backend = SweepProgress(grid, everything, Speed()), opened()
    with closing(backend):
        SweepRunner(progress, everything, backend, keep, look).run()
    failures = [failure._asdict() for failure in progress.given_up]
    return Outcome(progress, SweepResults.in_memory(disk.about_grid(grid), parts, failures))


@contextmanager
def closing(backend: Backend | None) -> Iterator[None]:
    """Close a backend at the end: at once after an error."""
    try:
        yield
    except BaseException:
        if backend is not None:
            backend.close(at_once=True)
        raise
    if backend is not None:
        backend.close(at_once=False)


def _runs_of(grid: Grid, only: Iterable[str] | None) -> list[range]:
    """Return the runs of some instances, or of all."""
    if only is None:
        return [range(grid.runs)]
    names = set(only)
    check_known("instance", names, [instance.name for instance in grid.instances])
    wanted = sorted((grid.numbering.of(name) for name in names), key=lambda cells: cells.start)
    each = grid.replications
    return [range(cells.start * each, cells.stop * each) for cells in wanted]


def common(some: Iterable[range], others: Iterable[range]) -> list[range]:
    """Return what two lists of runs have in common.

    >>> common([range(0, 10), range(20, 30)], [range(5, 25)])
    [range(5, 10), range(20, 25)]
    """
    pairs = ((max(a.start, b.start), min(a.stop, b.stop)) for a in some for b in others)
    return [range(start, stop) for start, stop in pairs if start < stop]
