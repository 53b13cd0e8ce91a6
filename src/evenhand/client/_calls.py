"""What both clients say to the service and make of its answers; nothing here waits or sends.

A call may be made again and again: a decision is asked for under an id that the client has chosen,
so that a retry finds the decision and never plays twice.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from evenhand.core.checks import Limits, check_number, check_whole, fail
from evenhand.errors import ServiceError
from evenhand.learner.decision import Decision, Reason

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
NOT_FOUND = 404
# Whether a reward is in [0, 1] the service says.
ANY_NUMBER = Limits(-1e300)


class HttpCall(NamedTuple):
    """A request."""

    method: str
    path: str
    body: dict[str, Any] | None = None
    query: dict[str, Any] | None = None


def headers_of(key: str | None) -> dict[str, str]:
    """Return what every request carries.

    >>> headers_of("eh_1_2"), headers_of(None)
    ({'Authorization': 'Bearer eh_1_2'}, {})
    """
    return {} if key is None else {"Authorization": f"Bearer {key}"}


def bandit_call(method: str, bandit: str, *parts: str, **more: Any) -> HttpCall:
    """Return a call about a bandit.

    >>> bandit_call("GET", "shelf", "arms", "rock/pop").path
    '/v1/bandits/shelf/arms/rock%2Fpop'
    """
    for part in (bandit, *parts):
        if part in (".", ".."):
            fail("name in an address", "no step of it, such as '.' or '..'", part)
    names = "/".join(quote(part, safe="") for part in (bandit, *parts))
    return HttpCall(method, f"/v1/bandits/{names}", **more)


def create_call(
    bandit: str,
    arms: Iterable[str | Mapping[str, Any]],
    plays: int,
    policy: str | Mapping[str, Any] | None,
    feedback: Mapping[str, Any] | None,
) -> HttpCall:
    """Return the call that creates a bandit; an arm may be a name alone."""
    body: dict[str, Any] = {
        "arms": [{"name": arm} if isinstance(arm, str) else dict(arm) for arm in arms],
        "plays": plays,
    }
    if policy is not None:
        body["policy"] = {"name": policy} if isinstance(policy, str) else dict(policy)
    if feedback is not None:
        body["feedback"] = dict(feedback)
    return bandit_call("PUT", bandit, body=body)


def ask_call(bandit: str, awake: Iterable[str] | None, explain: bool, id_: str | None) -> HttpCall:
    """Return the call that asks for a decision, under an id of its own."""
    body: dict[str, Any] = {"id": uuid4().hex if id_ is None else id_}
    if awake is not None:
        body["awake"] = list(awake)
    return bandit_call(
        "POST", bandit, "decisions", body=body, query={"explain": "true"} if explain else None
    )


def decision_of(answer: Mapping[str, Any]) -> Decision:
    """Return the answer to a question for a decision."""
    reasons = tuple(Reason(**reason) for reason in answer.get("reasons") or ())
    return Decision(answer["id"], answer["round"], tuple(answer["chosen"]), reasons)


def id_of(decision: str | Decision) -> str:
    """Return the id of a decision, or raise InputError."""
    id_ = decision.id if isinstance(decision, Decision) else decision
    if not isinstance(id_, str):
        fail("decision", "a Decision of the service, or its id", decision)
    return id_


class Retries:
    """When a call that fails in passing is made again, for as long as patience lasts."""

    def __init__(self, patience: float) -> None:
        self._end, self._pause, self._tried = time.monotonic() + patience, FIRST_PAUSE, False

    def after_failure(self, error: Exception) -> float:
        """Return how long to wait before a retry, or raise ServiceError."""
        if (pause := self._next(0.0)) is None:
            raise ServiceError(f"the service cannot be reached: {error}") from error
        return pause

    def after_answer(self, status: int, headers: Mapping[str, str]) -> float | None:
        """Return how long to wait before a call is made again; None if the answer is final."""
        if not ServiceError("", status).passing:
            return None
        given = headers.get("retry-after", "")
        return self._next(float(given) if given.isdigit() else 0.0)

    def _next(self, least: float) -> float | None:
        """Return the next pause: longer and longer, and not the same for everybody."""
        pause = max(least, self._pause) * random.uniform(1.0, 1.5)
        self._pause, self._tried = min(2.0 * self._pause, LONGEST_PAUSE), True
        return pause if time.monotonic() + pause < self._end else None

    def content(self, status: int, method: str, content: Any) -> Any:
        """Return the content of a final answer, or raise; 404 for a repeated delete is no error."""
        if status < 300:
            return content
        if status == NOT_FOUND and method == "DELETE" and self._tried:
            return None
        problem = content if isinstance(content, dict) else {}
        words = problem.get("detail") or f"the service answered {status}"
        raise ServiceError(words, status, problem)


def parsed(answer: Any) -> Any:
    """Return the content of an answer, lines of JSON as a list; None if there is none."""
    if not answer.content:
        return None
    try:
        if "ndjson" in answer.headers.get("content-type", ""):
            return [json.loads(line) for line in answer.text.splitlines()]
        return answer.json()
    except ValueError:
        return answer.text


class FeedbackBuffer:
    """Feedback that has not been delivered yet, in the order in which it came."""

    def __init__(self, size: int) -> None:
        self._size = check_whole("size of the feedback buffer", size, least=1)
        self._items: list[tuple[str, dict[str, Any]]] = []

    def __len__(self) -> int:
        return len(self._items)

    @property
    def full(self) -> bool:
        """Whether nothing more goes in."""
        return len(self._items) >= self._size

    def add(self, bandit: str, decision: str | Decision, rewards: Mapping[str, float]) -> None:
        """Put feedback in."""
        checked = {
            arm: check_number(f"reward of arm {arm!r}", reward, ANY_NUMBER)
            for arm, reward in rewards.items()
        }
        self._items.append((bandit, {"decision": id_of(decision), "rewards": checked}))

    def first(self, most: int) -> tuple[str, list[dict[str, Any]]]:
        """Return the oldest bandit with feedback, and some of its items, which stay inside."""
        bandit = self._items[0][0]
        items = [item for name, item in self._items if name == bandit]
        return bandit, items[:most]

    def defer(self, items: Sequence[dict[str, Any]]) -> None:
        """Move items to the end, so that others go first."""
        last = {id(item) for item in items}
        self._items.sort(key=lambda pair: id(pair[1]) in last)

    @property
    def items(self) -> list[dict[str, Any]]:
        """What has not been delivered yet, with the names of the bandits."""
        return [{"bandit": bandit, **item} for bandit, item in self._items]

    def remove(self, delivered: Sequence[dict[str, Any]]) -> None:
        """Take out what has been delivered."""
        gone = {id(item) for item in delivered}
        self._items = [pair for pair in self._items if id(pair[1]) not in gone]
