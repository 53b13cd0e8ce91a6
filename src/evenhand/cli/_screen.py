"""What the commands share: where they print, and how they are stopped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from evenhand.core.plain import to_json
from evenhand.core.storage import claimed

if TYPE_CHECKING:
    from rich.table import Table

INFEASIBLE = 3
WIDE = 200
screen = Console(highlight=False, emoji=False)
errors = Console(stderr=True, highlight=False, emoji=False)


class Stopped(BaseException):
    """Ctrl-C. Typer would take a KeyboardInterrupt for itself and print a word of its own."""


def say(console: Console, words: str) -> None:
    """Print a line as it is: brackets are no markup, and a long line is not broken."""
    console.print(words, soft_wrap=True, markup=False)


@contextmanager
def output_folder(folder: Path | None, *, overwrite: bool = False) -> Iterator[None]:
    """Hold the folder of ``--out``, if there is one, from before the work to its end."""
    if folder is None:
        yield
        return
    with claimed(folder, overwrite=overwrite):
        yield


def print_table(table: Table) -> None:
    """Print a table to fit the terminal; into a file or a pipe, as wide as it likes."""
    wide = Console(highlight=False, emoji=False, width=WIDE)
    (screen if screen.is_terminal else wide).print(table)


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON object on standard output, with null for what is not a number."""
    sys.stdout.write(to_json(document))
