"""From an ASGI request to a handler, and from its response or exception to the client."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qs, unquote_to_bytes

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from evenhand.core.checks import is_name
from evenhand.service.http.live import EventStream
from evenhand.service.http.operations import SAFE_HEADERS, ApiRequest, JsonResponse, Operation
from evenhand.service.http.pools import BodyBudget
from evenhand.service.problems import ProblemError, bad_input, not_found, server_error
from evenhand.service.schemas import BANDIT_NAME

if TYPE_CHECKING:
    from evenhand.service.http.app import Service

PROBLEM_JSON = "application/problem+json"
REQUEST, LARGE_BODY = "http.request", 64_000
MOST_FIELDS = 50
log = logging.getLogger(__name__)


class Endpoint:
    """All methods of one URL, none for an unknown one; every exception becomes a response here.

    An ASGI application of its own: Starlette's Request, its wrapper around functions and its
    exception middleware cost 5% of the decisions per second.
    """

    def __init__(self, service: Service, operations: Mapping[str, Operation]) -> None:
        self._service, self._operations = service, operations
        self._small = min(LARGE_BODY, service.config.body_bytes)

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
        if type(response) is not JsonResponse:
            add_safe_headers(response)
        self._service.metrics.request(name, response.status_code, time.perf_counter() - start)
        if scope["method"] == "HEAD" and isinstance(response, EventStream):
            # A stream would not end by itself.
            response.close()
            response = Response(headers=response.headers)
        await response(scope, receive, send)

    async def _response(
        self, operation: Operation | None, scope: Scope, receive: Receive
    ) -> Response:
        headers, service = dict(scope["headers"]), self._service
        service.auth.check(headers, "" if operation is None else operation.scope)
        if b"%" in scope.get("raw_path", b""):
            check_utf8(scope["raw_path"])
        if not self._operations:
            raise not_found("address", scope["path"])
        if operation is None:
            return self._wrong_method(scope["method"])
        check_names(scope["path_params"], operation.method)
        given = scope["query_string"]
        query = read_query(given) if given else {}
        path, body = scope["path_params"], b""
        if not operation.body:
            return await self._handled(operation, ApiRequest(path, query, body, headers), receive)
        message = await receive()
        body = message.get("body", b"")
        whole = message["type"] == REQUEST and not message.get("more_body", False)
        if whole and len(body) <= self._small:
            return await self._handled(operation, ApiRequest(path, query, body, headers), receive)
        with LargeBody(service.bodies, service.config.body_bytes) as large:
            body = await large.read(message, receive, headers)
            return await self._handled(operation, ApiRequest(path, query, body, headers), receive)

    def _handled(
        self, operation: Operation, request: ApiRequest, receive: Receive
    ) -> Awaitable[Response]:
        """Call the handler; give up reading and computing when the client hangs up."""
        handler = operation.handler(self._service, request)
        return handler if operation.scope != "read" else _unless_hung_up(handler, receive)

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


def read_query(given: bytes) -> dict[str, list[str]]:
    """Return the query parameters of a URL, of which there must not be many."""
    try:
        return parse_qs(given.decode("latin-1"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise bad_input("query", f"of at most {MOST_FIELDS} parameters", "more") from None


def check_utf8(path: bytes) -> None:
    """Raise if the escapes of a URL are not UTF-8: two such URLs would name the same thing."""
    try:
        unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        raise bad_input(
            "path", "UTF-8, with escapes such as %C3%A9", path.decode("latin-1")
        ) from None


async def _unless_hung_up(handler: Awaitable[Response], receive: Receive) -> Response:
    """Wait for a handler; cancel it if the client hangs up."""
    handling, gone = asyncio.ensure_future(handler), asyncio.ensure_future(_hung_up(receive))
    try:
        await asyncio.wait((handling, gone), return_when=asyncio.FIRST_COMPLETED)
        if handling.done():
            return handling.result()
        raise ProblemError(400, "cut-off", "the connection was closed before the answer")
    finally:
        handling.cancel()
        gone.cancel()


async def _hung_up(receive: Receive) -> None:
    """Return when the client hangs up."""
    while (await receive())["type"] == REQUEST:
        pass


class LargeBody:
    """Reads a large body, which counts against a budget as long as the context lasts."""

    def __init__(self, budget: BodyBudget, most: int) -> None:
        self._budget, self._most, self._held = budget, most, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._budget.give_back(self._held)

    async def read(
        self, message: Message, receive: Receive, headers: Mapping[bytes, bytes]
    ) -> bytes:
        """Return the body that begins with a message, or raise that it is too large."""
        length = headers.get(b"content-length", b"0")
        self._check(int(length) if length.isdigit() else 0)
        body = bytearray()
        while True:
            if message["type"] != REQUEST:
                detail = "the connection was closed before the body ended"
                raise ProblemError(400, "cut-off", detail)
            body += message.get("body", b"")
            self._hold(len(body))
            if not message.get("more_body", False):
                return bytes(body)
            message = await receive()

    def _hold(self, size: int) -> None:
        self._check(size)
        if size > LARGE_BODY:
            self._budget.take(size - self._held)
            self._held = size

    def _check(self, size: int) -> None:
        if size > self._most:
            detail = f"the body must have at most {self._most} bytes, got {size}"
            raise ProblemError(413, "too-large", detail)


def add_safe_headers(response: Response) -> None:
    """Forbid browsers to guess types, and caches to store, unless the response says otherwise."""
    given = {name for name, _ in response.raw_headers}
    response.raw_headers += [header for header in SAFE_HEADERS if header[0] not in given]


def problem_response(problem: ProblemError, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response of a problem."""
    more = dict(headers or {})
    if problem.retry_after is not None:
        more["Retry-After"] = str(problem.retry_after)
    if problem.status == 401:
        more["WWW-Authenticate"] = "Bearer"
    return Response(problem.body(), problem.status, more, PROBLEM_JSON)
