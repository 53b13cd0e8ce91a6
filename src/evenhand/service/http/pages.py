"""The pages of the service: the files of the dashboard, and the documentation of the API."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.html import template
from evenhand.service.problems import PROBLEMS

TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
# Scripts and styles are files of this server; there is no inline code, and none from outside.
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
    """A file: its content, its media type, and its ETag."""

    body: bytes
    media_type: str
    tag: str


def api_page(document: Mapping[str, Any]) -> str:
    """Return the page about an OpenAPI document."""
    schemas = document["components"]["schemas"]
    macros = template(Path(__file__).with_name("api.html"))
    return str(macros.page(document["info"], document["paths"], schemas, PROBLEMS))


def read_files() -> Mapping[str, File]:
    """Return the files of the dashboard by path.

    >>> sorted(read_files())[:3]
    ['api.css', 'api.js', 'app.js']
    """
    return dict(_walk(files("evenhand.service") / "page", ""))


def _walk(folder: Traversable, path: str) -> list[tuple[str, File]]:
    found: list[tuple[str, File]] = []
    for one in folder.iterdir():
        if one.is_dir():
            found += _walk(one, f"{path}{one.name}/")
        else:
            body = one.read_bytes()
            tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            kind = TYPES.get(one.name.rpartition(".")[2], "application/octet-stream")
            found.append((path + one.name, File(body, kind, tag)))
    return found
