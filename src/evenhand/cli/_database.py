"""What the commands that work on a database share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from evenhand.core.checks import fail
from evenhand.service.stores import DEFAULT, Store, Unavailable, open_store, safe_url

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
    except Unavailable as error:
        fail("database", "one that can be reached and written", f"{safe_url(url)}: {error}")
