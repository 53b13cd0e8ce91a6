"""A progress bar for work that takes longer than a second; silent where nobody looks."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from evenhand.extras import load

PATIENCE_SECONDS = 1.0


class Progress:
    """Shows rounds done, rounds per second and the time left on standard error.

    Nothing is shown when standard error is not a terminal, or before a second has passed.
    """

    def __init__(self, title: str, total: int, *, wanted: bool = True) -> None:
        self._title = title
        self._total = total
        self._wanted = wanted and sys.stderr.isatty()
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: int) -> None:
        """Say how many rounds are done."""
        elapsed = time.monotonic() - self._start
        if not self._wanted or (self._bar is None and elapsed < PATIENCE_SECONDS):
            return
        if self._bar is None:
            self._open()
        speed = f"{_short(done / elapsed)} rounds/s"
        self._bar.update(self._task, completed=done, speed=speed)

    def _open(self) -> None:
        rich = load("rich.progress")
        self._bar = rich.Progress(
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.TaskProgressColumn(),
            rich.TextColumn("{task.fields[speed]}"),
            rich.TimeRemainingColumn(),
            console=load("rich.console").Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._title, total=self._total, speed="")
        self._bar.start()


def _short(number: float) -> str:
    """Write a number with three digits and a unit.

    >>> _short(4_280_000.0)
    '4.28 M'
    """
    for unit, size in (("G ", 1e9), ("M ", 1e6), ("k ", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}".strip()
    return f"{number:.3g}"
