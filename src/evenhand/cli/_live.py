"""A sweep on the screen while it runs: a table of its cells, or now and then a line in a log."""

from __future__ import annotations

import time

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from evenhand.cli._screen import errors, say
from evenhand.core.plain import short_number
from evenhand.sweeps.progress import CellState, SweepProgress

LINE_SECONDS = 30.0
REFRESH_SECONDS = 0.25
AROUND = 8


class LiveTable:
    """Shows the progress of a sweep on standard error."""

    def __init__(self) -> None:
        self._shown = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> LiveTable:
        if errors.is_terminal:
            self._live = Live(console=errors, transient=True, auto_refresh=False)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def look(self, progress: SweepProgress) -> None:
        """Show how things are, if it is time to."""
        pause = LINE_SECONDS if self._live is None else REFRESH_SECONDS
        if time.monotonic() - self._shown < pause:
            return
        self._shown = time.monotonic()
        if self._live is None:
            say(errors, state_line(progress))
        else:
            lines = max(errors.size.height - AROUND, 3)
            cells = progress.cells(lines)
            more = Text(f"... and {progress.grid.cells - len(cells):,} more cells", style="dim")
            shown = Group(cell_table(cells), more, Text(state_line(progress)))
            self._live.update(shown, refresh=True)


def state_line(progress: SweepProgress) -> str:
    """Return the whole in one line."""
    grid, left = progress.grid, progress.seconds_left
    workers = f"{progress.workers} workers" if progress.workers else "no workers there"
    if progress.workers and not progress.rounds:
        workers += " starting"
    parts = [
        f"{progress.cells_done:,} of {grid.cells:,} cells, "
        f"{progress.runs_done:,} of {grid.runs:,} runs",
        workers,
        f"{short_number(progress.rounds_per_second)} rounds/s",
        f"{progress.failures} failures",
        f"{clock(progress.elapsed)} so far",
    ]
    return " | ".join(parts if left is None else [*parts, f"{clock(left)} left"])


def clock(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds.

    >>> clock(3723.4)
    '1:02:03'
    """
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def cell_table(cells: list[CellState]) -> Table:
    """Return one line for each cell; what is cut short on a narrow screen is the names."""
    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column("instance", ratio=2, no_wrap=True, overflow="ellipsis")
    table.add_column("policy", ratio=3, no_wrap=True, overflow="ellipsis")
    longest = max((len(str(cell.horizon)) for cell in cells), default=1)
    widths = {"T": longest, "runs": 10, "done": 4, "rounds/s": 8, "failed": 6}
    for column, width in widths.items():
        table.add_column(column, justify="right", width=width)
    for cell in cells:
        table.add_row(
            Text(cell.instance),
            Text(cell.label),
            str(cell.horizon),
            ProgressBar(total=cell.runs, completed=cell.done, width=10),
            f"{cell.done / cell.runs:.0%}",
            short_number(cell.rounds_per_second) if cell.rounds_per_second else "",
            Text(str(cell.failures), style="red") if cell.failures else "",
        )
    return table
