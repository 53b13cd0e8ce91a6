"""Decoding of request bodies; what is wrong with one is found by walking it along its type.

msgspec decodes and validates in one pass, which is all that a valid body costs. For an invalid one
:func:`violations` compares the JSON document with the type, and yields the field, the rule and the
value: in time linear in the body.
"""

from __future__ import annotations

import json
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, inspect

from evenhand.core.checks import LONG, brief
from evenhand.service.problems import ProblemError, bad_input

Path: TypeAlias = tuple[str | int, ...]
_DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {}
# The types of JSON values and their words, for each type that a schema is made of.
KINDS: Mapping[type, tuple[Any, str]] = {
    inspect.BoolType: (bool, "true or false"),
    inspect.DictType: (dict, "an object"),
    inspect.FloatType: ((int, float), "a number"),
    inspect.IntType: (int, "a whole number"),
    inspect.ListType: (list, "a list"),
    inspect.NoneType: (type(None), "null"),
    inspect.StrType: (str, "a string"),
    inspect.StructType: (dict, "an object"),
}
LIMITS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "min_length": ("of length >=", lambda value, limit: len(value) >= limit),
    "max_length": ("of length <=", lambda value, limit: len(value) <= limit),
    "ge": (">=", operator.ge),
    "gt": (">", operator.gt),
    "le": ("<=", operator.le),
    "lt": ("<", operator.lt),
}


class Violation(NamedTuple):
    """Where a document differs from its type: the path, the rule, and the value (UNSET: none)."""

    path: Path
    rule: str
    value: Any = UNSET


def decode(body: bytes, kind: Any, whole: str = "body") -> Any:
    """Return the decoded body of a request, or a part of it, or raise what is wrong with it.

    >>> class Wish(msgspec.Struct):
    ...     plays: int
    >>> decode(b'{"plays": "two"}', Wish)
    Traceback (most recent call last):
    ...
    evenhand.service.problems.ProblemError: plays must be a whole number, got 'two'
    """
    decoder = _DECODERS.get(kind)
    if decoder is None:
        decoder = _DECODERS[kind] = msgspec.json.Decoder(kind)
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise explain(error, body, kind, whole) from None


def explain(error: Exception, body: bytes, kind: Any, whole: str) -> ProblemError:
    """Return the problem of a body that could not be decoded."""
    try:
        # Unlike msgspec, this reads numbers of any size, and reads to the end.
        document = json.loads(body, parse_constant=_refuse_constant)
        if not isinstance(error, msgspec.ValidationError):
            raise error
    except (ValueError, RecursionError) as other:
        given = {"field": "body", "rule": "JSON", "value": brief(body[:50])}
        words = "it is nested too deeply" if isinstance(other, RecursionError) else other
        return ProblemError(400, "no-json", f"the body must be JSON: {words}", **given)
    found = first_violation(document, kind)
    if found is None:
        return bad_input(whole, "as the API describes it", document)
    return bad_input(field_name(found.path) or whole, found.rule, found.value)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def first_violation(document: Any, kind: Any) -> Violation | None:
    """Return the first place where a document is not of a type; None if there is none."""
    return next(violations(document, type_of(kind), ()), None)


@cache
def type_of(kind: Any) -> inspect.Type:
    """Return what msgspec knows of a type."""
    return inspect.type_info(kind)


def violations(value: Any, kind: inspect.Type, path: Path) -> Iterator[Violation]:
    """Yield where a document is not of a type."""
    members = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    own: Any = next((member for member in members if _has_type(value, member)), None)
    if own is None:
        words = dict.fromkeys(KINDS[type(member)][1] for member in members)
        yield Violation(path, " or ".join(words), value)
        return
    for name, (sign, holds) in LIMITS.items():
        limit = getattr(own, name, None)
        if limit is not None and not holds(value, limit):
            yield Violation(path, f"{KINDS[type(own)][1]} {sign} {limit}", value)
    if isinstance(own, inspect.FloatType) and abs(value) > sys.float_info.max:
        yield Violation(path, "a number that a float can hold", value)
    if isinstance(own, inspect.StructType):
        yield from _of_struct(value, own, path)
    elif isinstance(own, inspect.ListType):
        for index, item in enumerate(value):
            yield from violations(item, own.item_type, (*path, index))
    elif isinstance(own, inspect.DictType):
        for name, item in value.items():
            yield from violations(item, own.value_type, (*path, name[:LONG]))


def _of_struct(value: Any, kind: inspect.StructType, path: Path) -> Iterator[Violation]:
    fields = {field.encode_name: field for field in kind.fields}
    for name, item in value.items():
        if name in fields:
            yield from violations(item, fields[name].type, (*path, name))
        elif kind.forbid_unknown_fields:
            near = get_close_matches(name[:LONG], fields, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(fields)}"
            rule = f"left out: there is no such field ({hint})"
            yield Violation((*path, name[:LONG]), rule, item)
    for name, field in fields.items():
        if field.required and name not in value:
            yield Violation((*path, name), "given")


def _has_type(value: Any, kind: inspect.Type) -> bool:
    """Say whether a JSON value is of a type; a truth value is not a number."""
    if type(kind) not in KINDS:
        return True
    truth = isinstance(value, bool) != isinstance(kind, inspect.BoolType)
    return isinstance(value, KINDS[type(kind)][0]) and not truth


def field_name(path: Path) -> str:
    """Return a path as people write it.

    >>> field_name(("arms", 0, "floor"))
    'arms[0].floor'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")
