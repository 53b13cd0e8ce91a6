"""The pages of the service: the dashboard's files, and the page about the API."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from evenhand.service.problems import PROBLEMS


def api_page(document: Mapping[str, Any]) -> str:
    """Return the page about an OpenAPI document."""
    info = document["info"]
    operations = "".join(
        _operation(path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )
    schemas = "".join(
        f"<details id='schema-{escape(name)}'><summary><code>{escape(name)}</code> "
        f"{escape(schema.get('description', ''))}</summary>"
        f"<table>{_fields(schema)}</table></details>"
        for name, schema in document["components"]["schemas"].items()
    )
    problems = "".join(
        f"<tr id='{kind}'><td><code>{kind}</code></td><td>{escape(words)}</td></tr>"
        for kind, words in PROBLEMS.items()
    )
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<title>evenhand API</title><link rel='stylesheet' href='page/api.css'></head><body>"
        f"<h1>evenhand {escape(info['version'])}: the API</h1><p>{escape(info['description'])} "
        "As a document for programs: <a href='/openapi.json'>openapi.json</a>.</p>"
        f"<h2>Operations</h2>{operations}<h2>Types</h2>{schemas}"
        "<h2>Problems</h2><p>Every error is a problem as RFC 9457 has it, of one of these types:"
        f"</p><table>{problems}</table></body></html>\n"
    )


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {})
    sent = "".join(f"<p>Body: {_type(kind['schema'])}</p>" for kind in body.values())
    query = "".join(
        f"<tr><td><code>{escape(part['name'])}</code></td><td>{_type(part['schema'])}</td>"
        f"<td>{escape(part.get('description', ''))}</td></tr>"
        for part in operation["parameters"]
    )
    answers = "".join(
        f"<tr><td>{status}</td><td>{escape(answer['description'])}</td><td>"
        + " ".join(_type(c["schema"]) for c in answer.get("content", {}).values() if "schema" in c)
        + "</td></tr>"
        for status, answer in operation["responses"].items()
    )
    return (
        f"<details><summary><span class='method'>{method.upper()}</span> "
        f"<code>{escape(path)}</code><br>{escape(operation['summary'])}</summary>"
        f"<table>{query}</table>{sent}<table>{answers}</table></details>"
    )


def _fields(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", [])
    return "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{_type(kind)}</td>"
        f"<td>{'' if name in required else 'optional'}</td></tr>"
        for name, kind in schema.get("properties", {}).items()
    )


def _type(schema: Mapping[str, Any]) -> str:
    """Return a JSON schema in a few words, with links to the types that it names."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f"<a href='#schema-{name}'>{name}</a>"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_type(one) for one in schema[several])
    if "enum" in schema:
        return escape(" or ".join(map(str, schema["enum"])))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    limits = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to"}
    words = [f"{word} {schema[key]:g}" for key, word in limits.items() if key in schema]
    return escape(" ".join([str(schema.get("type", "anything")), *words]))


TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
# Scripts and styles are files of this server's; there are no others, and no markup from outside.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class File(NamedTuple):
    """A file: what it holds, what it is, and a tag by which browsers know it again."""

    body: bytes
    media_type: str
    tag: str


def read_files() -> Mapping[str, File]:
    """Return the files of the dashboard, by their paths.

    >>> sorted(read_files())[:3]
    ['api.css', 'api.js', 'app.js']
    """
    return dict(_walked(files("evenhand.service") / "page", ""))


def _walked(folder: Traversable, path: str) -> list[tuple[str, File]]:
    found: list[tuple[str, File]] = []
    for one in folder.iterdir():
        if one.is_dir():
            found += _walked(one, f"{path}{one.name}/")
        else:
            body = one.read_bytes()
            tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            kind = TYPES.get(one.name.rpartition(".")[2], "application/octet-stream")
            found.append((path + one.name, File(body, kind, tag)))
    return found
