"""What an operation of the API is: the one table of routes, checks and documentation is made of."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from evenhand.core.checks import brief
from evenhand.service._refusals import bad_input, no_json, of_body

if TYPE_CHECKING:
    from evenhand.service._service import Service

JSON = "application/json"


class Call(NamedTuple):
    """A request: what its address and its body say."""

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
            rule = f"one of {', '.join(choices)}"
            raise bad_input(f"{name} must be {rule}, got {brief(given)}", name, rule, given)
        return given

    def flag(self, name: str) -> bool:
        """Return a query parameter that is true or false."""
        given = self.one(name, "false")
        if given not in ("true", "false"):
            raise bad_input(
                f"{name} must be true or false, got {brief(given)}", name, "true or false", given
            )
        return given == "true"

    def whole(self, name: str, default: int, most: int, least: int = 0) -> int:
        """Return a query parameter that is a whole number within limits."""
        if name not in self.query:
            return default
        given = self.one(name, "")
        if given.isascii() and given.isdigit() and len(given) < 20 and least <= int(given) <= most:
            return int(given)
        rule = f"a whole number from {least} to {most}"
        raise bad_input(f"{name} must be {rule}, got {brief(given)}", name, rule, given)


class Reply(NamedTuple):
    """An answer; if it has a ``flow``, that is its body, piece by piece."""

    status: int
    body: bytes = b""
    media_type: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    flow: AsyncGenerator[bytes, None] | None = None


Handler: TypeAlias = "Callable[[Service, Call], Awaitable[Reply]]"


@dataclass(frozen=True)
class Operation:
    """One method of one address.

    Attributes
    ----------
    method, path
        Where it is.
    scope
        Which keys may use it; "" for everybody.
    handler
        Who does it; its docstring is the summary.
    answers
        Every status it may have but the common ones, with the type of the body.
    body
        The types of what may be sent.
    query
        Its query parameters: their JSON schemas and what they mean.
    listed
        Whether it belongs to the API; if not, it is the way to a page.
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


_DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoded(body: bytes, kind: Any) -> Any:
    """Return the body of a request, or refuse it with the field, the rule and the value."""
    decoder = _DECODERS.get(kind)
    if decoder is None:
        decoder = _DECODERS[kind] = msgspec.json.Decoder(kind)
    try:
        return decoder.decode(body)
    except msgspec.DecodeError as error:
        raise of_body(error, body, kind) from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise no_json(error, body) from None
