"""Bandits as a view of the store has them."""

from __future__ import annotations

from typing import NamedTuple

from evenhand.service.engine.config_version import ConfigVersion, serving_policy
from evenhand.service.engine.counters import Counters, unpacked
from evenhand.service.problems import not_found, unreadable
from evenhand.service.stores.protocol import BanditHead, StoreUnavailable, View


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
    """Return a bandit, or raise that there is none, or that it cannot be read."""
    head = find_head(view, name)
    try:
        config = ConfigVersion.from_bytes(view.config(head.key, head.config_version))
        serving_policy(config.policy)
        return StoredBandit(head.key, config, unpacked(view.counters(head.key)))
    except StoreUnavailable:
        raise
    except Exception as error:  # whatever a damaged row, or a policy that is gone, may lead to
        raise unreadable(name, error) from error
