"""From an ASGI request to a handler, and from its response or exception to the client."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from evenhand.core.checks import is_name
from evenhand.service.http.operations import ApiRequest, Operation
from evenhand.service.problems import ProblemError, not_found, server_error
from evenhand.service.schemas import BANDIT_NAME

if TYPE_CHECKING:
    from evenhand.service.http.app import Service

PROBLEM_JSON = "application/problem+json"
log = logging.getLogger(__name__)


class Endpoint:
    """All methods of one URL, none for an unknown one; every exception becomes a response here.

    An ASGI application of its own: Starlette's Request, its wrapper around functions and its
    exception middleware cost 5% of the decisions per second.
    """

    def __init__(self, service: Service, operations: Mapping[str, Operation]) -> None:
        self._service, self._operations = service, operations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Authenticate, read the body, call the handler, and send its response."""
        start, operation = time.perf_counter(), self._operations.get(scope["method"])
        try:
            response = await self._response(operation, scope, receive)
        except ProblemError as problem:
            response = problem_response(problem)
        except asyncio.CancelledError:
            detail = "the server is stopping; a retry with the same id tells whether it was done"
            response = problem_response(ProblemError(503, "unavailable", detail))
            await response(scope, receive, send)
            raise
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            response = problem_response(server_error())
        name = "none" if operation is None else operation.handler.__name__
        self._service.metrics.request(name, response.status_code, time.perf_counter() - start)
        if scope["method"] == "HEAD" and isinstance(response, StreamingResponse):
            # A stream would not end by itself.
            response = Response(headers=response.headers)
        await response(scope, receive, send)

    async def _response(
        self, operation: Operation | None, scope: Scope, receive: Receive
    ) -> Response:
        headers = dict(scope["headers"])
        self._service.auth.check(headers, "" if operation is None else operation.scope)
        if not self._operations:
            raise not_found("address", scope["path"])
        if operation is None:
            return self._wrong_method(scope["method"])
        check_names(scope["path_params"], operation.method)
        body = await read_body(receive, headers, self._service.config.body_bytes)
        given = scope["query_string"]
        query = parse_qs(given.decode("latin-1"), keep_blank_values=True) if given else {}
        request = ApiRequest(scope["path_params"], query, body, headers)
        return await operation.handler(self._service, request)

    def _wrong_method(self, method: str) -> Response:
        allowed = ", ".join(sorted(self._operations))
        problem = ProblemError(405, "method", f"method must be one of {allowed}, got {method}")
        return problem_response(problem, {"Allow": allowed})


def make_routes(service: Service, operations: Sequence[Operation]) -> list[Route]:
    """Return a route for each URL, in the order of the operations."""
    methods: dict[str, dict[str, Operation]] = {}
    for operation in operations:
        methods.setdefault(operation.path, {})[operation.method] = operation
        if operation.method == "GET":
            methods[operation.path]["HEAD"] = operation
    return [Route(_pattern(path), Endpoint(service, own)) for path, own in methods.items()]


def _pattern(path: str) -> str:
    """Return the pattern of a URL; a name at its end may contain slashes."""
    last = path.endswith("}") and not path.endswith("{name}")
    return f"{path[:-1]}:path}}" if last else path


def check_names(names: Mapping[str, str], method: str) -> None:
    """Raise that a name does not exist, if nothing can have it; stores never see such a name."""
    if method != "PUT":
        for thing, name in names.items():
            if not (BANDIT_NAME.fullmatch(name) if thing == "name" else is_name(name)):
                raise not_found("bandit" if thing == "name" else thing, name)


async def read_body(receive: Receive, headers: Mapping[bytes, bytes], most: int) -> bytes:
    """Return the body of a request, or raise that it is too large."""
    length = headers.get(b"content-length", b"0")
    size = int(length) if length.isdigit() else 0
    body, more = b"", size <= most
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ProblemError(400, "cut-off", "the connection was closed before the body ended")
        body += message.get("body", b"")
        size = max(size, len(body))
        more = message.get("more_body", False) and size <= most
    if size > most:
        detail = f"the body must have at most {most} bytes, got {size}"
        raise ProblemError(413, "too-large", detail)
    return body


def problem_response(problem: ProblemError, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response of a problem."""
    more = dict(headers or {})
    if problem.retry_after is not None:
        more["Retry-After"] = str(problem.retry_after)
    if problem.status == 401:
        more["WWW-Authenticate"] = "Bearer"
    return Response(problem.body(), problem.status, more, PROBLEM_JSON)
