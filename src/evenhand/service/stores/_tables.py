"""The tables of an SQL store, and the migrations from older versions.

A migration is a function of ``run``, which executes a statement. It may read, compute and write.
All migrations that a database lacks run in one transaction when it is opened. A database of a newer
release is refused, and so is one from before the first release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from evenhand.core.checks import fail

Run: TypeAlias = Callable[..., Any]
TABLES = (
    "CREATE TABLE bandits (key {serial}, name TEXT NOT NULL UNIQUE, original {bytes} NOT NULL)",
    """CREATE TABLE counters (bandit BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    config_version BIGINT NOT NULL, body {bytes} NOT NULL)""",
    """CREATE TABLE configs (bandit BIGINT NOT NULL, number BIGINT NOT NULL,
    body {bytes} NOT NULL, PRIMARY KEY (bandit, number))""",
    """CREATE TABLE log (bandit BIGINT NOT NULL, seq BIGINT NOT NULL, at {real} NOT NULL,
    kind TEXT NOT NULL, decision TEXT NOT NULL, body {bytes} NOT NULL,
    digest TEXT NOT NULL DEFAULT '', PRIMARY KEY (bandit, seq)) {clustered}""",
    "CREATE INDEX log_by_decision ON log (bandit, decision)",
    """CREATE TABLE compactions (bandit BIGINT PRIMARY KEY, through BIGINT NOT NULL,
    config_version BIGINT NOT NULL, counters {bytes} NOT NULL, kept TEXT NOT NULL DEFAULT '')""",
    "CREATE TABLE deleted (bandit BIGINT PRIMARY KEY)",
    """CREATE TABLE keys (id TEXT PRIMARY KEY, label TEXT NOT NULL, scopes TEXT NOT NULL,
    digest {bytes} NOT NULL, created {real} NOT NULL, revoked {real})""",
    """CREATE TABLE history (bandit BIGINT NOT NULL, at BIGINT NOT NULL,
    config_version BIGINT NOT NULL, body {bytes} NOT NULL, PRIMARY KEY (bandit, at)) {clustered}""",
)
VERSION = 6


def use_plain_names(run: Run) -> None:
    """Rename tables and columns: editions are configurations, folds compactions."""
    for old, new in (("editions", "configs"), ("folds", "compactions"), ("samples", "history")):
        run(f"ALTER TABLE {old} RENAME TO {new}")
    for table in ("counters", "compactions", "history"):
        run(f"ALTER TABLE {table} RENAME COLUMN edition TO config_version")


def add_digests(run: Run) -> None:
    """Add the columns of the digests; those of older rows stay empty."""
    run("ALTER TABLE log ADD COLUMN digest TEXT NOT NULL DEFAULT ''")
    run("ALTER TABLE compactions ADD COLUMN kept TEXT NOT NULL DEFAULT ''")


# From each released version to the next one.
MIGRATIONS: dict[int, Callable[[Run], None]] = {4: use_plain_names, 5: add_digests}


def set_up(run: Run, version: int, words: Mapping[str, str]) -> None:
    """Create the tables of a new database (version 0), or migrate an older one.

    ``words`` are the database's names of the column types.
    """
    if version == 0:
        for statement in TABLES:
            run(statement.format(**words))
        return
    if version > VERSION:
        rule = f"of schema version {VERSION} or older, which this release knows"
        fail("database", rule, f"version {version}, written by a newer release")
    for step in range(version, VERSION):
        if step not in MIGRATIONS:
            rule = "written by a release of evenhand"
            fail("database", rule, f"version {version}, from before the first release")
        MIGRATIONS[step](run)
