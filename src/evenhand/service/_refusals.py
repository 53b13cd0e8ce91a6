"""What cannot be done, and why: every error is an RFC 9457 problem."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any

import msgspec
from msgspec import UNSET

from evenhand.core.checks import LONG, brief
from evenhand.errors import InfeasibleFloors, InputError
from evenhand.service._bodies import CertificateShown, ProblemShown

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 1
FOLDED = "it is so old that it has been folded into the counters"
# What msgspec says: "Expected `float`, got `str` - at `$.arms[0].floor`".
COMPLAINT = re.compile(
    r"^(?P<rule>.*?)(?:, got [^-]*?)?(?: - at `(?:key in )?\$(?P<path>.*)`)?$", re.DOTALL
)
STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
NAMED = re.compile(
    r"^Object (?P<what>missing required|contains unknown) field `(?P<field>.*)`$", re.DOTALL
)
MISSING = {"missing required": "given", "contains unknown": "left out: there is no such field"}
MANY = 10_000
WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


class Refusal(Exception):  # noqa: N818  (reads as what it is)
    """A request that is not carried out; nothing was changed."""

    def __init__(self, status: int, kind: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.retry = RETRY_SECONDS if status in (429, 503, 507) else None
        self.problem = ProblemShown(
            type=f"/docs#{kind}",
            title=HTTPStatus(status).phrase,
            status=status,
            detail=detail,
            **more,
        )

    @property
    def status(self) -> int:
        """The status of the answer."""
        return self.problem.status

    def body(self) -> bytes:
        """Return the problem as JSON."""
        return msgspec.json.encode(self.problem)


def not_found(thing: str, name: str) -> Refusal:
    """Return the refusal for a name that nobody has."""
    return Refusal(404, "not-found", f"there is no {thing} {brief(name)}")


def conflict(detail: str) -> Refusal:
    """Return the refusal of something that contradicts what there is."""
    return Refusal(409, "conflict", detail)


def folded(decision: str) -> Refusal:
    """Return the refusal of what would need the details of a decision that are gone."""
    return Refusal(410, "gone", f"decision {brief(decision)} is gone: {FOLDED}")


def bad_input(detail: str, field: str, rule: str, value: Any = UNSET) -> Refusal:
    """Return the refusal of a value that breaks a rule."""
    return Refusal(422, "bad-input", detail, field=field, rule=rule, value=value)


def of_input(error: InputError) -> Refusal:
    """Return the refusal that one of the library's complaints amounts to."""
    return bad_input(str(error), error.thing, error.rule, error.value or UNSET)


def of_floors(error: InfeasibleFloors) -> Refusal:
    """Return the refusal of floors that cannot all be kept, with the proof."""
    return Refusal(
        422,
        "infeasible-floors",
        str(error),
        field="arms",
        rule="floors that can all be kept under the availabilities",
        certificate=CertificateShown.of(error.certificate),
        floor_headroom=error.floor_headroom,
    )


def of_body(error: msgspec.DecodeError, body: bytes, kind: Any) -> Refusal:
    """Return the refusal of a body that is no JSON, or not of the kind that is wanted.

    >>> class Wish(msgspec.Struct):
    ...     plays: int
    >>> body = b'{"plays": "two"}'
    >>> try:
    ...     msgspec.json.decode(body, type=Wish)
    ... except msgspec.DecodeError as error:
    ...     problem = of_body(error, body, Wish).problem
    >>> problem.detail
    "plays must be a whole number, got 'two'"
    """
    if not isinstance(error, msgspec.ValidationError):
        return no_json(error, body)
    found = COMPLAINT.match(str(error))
    assert found is not None
    try:
        # Unlike msgspec, this reads numbers that are too large; and it reads to the end.
        document = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as other:
        return no_json(other, body)
    path = list(_steps(found["path"] or ""))
    if "..." in path:
        path[path.index("...") :] = [_culprit(document, path, kind)]
    if (named := NAMED.match(found["rule"])) is not None:
        path, rule = [*path, named["field"]], MISSING[named["what"]]
    else:
        rule = _in_words(found["rule"])
    field, value = _field(path), _value_at(document, path)
    shown = brief(value) if value is not UNSET else "nothing"
    return bad_input(f"{field} must be {rule}, got {shown}", field, rule, value)


def no_json(error: Exception, body: bytes) -> Refusal:
    """Return the refusal of a body that is no JSON."""
    detail = f"the body must be JSON: {error}"
    return Refusal(400, "no-json", detail, field="body", rule="JSON", value=brief(body[:50]))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON's")


def _steps(path: str) -> Iterator[str | int]:
    """Yield the names and places of a path; "..." where msgspec does not say which one."""
    for name, index in STEP.findall(path):
        if name:
            yield name
        else:
            yield index if index == "..." else int(index)


def _culprit(document: Any, path: list[str | int], kind: Any) -> str:
    """Return the first name of a mapping, of not too many, of which a document would be refused."""
    before = path[: path.index("...")]
    mapping = _value_at(document, before, brief_only=False)
    for name, value in islice(mapping.items(), MANY):
        try:
            msgspec.convert(_with(document, before, {name: value}), kind)
        except msgspec.ValidationError:
            return str(name)
    return "..."


def _with(document: Any, path: Sequence[str | int], value: Any) -> Any:
    """Return a document with another value at a place, sharing the rest."""
    if not path:
        return value
    copy: Any = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = _with(document[path[0]], path[1:], value)
    return copy


def _field(path: list[str | int]) -> str:
    """Return a path as people write it.

    >>> _field(["arms", 0, "floor"])
    'arms[0].floor'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "body"


def _in_words(rule: str) -> str:
    """Return one of msgspec's rules as the library would put it.

    >>> _in_words("Expected `float` <= 1.0"), _in_words("Expected `array` of length >= 1")
    ('a number <= 1.0', 'a list of length >= 1')
    """
    words = rule.removeprefix("Expected ")
    kinds = words[1:].partition("`")[0].split(" | ") if words.startswith("`") else []
    if kinds and all(kind in WORDS for kind in kinds):
        rest = words[1:].partition("`")[2]
        words = " or ".join(WORDS[kind] for kind in kinds) + rest
    if words == "Number out of range":
        words = "a number that a computer can hold"
    return words.replace("`", "") or rule


def _value_at(document: Any, path: list[str | int], *, brief_only: bool = True) -> Any:
    """Return what stands at a place of a document; UNSET if there is none."""
    value = document
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return UNSET
    return value if not brief_only or _can_be_shown(value) else brief(value)


def _can_be_shown(value: Any) -> bool:
    """Say whether a value is short, and can be written as JSON."""
    try:
        msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return False
    plain = not isinstance(value, float) or math.isfinite(value)
    return plain and len(brief(value)) <= LONG
