"""What became of feedback that was delivered in the background."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.client._calls import FeedbackBuffer, HttpCall, bandit_call
from evenhand.errors import ServiceError

MOST_ITEMS = 500
SERVER_ERROR = 500
# It could not even be written as JSON.
UNSENT = -1
# No JSON, too large, or not as the API describes it.
UNREAD = frozenset({400, 413, 422})
# A key may be put right while feedback waits.
LOCKED_OUT = frozenset({401, 403})
KEPT = 100
REFUSED = frozenset({"conflict", "invalid", "unknown"})
log = logging.getLogger(__name__)


class Delivery:
    """Feedback on its way: what is to be sent next, and what the service said of the rest.

    Attributes
    ----------
    outcomes
        How many items were applied, duplicates, and so on.
    refused
        The latest items that the service could not use, with what it said of them.
    """

    def __init__(self, size: int) -> None:
        self.buffer, self._most = FeedbackBuffer(size), MOST_ITEMS
        self.outcomes: Counter[str] = Counter()
        self.refused: deque[dict[str, Any]] = deque(maxlen=KEPT)

    def next_call(self) -> tuple[HttpCall, list[dict[str, Any]]]:
        """Return the call that delivers the oldest items."""
        bandit, items = self.buffer.first(self._most)
        return bandit_call("POST", bandit, "feedback", body={"items": items}), items

    def settled(
        self, items: Sequence[dict[str, Any]], answer: Any, error: Exception | None
    ) -> bool:
        """Note what became of items; False if they are to be sent again in a while."""
        if error is None and _understood(answer):
            self.buffer.remove(items)
            self._most = min(2 * self._most, MOST_ITEMS)
            for result in answer["results"]:
                self.outcomes[result["outcome"]] += 1
                if result["outcome"] in REFUSED:
                    self._refuse(result)
            return True
        status = error.status if isinstance(error, ServiceError) else UNSENT
        if (status in (SERVER_ERROR, UNSENT) or status in UNREAD) and len(items) > 1:
            # One of them may spoil the others.
            self._most = len(items) // 2
            return True
        if isinstance(error, ServiceError) and (error.passing or status in LOCKED_OUT):
            log.warning("feedback cannot be delivered now, and is kept: %s", error)
            if status == SERVER_ERROR:
                self.buffer.defer(items)
            return False
        self.buffer.remove(items)
        for item in items:
            self.outcomes["refused"] += 1
            self._refuse({**item, "detail": str(error or f"no answer of the service's: {answer}")})
        return True

    def _refuse(self, result: dict[str, Any]) -> None:
        self.refused.append(result)
        log.warning("feedback was not used: %s", result)


class FeedbackSender:
    """What both clients know of feedback that is under way."""

    def __init__(self, patience: float, buffer: int) -> None:
        self._patience, self._delivery, self._closing = patience, Delivery(buffer), False

    @property
    def outcomes(self) -> Mapping[str, int]:
        """How many items of feedback were applied, duplicates, and so on."""
        return self._delivery.outcomes

    @property
    def refused(self) -> list[dict[str, Any]]:
        """The latest items of feedback that the service could not use, and why."""
        return list(self._delivery.refused)

    @property
    def undelivered(self) -> list[dict[str, Any]]:
        """The items of feedback that have not been delivered yet, and their bandits."""
        return self._delivery.buffer.items

    def _may_tell(self) -> bool:
        """Say whether there is room for more, or nothing more to come."""
        return self._closing or not self._delivery.buffer.full


def _understood(answer: Any) -> bool:
    """Say whether an answer is one of the service's, not of something in between."""
    return isinstance(answer, dict) and isinstance(answer.get("results"), list)
