"""``evenhand compact``: fold old events into the counters."""

from __future__ import annotations

from typing import Annotated

import typer

from evenhand.cli._database import DEFAULT, Database, opened
from evenhand.cli._screen import say, screen
from evenhand.service.compaction import compact as fold

DAY_SECONDS = 86_400.0


def compact(
    older_than: Annotated[
        float, typer.Option(min=0.0, help="How many days old an event must be to be folded.")
    ],
    database: Database = DEFAULT,
) -> None:
    """Drop the details of old decisions that await nothing; counters and ids stay."""
    with opened(database) as store:
        with store.view() as view:
            names = view.names()
        for name in names:
            folded = fold(store, name, older_than * DAY_SECONDS)
            say(screen, f"{name}: {folded:,} decisions folded")
