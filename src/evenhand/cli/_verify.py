"""``evenhand verify``: count every log again, and compare."""

from __future__ import annotations

import typer
from rich.table import Table

from evenhand.cli._database import DEFAULT, Database, opened
from evenhand.cli._screen import print_table, say, screen
from evenhand.service.recount import verify as recount

FEW = 10


def verify(database: Database = DEFAULT) -> None:
    """Count every bandit's log again and compare; exit code 1 if anything differs."""
    table = Table("bandit", "events", "", box=None, pad_edge=False)
    lines: list[str] = []
    with opened(database) as store, store.view() as view:
        for name in view.names():
            try:
                events, differences = recount(view, name)
            except (LookupError, ValueError) as error:
                table.add_row(name, "", "[red]damaged[/red]")
                lines.append(f"{name}: {error}")
                continue
            words = f"[red]{len(differences)} differ[/red]" if differences else "agrees"
            table.add_row(name, f"{events:,}", words)
            lines += [
                f"{name}: {what} is {stored:g}, counted {counted:g}"
                for what, counted, stored in differences[:FEW]
            ]
    print_table(table)
    for line in lines:
        say(screen, line)
    raise typer.Exit(1 if lines else 0)
