"""The least that a decision route can be: Starlette and msgspec, and no decision.

``python -m benchmarks.echo PORT``
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec
import uvicorn
from starlette.routing import Route, Router

from evenhand.service.schemas import DecisionBody, DecisionResponse

Message = MutableMapping[str, Any]
decode = msgspec.json.Decoder(DecisionBody).decode
encode = msgspec.json.Encoder().encode


class Echo:
    """Reads a question and answers with a decision that is always the same."""

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """Answer."""
        message = await receive()
        body = message.get("body", b"")
        while message.get("more_body", False):
            message = await receive()
            body += message.get("body", b"")
        asked = decode(body)
        made = DecisionResponse(asked.id or "19a0000000-00000000", ["arm-1", "arm-2", "arm-3"], 1)
        answer = encode(made)
        headers = [
            (b"content-length", str(len(answer)).encode()),
            (b"content-type", b"application/json"),
        ]
        await send({"type": "http.response.start", "status": 201, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


if __name__ == "__main__":
    router = Router([Route("/echo", Echo())])
    options: dict[str, Any] = {"proxy_headers": False, "server_header": False}
    uvicorn.run(router, port=int(sys.argv[1]), access_log=False, log_level="warning", **options)
