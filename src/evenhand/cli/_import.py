"""``evenhand import``: bandits from JSON lines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli._database import DEFAULT, Database, opened
from evenhand.cli._screen import say, screen
from evenhand.service.exchange import import_lines


def import_(
    file: Annotated[
        Path, typer.Argument(help="What 'evenhand export' wrote; - for standard input.")
    ],
    database: Database = DEFAULT,
) -> None:
    """Add the bandits of FILE to a database, all or none."""
    with opened(database, must_exist=False) as store:
        if str(file) == "-":
            found = import_lines(store, sys.stdin)
        else:
            with file.open(encoding="utf-8") as lines:
                found = import_lines(store, lines)
    for name, events in found.items():
        say(screen, f"imported {name}: {events:,} events")
