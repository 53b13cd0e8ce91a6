"""The OpenAPI document, made from the table of operations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

import msgspec

from evenhand.service.http.endpoint import PROBLEM_JSON
from evenhand.service.http.operations import JSON, Operation
from evenhand.service.schemas import BANDIT_PATTERN, ProblemDetails

REF = "#/components/schemas/{name}"
# The statuses of every operation.
COMMON = {401: ProblemDetails, 403: ProblemDetails, 405: ProblemDetails}
PATH_SCHEMAS: Mapping[str, Any] = {
    "name": {"type": "string", "pattern": f"^{BANDIT_PATTERN}$"},
    "arm": {"type": "string", "minLength": 1, "maxLength": 200},
    "decision": {"type": "string", "minLength": 1, "maxLength": 200},
}


def openapi(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI document of some operations, without those that serve pages."""
    operations = [operation for operation in operations if operation.listed]
    types = [
        kind
        for operation in operations
        for kind in (*operation.body, *operation.answers.values(), *COMMON.values())
        if kind is not None
    ]
    schemas, components = msgspec.json.schema_components(types, ref_template=REF)
    known = list(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        described = _described(operation, known)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "evenhand",
            "version": version("evenhand"),
            "description": "Decisions with guaranteed shares: play the best arms that are awake, "
            "and give each arm its share.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"key": []}],
    }


def _described(operation: Operation, known: list[tuple[Any, Any]]) -> dict[str, Any]:
    """Return one operation as OpenAPI describes it."""
    name = operation.handler.__name__
    parameters = [
        {"name": part, "in": "path", "required": True, "schema": PATH_SCHEMAS[part]}
        for part in re.findall(r"\{(\w+)\}", operation.path)
    ] + [
        {"name": part, "in": "query", "schema": dict(schema), "description": words}
        for part, (schema, words) in operation.query.items()
    ]
    answers = {**operation.answers, **COMMON}
    described: dict[str, Any] = {
        "operationId": name,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": {
            str(status): _answer(operation, status, kind, known)
            for status, kind in sorted(answers.items())
        },
    }
    if operation.body:
        schemas = [_schema(kind, known) for kind in operation.body]
        schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        described["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    return described


def _answer(
    operation: Operation, status: int, kind: Any, known: list[tuple[Any, Any]]
) -> dict[str, Any]:
    found: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if kind is not None:
        media_type = PROBLEM_JSON if kind is ProblemDetails else JSON
        found["content"] = {media_type: {"schema": _schema(kind, known)}}
    elif status != HTTPStatus.NO_CONTENT:
        found["content"] = {operation.media_type: {}}
    if status in (429, 503, 507):
        words = "After how many seconds to retry."
        found["headers"] = {"Retry-After": {"description": words, "schema": {"type": "integer"}}}
    return found


def _schema(kind: Any, known: list[tuple[Any, Any]]) -> Any:
    return next(schema for other, schema in known if other is kind)
