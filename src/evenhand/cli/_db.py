"""The commands that work on a database: verify, export, import and compact."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import Annotated

import typer
from rich.table import Table

from evenhand.cli._screen import print_table, say, screen
from evenhand.core.checks import fail
from evenhand.core.storage import check_writable
from evenhand.service.stores import DEFAULT, Store, StoreUnavailable, open_store, safe_url
from evenhand.service.upkeep.compaction import compact as compact_log
from evenhand.service.upkeep.export import export_lines, import_lines
from evenhand.service.upkeep.verification import verify as recount

FEW = 10
DAY_SECONDS = 86_400.0
__all__ = ["DEFAULT", "Database", "opened", "safe_url"]

Database = Annotated[
    str,
    typer.Option(
        "--database",
        help="Where bandits are kept: sqlite:///PATH or postgresql://...",
        metavar="URL",
    ),
]


@contextmanager
def opened(url: str, *, must_exist: bool = True) -> Iterator[Store]:
    """Open a store for one command; if it cannot be reached, say so in a line."""
    try:
        store = open_store(url, must_exist=must_exist)
        try:
            yield store
        finally:
            store.close()
    except StoreUnavailable as error:
        fail("database", "one that can be reached and written", f"{safe_url(url)}: {error}")


def verify(database: Database = DEFAULT) -> None:
    """Count every bandit's log again and compare; exit code 1 if anything differs."""
    table = Table("bandit", "events", "", box=None, pad_edge=False)
    lines: list[str] = []
    with opened(database) as store, store.view() as view:
        for name in view.names():
            try:
                events, differences = recount(view, name)
            except StoreUnavailable:
                raise
            except Exception as error:  # whatever a damaged row may lead to
                table.add_row(name, "", "[red]damaged[/red]")
                lines.append(f"{name}: {error or type(error).__name__}")
                continue
            words = f"[red]{len(differences)} differ[/red]" if differences else "agrees"
            table.add_row(name, f"{events:,}", words)
            lines += [
                f"{name}: {what} is {stored:g}, counted {counted:g}"
                for what, counted, stored in differences[:FEW]
            ]
        lines += [f"rows of bandit number {key} belong to no bandit" for key in view.orphans()]
    print_table(table)
    for line in lines:
        say(screen, line)
    raise typer.Exit(1 if lines else 0)


def export(
    bandits: Annotated[
        list[str] | None, typer.Argument(help="Which bandits; all of them if none is named.")
    ] = None,
    database: Database = DEFAULT,
    out: Annotated[
        Path | None, typer.Option(help="The file to write; standard output if left out.")
    ] = None,
) -> None:
    """Write whole bandits, their logs included, as JSON lines; keys are not among them."""
    with opened(database) as store, store.view() as view:
        lines = export_lines(view, bandits or None)
        if out is None:
            print_lines(lines)
        else:
            write_lines(out, lines)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines; whoever reads slowly does not hold up the database."""
    with TemporaryFile("w+", encoding="utf-8") as spool:
        spool.writelines(lines)
        spool.seek(0)
        try:
            shutil.copyfileobj(spool, sys.stdout)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python would complain of it once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a file line by line, whole or not at all."""
    with check_writable(path):
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            try:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                Path(file.name).unlink()
                raise
        os.replace(file.name, path)


def import_(
    file: Annotated[
        Path, typer.Argument(help="What 'evenhand db export' wrote; - for standard input.")
    ],
    database: Database = DEFAULT,
) -> None:
    """Add the bandits of FILE to a database, all or none."""
    # The file comes first: if it cannot be opened, no database is created.
    with ExitStack() as stack:
        lines = sys.stdin
        if str(file) != "-":
            lines = stack.enter_context(file.open(encoding="utf-8"))
        store = stack.enter_context(opened(database, must_exist=False))
        found = import_lines(store, lines)
    for name, events in found.items():
        say(screen, f"imported {name}: {events:,} events")


def compact(
    older_than: Annotated[
        float, typer.Option(min=0.0, help="How many days old an event must be to be compacted.")
    ],
    database: Database = DEFAULT,
) -> None:
    """Drop the details of old decisions that await nothing; counters and ids stay."""
    with opened(database) as store:
        with store.view() as view:
            names = view.names()
        for name in names:
            compacted = compact_log(store, name, older_than * DAY_SECONDS)
            say(screen, f"{name}: {compacted:,} decisions compacted")
