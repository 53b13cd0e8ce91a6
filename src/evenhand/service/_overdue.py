"""Which bandits have decisions on which feedback is overdue."""

from __future__ import annotations

import math
import time

from evenhand.service._counters import unpacked
from evenhand.service._edition import Edition
from evenhand.service.stores import Store
from evenhand.service.stores.protocol import Head, View


class Overdue:
    """Looks for bandits whose oldest decision that has not been looked at has waited too long.

    A bandit is not looked at before its next decision can be due.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due: dict[tuple[int, int], float] = {}

    def names(self) -> list[str]:
        """Return the names of such bandits."""
        now = time.time()
        with self._store.view() as view:
            heads = view.heads()
            known = {(head.key, head.edition) for head in heads.values()}
            self._due = {key: due for key, due in self._due.items() if key in known}
            return [name for name, head in heads.items() if self._is_due(view, head, now)]

    def _is_due(self, view: View, head: Head, now: float) -> bool:
        """Say whether the next event to be looked at, decision or not, is old enough."""
        known = (head.key, head.edition)
        if now < self._due.get(known, 0.0):
            return False
        limit = Edition.from_bytes(view.edition(*known)).feedback.timeout_seconds
        if limit is None:
            self._due[known] = math.inf
            return False
        totals = unpacked(view.counters(head.key)).totals
        following = view.events(head.key, int(totals.checked[0]), 1)
        self._due[known] = min((event.at for event in following), default=now) + limit
        return self._due[known] <= now
