"""An operation of the API: one method of one URL. Routes and documentation are made from these."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
from starlette.responses import Response

from evenhand.service.problems import bad_input

if TYPE_CHECKING:
    from evenhand.service.http.app import Service

JSON = "application/json"
# Browsers must not guess types, and caches must not store.
SAFE_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
JSON_HEADERS = ((b"content-type", JSON.encode()), *SAFE_HEADERS)
encode = msgspec.json.Encoder().encode


class ApiRequest(NamedTuple):
    """A request: the parameters of its URL, its body and its headers."""

    path: Mapping[str, Any]
    query: Mapping[str, list[str]]
    body: bytes
    headers: Mapping[bytes, bytes]

    def one(self, name: str, default: str) -> str:
        """Return a query parameter: the last, if there are several."""
        return self.query.get(name, [default])[-1]

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """Return a query parameter that is one of some words, by default the first."""
        given = self.one(name, choices[0])
        if given not in choices:
            raise bad_input(name, f"one of {', '.join(choices)}", given)
        return given

    def flag(self, name: str) -> bool:
        """Return a query parameter that is true or false."""
        given = self.one(name, "false")
        if given not in ("true", "false"):
            raise bad_input(name, "true or false", given)
        return given == "true"

    def whole(self, name: str, default: int, most: int, least: int = 0) -> int:
        """Return a query parameter that is a whole number within limits."""
        if name not in self.query:
            return default
        given = self.one(name, "")
        if given.isascii() and given.isdigit() and len(given) < 20 and least <= int(given) <= most:
            return int(given)
        raise bad_input(name, f"a whole number from {least} to {most}", given)


class JsonResponse(Response):
    """A response with a JSON body; its headers are complete, and not computed anew each time."""

    def __init__(self, body: bytes, status: int) -> None:
        self.body, self.status_code, self.background = body, status, None
        self.raw_headers = [(b"content-length", b"%d" % len(body)), *JSON_HEADERS]


def json_response(body: Any, status: int = 200) -> Response:
    """Return a response with a JSON body; without a body for None."""
    return Response(status_code=status) if body is None else JsonResponse(encode(body), status)


Handler: TypeAlias = "Callable[[Service, ApiRequest], Awaitable[Response]]"


@dataclass(frozen=True)
class Operation:
    """One method of one URL.

    Attributes
    ----------
    method, path
        The HTTP method, and the URL with its parameters in braces.
    scope
        The scope that an API key must have; "" for none.
    handler
        The function; its docstring is the summary.
    answers
        The type of the body for each status, but for the common ones.
    body
        The types that the body of the request may have.
    query
        The query parameters: JSON schema and description.
    listed
        Whether it is part of the API; if not, it serves a page.
    """

    method: str
    path: str
    scope: str
    handler: Handler
    answers: Mapping[int, Any]
    body: tuple[Any, ...] = ()
    query: Mapping[str, tuple[Mapping[str, Any], str]] = field(default_factory=dict)
    media_type: str = JSON
    listed: bool = True

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return " ".join((self.handler.__doc__ or "").split())
