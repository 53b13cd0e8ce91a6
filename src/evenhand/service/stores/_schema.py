"""The tables of a database, and the migrations that bring older ones to the present version.

A migration is a function that is given what runs statements; it may read, compute and write
whatever it likes. All that a database lacks run in one transaction when it is opened. A database of
a newer release is refused, and so is one from before the first release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from evenhand.core.checks import fail

Run: TypeAlias = Callable[..., Any]
TABLES = (
    "CREATE TABLE bandits (key {serial}, name TEXT NOT NULL UNIQUE, original {bytes} NOT NULL)",
    """CREATE TABLE counters (bandit BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    edition BIGINT NOT NULL, body {bytes} NOT NULL)""",
    """CREATE TABLE editions (bandit BIGINT NOT NULL, number BIGINT NOT NULL,
    body {bytes} NOT NULL, PRIMARY KEY (bandit, number))""",
    """CREATE TABLE log (bandit BIGINT NOT NULL, seq BIGINT NOT NULL, at {real} NOT NULL,
    kind TEXT NOT NULL, decision TEXT NOT NULL, body {bytes} NOT NULL,
    PRIMARY KEY (bandit, seq)) {clustered}""",
    "CREATE INDEX log_by_decision ON log (bandit, decision)",
    """CREATE TABLE folds (bandit BIGINT PRIMARY KEY, through BIGINT NOT NULL,
    edition BIGINT NOT NULL, counters {bytes} NOT NULL)""",
    "CREATE TABLE deleted (bandit BIGINT PRIMARY KEY)",
    """CREATE TABLE keys (id TEXT PRIMARY KEY, label TEXT NOT NULL, scopes TEXT NOT NULL,
    digest {bytes} NOT NULL, created {real} NOT NULL, revoked {real})""",
    """CREATE TABLE samples (bandit BIGINT NOT NULL, at BIGINT NOT NULL,
    edition BIGINT NOT NULL, body {bytes} NOT NULL, PRIMARY KEY (bandit, at)) {clustered}""",
)
VERSION = 4
# From each version since the first release to the next one.
MIGRATIONS: dict[int, Callable[[Run], None]] = {}


def set_up(run: Run, version: int, words: Mapping[str, str]) -> None:
    """Make the tables of a new database, version 0, or bring an older one to this version.

    ``words`` are what the database calls its types.
    """
    if version == 0:
        for statement in TABLES:
            run(statement.format(**words))
        return
    if version > VERSION:
        rule = f"of schema version {VERSION} or older, which this release knows"
        fail("database", rule, f"version {version}: a newer release has written it")
    for step in range(version, VERSION):
        if step not in MIGRATIONS:
            rule = "one that a release of evenhand has written"
            fail("database", rule, f"version {version}, from before the first release")
        MIGRATIONS[step](run)
