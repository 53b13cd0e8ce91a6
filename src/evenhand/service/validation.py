"""Decoding of request bodies; what is wrong with one is found by walking it along its type.

msgspec decodes and validates in one pass, which is all that a valid body costs. For an invalid one
:func:`first_violation` compares the JSON document with the type, and returns the field, the rule
and the value: in time linear in the body.
"""

from __future__ import annotations

import json
import math
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


class Violation(NamedTuple):
    """Where a document differs from its type: the path, the rule, and the value (UNSET: none)."""

    path: Path
    rule: str
    value: Any = UNSET


def decode(body: bytes, kind: Any) -> Any:
    """Return the decoded body of a request, or raise what is wrong with it.

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
        raise explain(error, body, kind) from None


def explain(error: Exception, body: bytes, kind: Any) -> ProblemError:
    """Return the problem of a body that could not be decoded."""
    try:
        # Unlike msgspec, this reads numbers of any size, and reads to the end.
        document = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as other:
        return not_json(other, body)
    if not isinstance(error, msgspec.ValidationError):
        return not_json(error, body)
    found = first_violation(document, type_of(kind))
    if found is None:
        return bad_input("body", "as the API describes it", document)
    return bad_input(field_name(found.path), found.rule, found.value)


def not_json(error: Exception, body: bytes) -> ProblemError:
    """Return the problem of a body that is not JSON."""
    given = {"field": "body", "rule": "JSON", "value": brief(body[:50])}
    return ProblemError(400, "no-json", f"the body must be JSON: {error}", **given)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


@cache
def type_of(kind: Any) -> inspect.Type:
    """Return what msgspec knows of a type."""
    return inspect.type_info(kind)


def first_violation(value: Any, kind: inspect.Type, path: Path = ()) -> Violation | None:
    """Return the first place where a document is not of a type; None if there is none."""
    if isinstance(kind, inspect.UnionType):
        return _of_union(value, kind, path)
    check = _CHECKS.get(type(kind))
    return None if check is None else next(check(value, kind, path), None)


def _of_union(value: Any, kind: inspect.UnionType, path: Path) -> Violation | None:
    """Check the member of a union that the value's JSON type belongs to."""
    for member in kind.types:
        if isinstance(value, JSON_TYPES.get(type(member), object)) and _is_plain(value, member):
            return first_violation(value, member, path)
    return Violation(path, " or ".join(dict.fromkeys(WORDS[type(m)] for m in kind.types)), value)


def _is_plain(value: Any, kind: inspect.Type) -> bool:
    """Say whether a value is not a truth value in the place of a number."""
    return isinstance(kind, inspect.BoolType) or not isinstance(value, bool)


def _wrong_type(value: Any, kind: inspect.Type) -> bool:
    return not (isinstance(value, JSON_TYPES[type(kind)]) and _is_plain(value, kind))


def _of_struct(value: Any, kind: inspect.StructType, path: Path) -> Iterator[Violation]:
    if _wrong_type(value, kind):
        yield Violation(path, WORDS[type(kind)], value)
        return
    fields = {field.encode_name: field for field in kind.fields}
    for name, own in value.items():
        if name in fields:
            found = first_violation(own, fields[name].type, (*path, name))
            if found is not None:
                yield found
        elif kind.forbid_unknown_fields:
            yield Violation((*path, name[:LONG]), unknown_rule(name, fields), own)
    for name, field in fields.items():
        if field.required and name not in value:
            yield Violation((*path, name), "given")


def unknown_rule(name: str, known: Mapping[str, Any]) -> str:
    """Return the rule that an unknown name breaks, with the nearest known one.

    >>> unknown_rule("flor", {"floor": 0, "weight": 0})
    "left out: there is no such field; did you mean 'floor'"
    """
    near = get_close_matches(name[:LONG], known, n=1)
    hint = f"; did you mean {near[0]!r}" if near else f"; known: {', '.join(known)}"
    return f"left out: there is no such field{hint}"


def _of_list(value: Any, kind: inspect.ListType, path: Path) -> Iterator[Violation]:
    if _wrong_type(value, kind):
        yield Violation(path, WORDS[type(kind)], value)
        return
    yield from _of_length(value, kind, path)
    for index, own in enumerate(value):
        found = first_violation(own, kind.item_type, (*path, index))
        if found is not None:
            yield found


def _of_dict(value: Any, kind: inspect.DictType, path: Path) -> Iterator[Violation]:
    if _wrong_type(value, kind):
        yield Violation(path, WORDS[type(kind)], value)
        return
    yield from _of_length(value, kind, path)
    for name, own in value.items():
        found = first_violation(own, kind.value_type, (*path, name[:LONG]))
        if found is not None:
            yield found


def _of_text(value: Any, kind: inspect.StrType, path: Path) -> Iterator[Violation]:
    if _wrong_type(value, kind):
        yield Violation(path, WORDS[type(kind)], value)
        return
    yield from _of_length(value, kind, path)


def _of_length(value: Any, kind: Any, path: Path) -> Iterator[Violation]:
    words = WORDS[type(kind)]
    if kind.min_length is not None and len(value) < kind.min_length:
        yield Violation(path, f"{words} of length >= {kind.min_length}", value)
    if kind.max_length is not None and len(value) > kind.max_length:
        yield Violation(path, f"{words} of length <= {kind.max_length}", value)


def _of_number(value: Any, kind: Any, path: Path) -> Iterator[Violation]:
    words = WORDS[type(kind)]
    whole = isinstance(kind, inspect.IntType)
    if whole and isinstance(value, float) and value.is_integer():
        value = int(value)
    if _wrong_type(value, kind):
        yield Violation(path, words, value)
        return
    limits: list[tuple[str, Any, Callable[[Any, Any], bool]]] = [
        (">=", kind.ge, lambda a, b: a >= b),
        (">", kind.gt, lambda a, b: a > b),
        ("<=", kind.le, lambda a, b: a <= b),
        ("<", kind.lt, lambda a, b: a < b),
    ]
    for sign, limit, holds in limits:
        if limit is not None and not holds(value, limit):
            yield Violation(path, f"{words} {sign} {limit}", value)
    if not whole and not _is_finite(value):
        yield Violation(path, "a number that a float can hold", value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _of_type(value: Any, kind: inspect.Type, path: Path) -> Iterator[Violation]:
    if _wrong_type(value, kind):
        yield Violation(path, WORDS[type(kind)], value)


JSON_TYPES: Mapping[type, Any] = {
    inspect.BoolType: bool,
    inspect.DictType: dict,
    inspect.FloatType: (int, float),
    inspect.IntType: int,
    inspect.ListType: list,
    inspect.NoneType: type(None),
    inspect.StrType: str,
    inspect.StructType: dict,
}
WORDS: Mapping[type, str] = {
    inspect.BoolType: "true or false",
    inspect.DictType: "an object",
    inspect.FloatType: "a number",
    inspect.IntType: "a whole number",
    inspect.ListType: "a list",
    inspect.NoneType: "null",
    inspect.StrType: "a string",
    inspect.StructType: "an object",
}
_CHECKS: Mapping[type, Callable[[Any, Any, Path], Iterator[Violation]]] = {
    inspect.BoolType: _of_type,
    inspect.DictType: _of_dict,
    inspect.FloatType: _of_number,
    inspect.IntType: _of_number,
    inspect.ListType: _of_list,
    inspect.NoneType: _of_type,
    inspect.StrType: _of_text,
    inspect.StructType: _of_struct,
}


def field_name(path: Path) -> str:
    """Return a path as people write it.

    >>> field_name(("arms", 0, "floor"))
    'arms[0].floor'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "body"
