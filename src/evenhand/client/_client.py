"""A client for programs with threads."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

from evenhand.client import _calls as calls
from evenhand.client._delivery import FeedbackSender
from evenhand.core.extras import load
from evenhand.errors import ServiceError
from evenhand.learner.decision import Decision

log = logging.getLogger(__name__)


class Client(FeedbackSender):
    """Asks the service for decisions and tells it what they returned; for any number of threads.

    What fails in passing (no server, no database, too many requests) is tried again for as long as
    ``patience`` allows. Feedback is delivered in the background, in batches, and waits while the
    service is away.

    Parameters
    ----------
    url
        Where the service is.
    key
        An API key, if the service wants one.
    timeout
        How many seconds one request may take.
    patience
        For how many seconds a call is tried again.
    buffer
        How many items of feedback may wait; a full buffer holds up :meth:`tell`.

    Examples
    --------
    With ``evenhand serve`` running::

        with Client("http://127.0.0.1:8321") as client:
            client.create("shelf", [{"name": "news", "floor": 0.3}, "arts"], plays=1)
            decision = client.ask("shelf")
            client.tell("shelf", decision, dict.fromkeys(decision.chosen, 1.0))
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8321",
        *,
        key: str | None = None,
        timeout: float = 10.0,
        patience: float = 30.0,
        buffer: int = 10_000,
    ) -> None:
        super().__init__(patience, buffer)
        self._httpx, headers = load("httpx"), calls.headers_of(key)
        self._http = self._httpx.Client(base_url=url, headers=headers, timeout=timeout)
        self._changed = threading.Condition()
        self._sender: threading.Thread | None = None

    def create(
        self,
        bandit: str,
        arms: Iterable[str | Mapping[str, Any]],
        plays: int,
        *,
        policy: str | Mapping[str, Any] | None = None,
        feedback: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Create a bandit, or find that it is there as it should be."""
        return dict(self._made(calls.create_call(bandit, arms, plays, policy, feedback)))

    def ask(
        self,
        bandit: str,
        awake: Iterable[str] | None = None,
        *,
        explain: bool = False,
        id: str | None = None,  # noqa: A002  (what the service calls it)
    ) -> Decision:
        """Ask which of the awake arms to play; left out, all that are not paused are awake."""
        return calls.decision_of(self._made(calls.ask_call(bandit, awake, explain, id)))

    def tell(self, bandit: str, decision: str | Decision, rewards: Mapping[str, float]) -> None:
        """Tell what arms of a decision returned; it will be delivered, see :meth:`flush`."""
        with self._changed:
            if not self._changed.wait_for(self._may_tell, self._patience):
                raise ServiceError("the feedback buffer is full, and the service does not answer")
            if self._closing:
                raise ServiceError("the client is closed")
            self._delivery.buffer.add(bandit, decision, rewards)
            if self._sender is None:
                self._sender = threading.Thread(target=self._deliver, daemon=True)
                self._sender.start()
            self._changed.notify_all()

    def tell_now(
        self, bandit: str, decision: str | Decision, rewards: Mapping[str, float]
    ) -> dict[str, Any]:
        """Tell what arms of a decision returned, and wait for what becomes of it."""
        body = {"decision": calls.id_of(decision), "rewards": dict(rewards)}
        answer = self._made(calls.bandit_call("POST", bandit, "feedback", body=body))
        result: dict[str, Any] = answer["results"][0]
        return result

    def flush(self, timeout: float | None = None) -> None:
        """Wait until all feedback has been delivered.

        Raises
        ------
        ServiceError
            If it was not delivered in time; it stays in the buffer.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: not len(self._delivery.buffer), timeout):
                left = len(self._delivery.buffer)
                raise ServiceError(f"{left} items of feedback have not been delivered yet")

    def cancel(self, bandit: str, decision: str | Decision) -> None:
        """Take back a decision that was never shown."""
        self._made(calls.bandit_call("DELETE", bandit, "decisions", calls.id_of(decision)))

    def state(self, bandit: str) -> dict[str, Any]:
        """Return how a bandit fares."""
        return dict(self._made(calls.bandit_call("GET", bandit, "state")))

    def bandits(self) -> list[str]:
        """Return the names of all bandits."""
        return list(self._made(calls.HttpCall("GET", "/v1/bandits"))["bandits"])

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Make any other call of the API, as ``/docs`` of the service describes it."""
        return self._made(calls.HttpCall(method, path, body))

    def close(self) -> None:
        """Deliver what can be delivered, and close the connections."""
        try:
            self.flush(self._patience)
        except ServiceError as error:
            log.error("closed: %s", error)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._sender is not None:
            self._sender.join()
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _made(self, call: calls.HttpCall) -> Any:
        """Make a call, again and again while it fails in passing and patience lasts."""
        attempts = calls.Retries(self._patience)
        while True:
            try:
                answer = self._http.request(
                    call.method, call.path, json=call.body, params=call.query
                )
            except self._httpx.TransportError as error:
                time.sleep(attempts.after_failure(error))
                continue
            pause = attempts.after_answer(answer.status_code, answer.headers)
            if pause is None:
                return attempts.content(answer.status_code, call.method, calls.parsed(answer))
            time.sleep(pause)

    def _deliver(self) -> None:
        """Deliver feedback as long as there is any; what fails in passing is tried for ever."""
        while not self._closing:
            with self._changed:
                self._changed.wait_for(lambda: len(self._delivery.buffer) > 0 or self._closing)
                if not len(self._delivery.buffer):
                    continue
                call, items = self._delivery.next_call()
            try:
                answer, error = self._made(call), None
            except Exception as found:
                answer, error = None, found
            with self._changed:
                if self._delivery.settled(items, answer, error):
                    self._changed.notify_all()
                else:
                    self._changed.wait_for(lambda: self._closing, 1.0)
