"""Bandits for tests."""

from __future__ import annotations

from evenhand.service._commands import Create
from evenhand.service._edition import first_edition


def create(name, body):
    """Return the command that creates a bandit."""
    return Create(name, body, first_edition(body))
