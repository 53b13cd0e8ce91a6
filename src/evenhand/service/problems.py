"""Errors of the service: each one becomes an RFC 9457 problem."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import UNSET

from evenhand.core.checks import LONG, brief
from evenhand.errors import InfeasibleFloors, InputError
from evenhand.service.schemas import CertificateResponse, ProblemDetails

RETRY_SECONDS = 1
COMPACTED = "it is so old that its details were compacted"
# Every kind of problem, with its description in the API's documentation.
PROBLEMS = {
    "bad-input": "A value breaks a rule; field, rule and value are given.",
    "cut-off": "The connection was closed before the end of the body.",
    "no-json": "The body is not JSON.",
    "infeasible-floors": "The floors are infeasible under the stated availabilities; the "
    "certificate is the proof.",
    "not-found": "There is nothing of this name.",
    "method": "The method is not allowed for this URL; the header Allow has those that are.",
    "conflict": "The request contradicts the present state.",
    "gone": "The decision is so old that its details were compacted.",
    "too-large": "The body is larger than the server accepts.",
    "busy": "Too many requests are waiting; retry after the seconds in Retry-After.",
    "unavailable": "The database cannot be used now; retry after the seconds in Retry-After.",
    "unreadable": "The bandit is damaged, or its policy is not installed; it can be exported or "
    "deleted.",
    "full": "The disk of the database is full.",
    "no-key": "An API key is required: the header Authorization: Bearer KEY.",
    "bad-key": "The API key is unknown or revoked.",
    "scope": "The API key has no scope for this request.",
    "host": "Without API keys only requests to a loopback address are answered.",
    "origin": "Without API keys no web page of another origin is answered.",
    "mistake": "An error in the server; nothing was changed.",
}


class ProblemError(Exception):
    """A request that is refused; nothing was changed."""

    def __init__(self, status: int, kind: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.retry_after = RETRY_SECONDS if status in (429, 503, 507) else None
        self.details = ProblemDetails(
            type=f"/docs#{kind}",
            title=HTTPStatus(status).phrase,
            status=status,
            detail=detail,
            **more,
        )

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.details.status

    def body(self) -> bytes:
        """Return the problem as JSON."""
        return msgspec.json.encode(self.details)


def not_found(thing: str, name: str) -> ProblemError:
    """Return the problem of a name that does not exist."""
    return ProblemError(404, "not-found", f"there is no {thing} {brief(name)}")


def conflict(detail: str) -> ProblemError:
    """Return the problem of a request that contradicts the present state."""
    return ProblemError(409, "conflict", detail)


def compacted(decision: str) -> ProblemError:
    """Return the problem of a decision whose details were compacted."""
    return ProblemError(410, "gone", f"decision {brief(decision)} is gone: {COMPACTED}")


def bad_input(field: str, rule: str, value: Any = UNSET) -> ProblemError:
    """Return the problem of a value that breaks a rule; without a value, it is missing."""
    shown = "nothing" if value is UNSET else brief(value)
    detail = f"{field} must be {rule}, got {shown}"
    return ProblemError(422, "bad-input", detail, field=field, rule=rule, value=json_value(value))


def json_value(value: Any) -> Any:
    """Return a value as it is if it is short and can be written as JSON, else abbreviated."""
    text = brief(value)
    try:
        msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError, TypeError):
        return text if value is not UNSET else value
    finite = not isinstance(value, float) or math.isfinite(value)
    return value if finite and len(text) <= LONG else text


def problem_of(error: InputError | InfeasibleFloors) -> ProblemError:
    """Return the problem of an error of the library; of infeasible floors, with the certificate."""
    if isinstance(error, InputError):
        given = {"field": error.thing, "rule": error.rule, "value": error.value or UNSET}
        return ProblemError(422, "bad-input", str(error), **given)
    return ProblemError(
        422,
        "infeasible-floors",
        str(error),
        field="arms",
        rule="floors that can all be kept under the availabilities",
        certificate=CertificateResponse.of(error.certificate),
        floor_headroom=error.floor_headroom,
    )


def unreadable(bandit: str, error: Exception) -> ProblemError:
    """Return the problem of a bandit that cannot be read: damaged, or its policy is gone."""
    words = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    detail = f"bandit {bandit!r} cannot be read ({words[:LONG]}): it can be exported or deleted"
    return ProblemError(503, "unreadable", detail)


def locked(bandit: str) -> ProblemError:
    """Return the problem of a bandit that other servers keep locked."""
    return ProblemError(503, "unavailable", f"another server is writing to bandit {bandit!r}")


def server_error() -> ProblemError:
    """Return the problem of an unexpected error."""
    return ProblemError(500, "mistake", "an error in the server; nothing was changed")
