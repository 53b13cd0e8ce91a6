"""A client for programs with an event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

from evenhand.client import _calls as calls
from evenhand.client._delivery import FeedbackSender
from evenhand.core.extras import load
from evenhand.errors import ServiceError
from evenhand.learner.decision import Decision

log = logging.getLogger(__name__)


class AsyncClient(FeedbackSender):
    """Asks the service for decisions and tells it what they returned; as :class:`Client` does.

    Parameters
    ----------
    url, key, timeout, patience, buffer
        See :class:`Client`.

    Examples
    --------
    With ``evenhand serve`` running::

        async with AsyncClient("http://127.0.0.1:8321") as client:
            decision = await client.ask("shelf")
            await client.tell("shelf", decision, dict.fromkeys(decision.chosen, 1.0))
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
        self._http = self._httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout)
        self._changed = asyncio.Condition()
        self._sender: asyncio.Task[None] | None = None

    async def create(
        self,
        bandit: str,
        arms: Iterable[str | Mapping[str, Any]],
        plays: int,
        *,
        policy: str | Mapping[str, Any] | None = None,
        feedback: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        made: dict[str, Any] = await self._made(
            calls.create_call(bandit, arms, plays, policy, feedback)
        )
        return made

    async def ask(
        self,
        bandit: str,
        awake: Iterable[str] | None = None,
        *,
        explain: bool = False,
        id: str | None = None,  # noqa: A002  (what the service calls it)
    ) -> Decision:
        return calls.decision_of(await self._made(calls.ask_call(bandit, awake, explain, id)))

    async def tell(
        self, bandit: str, decision: str | Decision, rewards: Mapping[str, float]
    ) -> None:
        async with self._changed:
            if not await self._wait_for(self._may_tell, self._patience):
                raise ServiceError("the feedback buffer is full, and the service does not answer")
            if self._closing:
                raise ServiceError("the client is closed")
            self._delivery.buffer.add(bandit, decision, rewards)
            if self._sender is None:
                self._sender = asyncio.create_task(self._deliver())
            self._changed.notify_all()

    async def tell_now(
        self, bandit: str, decision: str | Decision, rewards: Mapping[str, float]
    ) -> dict[str, Any]:
        body = {"decision": calls.id_of(decision), "rewards": dict(rewards)}
        answer = await self._made(calls.bandit_call("POST", bandit, "feedback", body=body))
        result: dict[str, Any] = answer["results"][0]
        return result

    async def flush(self, timeout: float | None = None) -> None:
        async with self._changed:
            if not await self._wait_for(lambda: not len(self._delivery.buffer), timeout):
                left = len(self._delivery.buffer)
                raise ServiceError(f"{left} items of feedback have not been delivered yet")

    async def cancel(self, bandit: str, decision: str | Decision) -> None:
        await self._made(calls.bandit_call("DELETE", bandit, "decisions", calls.id_of(decision)))

    async def state(self, bandit: str) -> dict[str, Any]:
        return dict(await self._made(calls.bandit_call("GET", bandit, "state")))

    async def bandits(self) -> list[str]:
        return list((await self._made(calls.HttpCall("GET", "/v1/bandits")))["bandits"])

    async def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return await self._made(calls.HttpCall(method, path, body))

    async def close(self) -> None:
        try:
            await self.flush(self._patience)
        except ServiceError as error:
            log.error("closed: %s", error)
        self._closing = True
        if self._sender is not None:
            async with self._changed:
                self._changed.notify_all()
            await self._sender
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _made(self, call: calls.HttpCall) -> Any:
        """Make a call, again and again while it fails in passing and patience lasts."""
        attempts = calls.Retries(self._patience)
        while True:
            try:
                answer = await self._http.request(
                    call.method, call.path, json=call.body, params=call.query
                )
            except self._httpx.TransportError as error:
                await asyncio.sleep(attempts.after_failure(error))
                continue
            pause = attempts.after_answer(answer.status_code, answer.headers)
            if pause is None:
                return attempts.content(answer.status_code, call.method, calls.parsed(answer))
            await asyncio.sleep(pause)

    async def _deliver(self) -> None:
        """Deliver feedback as long as there is any; what fails in passing is tried for ever."""
        while not self._closing:
            async with self._changed:
                await self._wait_for(lambda: len(self._delivery.buffer) > 0 or self._closing, None)
                if not len(self._delivery.buffer):
                    continue
                call, items = self._delivery.next_call()
            try:
                answer, error = await self._made(call), None
            except Exception as found:
                answer, error = None, found
            async with self._changed:
                if self._delivery.settled(items, answer, error):
                    self._changed.notify_all()
                else:
                    await self._wait_for(lambda: self._closing, 1.0)

    async def _wait_for(self, truth: Callable[[], bool], timeout: float | None) -> bool:
        """Wait until something is so, or time is up; say whether it is."""
        try:
            await asyncio.wait_for(self._changed.wait_for(truth), timeout)
        except TimeoutError:
            return truth()
        return True
