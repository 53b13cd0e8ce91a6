"""A progress bar for work that takes longer than a second; silent without a terminal."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from typing import Any, Protocol

from evenhand.core.extras import load
from evenhand.core.plain import short_number

PATIENCE_SECONDS = 1.0


class Listener(Protocol):
    """Is called with the number of rounds done."""

    def update(self, done: int) -> None:
        """Take notice."""


class Progress:
    """Shows rounds done, rounds per second and the time left on standard error.

    Nothing is shown when standard error is not a terminal, before a second has passed, or in an
    installation without the extra ``lab``.
    """

    def __init__(self, title: str, total: int, *, wanted: bool = True) -> None:
        self._wanted = wanted and sys.stderr.isatty() and find_spec("rich") is not None
        self._title = title
        self._total = total
        self._start = time.monotonic()
        self._display: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._display is not None:
            self._display.stop()

    def update(self, done: int) -> None:
        """Say how many rounds are done."""
        elapsed = time.monotonic() - self._start
        if not self._wanted or elapsed < PATIENCE_SECONDS:
            return
        if self._display is None:
            self._show()
        speed = f"{short_number(done / elapsed)} rounds/s"
        self._display.update(self._task, completed=done, speed=speed)

    def _show(self) -> None:
        """Put the bar on the screen."""
        rich = load("rich.progress")
        self._display = rich.Progress(
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.TaskProgressColumn(),
            rich.TextColumn("{task.fields[speed]}"),
            rich.TimeRemainingColumn(),
            console=load("rich.console").Console(stderr=True),
            transient=True,
        )
        self._display.start()
        self._task = self._display.add_task(self._title, total=self._total, speed="")
