"""How a server is set up: a TOML file, and what the command line says over it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from evenhand.core.checks import fail
from evenhand.service.stores import DEFAULT


class Config(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """What a server needs to know.

    Attributes
    ----------
    database, host, port
        Where the bandits are kept, and where the server listens.
    body_bytes
        The largest body of a request.
    waiting
        At most how many requests may wait to be written; more are answered with 429.
    uvicorn
        Options that go to uvicorn as they are: TLS, proxies, log level.
    """

    database: str = DEFAULT
    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8321
    body_bytes: Annotated[int, Meta(ge=1_000, le=1_000_000_000)] = 4_000_000
    waiting: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_000
    uvicorn: dict[str, Any] = {}


def read_config(path: Path | None, **given: Any) -> Config:
    """Return what a file says, and what was given over it where it is not None.

    >>> read_config(None, port=9000).port
    9000
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
        fail("config", "made of known settings with values of their kind", str(error))
