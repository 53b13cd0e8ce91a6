"""Stores: one protocol, a file for each kind of database, and a registry of URL schemes.

A store outside of this package is registered by an entry point of the group ``evenhand.stores``,
whose name is the URL scheme. It is a function ``open(url, *, must_exist)`` that returns a
:class:`Store`; ``evenhand.testing.check_store`` checks one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeAlias

from evenhand.core.checks import check_known, fail
from evenhand.service.stores._postgres import PostgresStore
from evenhand.service.stores._sqlite import SqliteStore
from evenhand.service.stores.protocol import Store, StoreFull, StoreUnavailable

__all__ = ["DEFAULT", "Store", "StoreFull", "StoreUnavailable", "open_store", "safe_url"]

DEFAULT = "sqlite:///evenhand.db"
GROUP = "evenhand.stores"
Opener: TypeAlias = Callable[..., Store]


def open_store(url: str = DEFAULT, *, must_exist: bool = False) -> Store:
    """Open the store of a URL.

    Parameters
    ----------
    url
        ``sqlite:///PATH`` (relative to the working folder, or absolute with a fourth slash),
        ``postgresql://...`` as libpq defines it, ``memory:`` for one that ends with the process, or
        the scheme of a registered store.
    must_exist
        Whether it must be a database of evenhand already.
    """
    scheme, colon, _ = url.partition(":")
    if not colon:
        fail("database", "a URL: sqlite:///PATH, postgresql://... or memory:", url)
    others = {point.name: point for point in entry_points(group=GROUP)}
    check_known("scheme of a database", [scheme], {**STORES, **others})
    opener: Opener = STORES[scheme] if scheme in STORES else others[scheme].load()
    return opener(url, must_exist=must_exist)


def _open_memory(url: str, *, must_exist: bool) -> Store:
    return SqliteStore(None)


def _open_sqlite(url: str, *, must_exist: bool) -> Store:
    path = Path(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or path == Path():
        fail("database", "sqlite:///PATH", url)
    if must_exist and not path.is_file():
        fail("database", "an existing SQLite file", str(path))
    return SqliteStore(path)


STORES: Mapping[str, Opener] = {
    "memory": _open_memory,
    "postgres": PostgresStore,
    "postgresql": PostgresStore,
    "sqlite": _open_sqlite,
}


def safe_url(url: str) -> str:
    """Return a database's URL without its password.

    >>> safe_url("postgresql://app:secret@db/even?password=secret&sslmode=require")
    'postgresql://app:***@db/even?password=***&sslmode=require'
    """
    scheme, slashes, rest = url.partition("//")
    login, at, place = rest.rpartition("@")
    user, colon, _ = login.partition(":")
    shown = re.sub(r"(password=)[^&]*", r"\1***", place)
    return f"{scheme}{slashes}{user}{colon and ':***'}{at}{shown}"
