"""``evenhand report``: what a sweep has found, as a page or as a table for other programs."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.status import Status
from rich.text import Text

from evenhand.cli._screen import errors, say, screen
from evenhand.core.checks import check_choice
from evenhand.core.storage import write_bytes, write_text
from evenhand.sweeps import SweepResults
from evenhand.sweeps.latex import as_latex
from evenhand.sweeps.page import banner, write_page

if TYPE_CHECKING:
    import polars

SUFFIXES = {"html": ".html", "csv": ".csv", "parquet": ".parquet", "latex": ".tex"}


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a sweep, complete or not.")],
    form: Annotated[
        str, typer.Option("--format", help="html, or csv, parquet, latex for the summary alone.")
    ] = "html",
    out: Annotated[Path | None, typer.Option(help="The file; in the folder by default.")] = None,
    instance: Annotated[
        list[str] | None,
        typer.Option(help="An instance to draw; may be repeated. The first twelve by default."),
    ] = None,
) -> None:
    """Write the page of a sweep, FOLDER/report.html, or its summary as a table."""
    check_choice("format", form, SUFFIXES)
    found = SweepResults(folder)
    name = "report" if form == "html" else "summary"
    path = folder / f"{name}{SUFFIXES[form]}" if out is None else out
    if form == "html":
        with errors.status("reading the parts") as status:
            tell = partial(_update, status)
            write_page(found, path, instances=instance, tell=tell)
    elif form == "latex":
        write_text(path, as_latex(found.summary()))
    else:
        write_bytes(path, as_table(found.summary(), form))
    say(screen, str(path))
    if banner(found):
        say(errors, banner(found))


def as_table(summary: polars.DataFrame, form: str) -> bytes:
    """Return the summary as the content of a CSV or Parquet file."""
    if form == "csv":
        return summary.write_csv().encode("utf-8")
    file = io.BytesIO()
    summary.write_parquet(file)
    return file.getvalue()


def _update(status: Status, words: str) -> None:
    status.update(Text(words))
