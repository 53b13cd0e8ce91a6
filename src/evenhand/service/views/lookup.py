"""Bandits as a view of the store has them."""

from __future__ import annotations

from typing import NamedTuple

from evenhand.service.engine.config_version import ConfigVersion
from evenhand.service.engine.counters import Counters, unpacked
from evenhand.service.problems import not_found
from evenhand.service.stores.protocol import BanditHead, View


class StoredBandit(NamedTuple):
    """A bandit as the store has it."""

    key: int
    config: ConfigVersion
    counters: Counters


def find_head(view: View, name: str) -> BanditHead:
    """Return the head of a bandit, or raise that there is none."""
    head = view.find(name)
    if head is None:
        raise not_found("bandit", name)
    return head


def find_bandit(view: View, name: str) -> StoredBandit:
    """Return a bandit, or raise that there is none."""
    head = find_head(view, name)
    config = ConfigVersion.from_bytes(view.config(head.key, head.config_version))
    return StoredBandit(head.key, config, unpacked(view.counters(head.key)))
