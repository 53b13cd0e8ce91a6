"""Bandits for tests."""

from __future__ import annotations

from evenhand.service.engine.commands import CreateBandit
from evenhand.service.engine.config_version import first_config


def create(name, body):
    """Return the command that creates a bandit."""
    return CreateBandit(name, body, first_config(body))
