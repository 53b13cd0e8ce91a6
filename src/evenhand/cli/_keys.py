"""``evenhand db keys``: who may use the service."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from evenhand.cli._db import DEFAULT, Database, opened
from evenhand.cli._screen import errors, print_table, say, screen
from evenhand.service.keys import new_key, revoke_key, store_key

app = typer.Typer(
    name="keys",
    help="Make, list and revoke the keys that open the service.",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.command()
def create(
    label: Annotated[str, typer.Argument(help="Whose key it is; for people.")],
    scope: Annotated[
        list[str],
        typer.Option(
            help="What it opens: decide, read or admin (which opens all); may be repeated."
        ),
    ],
    database: Database = DEFAULT,
) -> None:
    """Make a key and print it: it cannot be had again."""
    secret, key = new_key(label, scope)
    with opened(database, must_exist=False) as store:
        store_key(store, key)
    say(screen, secret)
    say(errors, "keep it: of this key only a digest is stored")


@app.command("list")
def list_(database: Database = DEFAULT) -> None:
    """List the keys, without their secrets."""
    table = Table("id", "label", "scopes", "created", "revoked", box=None, pad_edge=False)
    with opened(database) as store, store.view() as view:
        for key in view.all_keys():
            revoked = "" if key.revoked is None else _moment(key.revoked)
            table.add_row(key.id, key.label, ", ".join(key.scopes), _moment(key.created), revoked)
    print_table(table)


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(help="Its id, as 'evenhand db keys list' shows it.")],
    database: Database = DEFAULT,
) -> None:
    """Revoke a key; servers notice within a second or two."""
    with opened(database) as store:
        revoked = revoke_key(store, key)
    say(screen, f"revoked {revoked.id} ({revoked.label})")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
