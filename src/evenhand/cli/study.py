"""``evenhand study``: `priced` against the others on random instances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from evenhand.cli.screen import output_folder, screen
from evenhand.paper import study as ours
from evenhand.plain import to_json
from evenhand.storage import write_text


def study(
    out: Annotated[Path | None, typer.Option(help="Folder for study.json.")] = None,
    into: Annotated[
        Path | None, typer.Option(help="Page whose marked block is replaced by the table.")
    ] = None,
    instances: Annotated[int, typer.Option(help="Random instances.", min=1)] = 40,
    horizon: Annotated[int, typer.Option(help="Rounds.", min=100)] = 20_000,
    replications: Annotated[int, typer.Option(help="Repetitions of each.", min=2)] = 20,
) -> None:
    """Compare priced with the other policies on random feasible instances."""
    if into is not None:
        ours.inserted(into, "")
    with output_folder(out):
        scope = ours.Scope(instances, horizon, replications)
        scores = ours.run_study(scope)
        table = ours.as_markdown(scope, scores)
        screen.print(Markdown(table))
        if out is not None:
            write_text(out / "study.json", to_json(ours.as_json(scope, scores)))
        if into is not None:
            write_text(into, ours.inserted(into, table))
