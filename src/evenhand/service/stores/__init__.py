"""Where bandits are kept: one protocol, and a file for each kind of store."""

from __future__ import annotations

import re
from pathlib import Path

from evenhand.core.checks import fail
from evenhand.service.stores._memory import Memory
from evenhand.service.stores._postgres import Postgres
from evenhand.service.stores._sqlite import Sqlite
from evenhand.service.stores.protocol import Full, Store, Unavailable

__all__ = ["DEFAULT", "Full", "Store", "Unavailable", "open_store", "safe_url"]

DEFAULT = "sqlite:///evenhand.db"


def open_store(url: str = DEFAULT, *, must_exist: bool = False) -> Store:
    """Open the store that an address stands for.

    Parameters
    ----------
    url
        ``sqlite:///PATH`` (relative to the working folder, or absolute with a fourth slash),
        ``postgresql://...`` as libpq has it, or ``memory:`` for one that keeps nothing.
    must_exist
        Whether it must be a database of evenhand's already.
    """
    if url == "memory:":
        return Memory()
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        path = Path(url.removeprefix("sqlite:///"))
        if must_exist and not path.is_file():
            fail("database", "an SQLite file that is there", path)
        return Sqlite(path)
    if not url.startswith(("postgresql://", "postgres://")):
        fail("database", "sqlite:///PATH, postgresql://... or memory:", url)
    return Postgres(url, must_exist=must_exist)


def safe_url(url: str) -> str:
    """Return a database's address without its password.

    >>> safe_url("postgresql://app:secret@db/even?password=secret&sslmode=require")
    'postgresql://app:***@db/even?password=***&sslmode=require'
    """
    scheme, slashes, rest = url.partition("//")
    login, at, place = rest.rpartition("@")
    user, colon, _ = login.partition(":")
    shown = re.sub(r"(password=)[^&]*", r"\1***", place)
    return f"{scheme}{slashes}{user}{colon and ':***'}{at}{shown}"
