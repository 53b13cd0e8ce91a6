"""A progress bar for work that takes longer than a second; silent where nobody looks."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from typing import Any, Protocol

from evenhand.extras import load

PATIENCE_SECONDS = 1.0


class Listener(Protocol):
    """Somebody who wants to know how many rounds are done."""

    def update(self, done: int) -> None:
        """Take notice."""


class Progress:
    """Shows rounds done, rounds per second and the time left on standard error.

    Work may come in stages: then one bar is for the whole and one for the present stage. Nothing
    is shown when standard error is not a terminal, before a second has passed, or in an
    installation without the extra ``lab``.
    """

    def __init__(self, title: str, total: int, *, wanted: bool = True) -> None:
        self._wanted = wanted and sys.stderr.isatty() and find_spec("rich") is not None
        self._start = time.monotonic()
        self._display: Any = None
        self._whole = Bar(self, title, total)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._display is not None:
            self._display.stop()

    def update(self, done: int) -> None:
        """Say how many rounds of the whole are done."""
        self._whole.update(done)

    def stage(self, title: str, total: int, before: int) -> Bar:
        """Return a bar for a stage that begins when ``before`` rounds of the whole are done."""
        return Bar(self, title, total, whole=self._whole, before=before)

    def display(self) -> Any:
        """Return the screen's display once there is reason for one, None until then."""
        if not self._wanted or time.monotonic() - self._start < PATIENCE_SECONDS:
            return None
        if self._display is None:
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
        return self._display


class Bar:
    """One line of a display, for the whole or for a stage of it."""

    def __init__(
        self, owner: Progress, title: str, total: int, whole: Bar | None = None, before: int = 0
    ) -> None:
        self._owner = owner
        self._title = title
        self._total = total
        self._whole = whole
        self._before = before
        self._start = time.monotonic()
        self._task: Any = None

    def update(self, done: int) -> None:
        """Say how many rounds are done; a stage that is complete leaves the screen."""
        if self._whole is not None:
            self._whole.update(self._before + done)
        display = self._owner.display()
        if display is None:
            return
        if self._task is None:
            self._task = display.add_task(self._title, total=self._total, speed="")
        speed = done / max(time.monotonic() - self._start, 1e-9)
        display.update(self._task, completed=done, speed=f"{short(speed)} rounds/s")
        if self._whole is not None and done >= self._total:
            display.remove_task(self._task)
            self._task = None


def short(number: float) -> str:
    """Write a number with three digits and a unit.

    >>> short(4_280_000.0)
    '4.28 M'
    """
    for unit, size in (("G ", 1e9), ("M ", 1e6), ("k ", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}".strip()
    return f"{number:.3g}"
