"""All bandits at a glance, each looked at again only when something has happened to it."""

from __future__ import annotations

import threading

from evenhand.service._reading import find_bandit
from evenhand.service._state import glance_of
from evenhand.service._views import BanditGlance, Glances
from evenhand.service.stores.protocol import View


class Overview:
    """Remembers the glances at bandits, with the versions that they were taken of."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[tuple[int, int], BanditGlance]] = {}

    def look(self, view: View) -> Glances:
        """Return all bandits at a glance, by name."""
        heads = view.heads()
        with self._lock:
            known = {name: self._known[name] for name in heads if name in self._known}
            for name, head in heads.items():
                if name not in known or known[name][0] != head[:2]:
                    known[name] = head[:2], glance_of(name, find_bandit(view, name))
            self._known = known
            return Glances([known[name][1] for name in sorted(known)])
