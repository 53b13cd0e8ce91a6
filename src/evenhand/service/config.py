"""The settings of a server: a TOML file, and options of the command line over it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from evenhand.core.checks import fail
from evenhand.service.stores import DEFAULT
from evenhand.service.validation import field_name, first_violation


class Config(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The settings of a server.

    Attributes
    ----------
    database, host, port
        The URL of the database, and the address to listen on.
    body_bytes
        The largest body of a request.
    waiting
        How many requests may wait to be written; more are answered with 429.
    connections
        How many connections may be open; beyond that, those that send their request slowest are
        closed.
    uvicorn
        Options of uvicorn: TLS, proxies, log level.
    """

    database: str = DEFAULT
    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8321
    body_bytes: Annotated[int, Meta(ge=1_000, le=1_000_000_000)] = 4_000_000
    waiting: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_000
    connections: Annotated[int, Meta(ge=10, le=100_000)] = 1_000
    uvicorn: dict[str, Any] = {}


def read_config(path: Path | None, **given: Any) -> Config:
    """Return the settings of a file, overridden by the given ones that are not None.

    >>> read_config(None, port=9000).port
    9000
    >>> read_config(None, port=99999)
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: port must be a whole number <= 65535, got 99999
    """
    document: dict[str, Any] = {}
    if path is not None:
        try:
            document = tomllib.loads(path.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            fail(f"config {path.name}", "a TOML file", str(error))
    document.update({name: value for name, value in given.items() if value is not None})
    try:
        return msgspec.convert(document, Config)
    except msgspec.ValidationError as error:
        found = first_violation(document, Config)
        if found is None:
            fail("config", "made of known settings", str(error))
        typed = given.get(str(found.path[0])) is not None
        where = "" if typed or path is None else f" of config {path.name}"
        fail(f"{field_name(found.path)}{where}", found.rule, found.value)
