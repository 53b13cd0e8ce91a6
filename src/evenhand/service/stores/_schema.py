"""The tables of a database, in the steps by which they came about.

A database's version is the number of steps that it has been through. An older one goes through the
steps that it lacks, in a transaction, when it is opened; a newer one is refused.
"""

from __future__ import annotations

from evenhand.core.checks import fail

STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE bandits (key {serial}, name TEXT NOT NULL UNIQUE, original {bytes} NOT NULL)",
        """CREATE TABLE counters (bandit BIGINT PRIMARY KEY, version BIGINT NOT NULL,
        edition BIGINT NOT NULL, body {bytes} NOT NULL)""",
        """CREATE TABLE editions (bandit BIGINT NOT NULL, number BIGINT NOT NULL,
        body {bytes} NOT NULL, PRIMARY KEY (bandit, number))""",
        """CREATE TABLE log (bandit BIGINT NOT NULL, seq BIGINT NOT NULL, at {real} NOT NULL,
        kind TEXT NOT NULL, decision TEXT NOT NULL, body {bytes} NOT NULL,
        PRIMARY KEY (bandit, seq)) {clustered}""",
        "CREATE INDEX log_by_decision ON log (bandit, decision)",
    ),
    (
        """CREATE TABLE folds (bandit BIGINT PRIMARY KEY, through BIGINT NOT NULL,
        edition BIGINT NOT NULL, counters {bytes} NOT NULL)""",
        "CREATE TABLE deleted (bandit BIGINT PRIMARY KEY)",
        """CREATE TABLE keys (id TEXT PRIMARY KEY, label TEXT NOT NULL, scopes TEXT NOT NULL,
        digest {bytes} NOT NULL, created {real} NOT NULL, revoked {real})""",
    ),
    (
        """CREATE TABLE samples (bandit BIGINT NOT NULL, at BIGINT NOT NULL,
        edition BIGINT NOT NULL, body {bytes} NOT NULL, PRIMARY KEY (bandit, at)) {clustered}""",
    ),
)
VERSION = len(STEPS)


def steps_from(version: int) -> list[str]:
    """Return the statements that lead from a version to the present one; from 0 if there is none.

    >>> steps_from(VERSION)
    []
    """
    if version > VERSION:
        rule = f"of schema version {VERSION} or older, which this release knows"
        fail("database", rule, f"version {version}: a newer release has written it")
    return [statement for step in STEPS[version:] for statement in step]
