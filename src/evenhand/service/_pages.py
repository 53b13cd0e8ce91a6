"""The dashboard's files: read once, sent as they are, with rules that let nothing else in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

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
SAFE: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
)


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
