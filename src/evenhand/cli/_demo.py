"""``evenhand demo``: the whole system alive, on data that is gone afterwards."""

from __future__ import annotations

import logging
import socket
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from evenhand.cli._screen import say, screen
from evenhand.cli._visitors import SHELVES, Visitors
from evenhand.service import Config
from evenhand.service import serve as run


def demo(
    port: Annotated[
        int | None, typer.Option(help="The port (default: 8321, or another if that is taken).")
    ] = None,
) -> None:
    """Serve a movie shelf to simulated visitors, and say where to watch; Ctrl-C ends it all."""
    visitors: list[Visitors] = []
    # What visitors still had to say when it ends goes with the rest.
    logging.getLogger("evenhand.client").setLevel(logging.CRITICAL)

    def ready(address: str) -> None:
        say(screen, f"evenhand demo: open {address}/ and watch; Ctrl-C to stop")
        visitors.extend(Visitors(address, shelf, seed) for seed, shelf in enumerate(SHELVES))
        for each in visitors:
            each.start()

    with TemporaryDirectory(prefix="evenhand-demo-") as folder:
        database = f"sqlite:///{Path(folder) / 'demo.db'}"
        try:
            code = run(Config(database=database, port=free_port() if port is None else port), ready)
        finally:
            for each in visitors:
                each.stop()
    raise typer.Exit(code)


def free_port() -> int:
    """Return the service's own port if nobody listens there, else 0, which stands for any."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            tried.bind(("127.0.0.1", Config().port))
            return Config().port
    return 0
