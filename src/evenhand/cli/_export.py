"""``evenhand export``: bandits as JSON lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated

import typer

from evenhand.cli._database import DEFAULT, Database, opened
from evenhand.core.storage import check_writable
from evenhand.service.exchange import export_lines


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
            sys.stdout.writelines(lines)
        else:
            write_lines(out, lines)


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
