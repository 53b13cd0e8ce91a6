"""``evenhand serve``: fair choices over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli._db import safe_url
from evenhand.cli._screen import say, screen
from evenhand.service import read_config
from evenhand.service import serve as run


def serve(
    database: Annotated[
        str | None,
        typer.Option(
            help="Where bandits are kept: sqlite:///PATH (default: evenhand.db here), "
            "postgresql://... or memory:",
            metavar="URL",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(help="Where to listen (default: 127.0.0.1); others than loopback need keys."),
    ] = None,
    port: Annotated[int | None, typer.Option(help="The port (default: 8321).")] = None,
    config: Annotated[
        Path | None, typer.Option(help="A TOML file with these and other settings.", metavar="FILE")
    ] = None,
) -> None:
    """Serve decisions over HTTP; Ctrl-C or SIGTERM ends it in order."""
    settings = read_config(config, database=database, host=host, port=port)

    def ready(address: str) -> None:
        say(screen, f"evenhand serves {safe_url(settings.database)} at {address}")
        say(screen, f"  dashboard: {address}/   API: {address}/docs   Ctrl-C to stop")

    raise typer.Exit(run(settings, ready))
