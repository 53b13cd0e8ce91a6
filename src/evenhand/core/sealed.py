"""Contents that carry a checksum of themselves, so that a flipped bit cannot pass for a result.

A JSON document, alone or inside of a Parquet file, has ``"seal"`` as its last key. The seal is the
SHA-256 of the whole content with 64 zeros in its place.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError

if TYPE_CHECKING:
    import polars

ROUNDS_FILE, ARMS_FILE, PROVENANCE_FILE = "rounds.parquet", "arms.parquet", "provenance.json"
PROMISES_FILE = "promises.parquet"
KEY = b'"seal": "'
BLANK = b"0" * 64
# Where the document begins in a Parquet file can so be found without reading the file's footer.
FIRST = "evenhand table"


def sealed_json(document: Mapping[str, Any]) -> bytes:
    """Return a document as sealed JSON.

    >>> open_json(sealed_json({"seed": 7}))
    {'seed': 7}
    """
    return _sealed(json.dumps({**document, "seal": BLANK.decode()}, indent=2).encode() + b"\n")


def open_json(content: bytes) -> dict[str, Any]:
    """Return a sealed document, or raise InputError."""
    check_seal(content)
    document: dict[str, Any] = json.loads(content)
    document.pop("seal")
    return document


def sealed_parquet(table: polars.DataFrame, about: Mapping[str, Any]) -> bytes:
    """Return a table as a sealed Parquet file, with a document about it inside."""
    file = io.BytesIO()
    text = json.dumps({FIRST: "", **about, "seal": BLANK.decode()})
    table.write_parquet(file, metadata={"evenhand": text})
    return _sealed(file.getvalue())


def about_parquet(content: bytes) -> dict[str, Any]:
    """Return the document inside of a sealed Parquet file, without a look at its table."""
    check_seal(content)
    end = content.rfind(KEY) + len(KEY) + len(BLANK) + len(b'"}')
    start = content.rfind(f'{{"{FIRST}": ""'.encode(), 0, end)
    if start < 0:
        raise InputError("it is no table of evenhand's")
    document: dict[str, Any] = json.loads(content[start:end])
    return {key: value for key, value in document.items() if key not in (FIRST, "seal")}


def check_seal(content: bytes) -> str:
    """Return a content's seal; raise if it has none, or a wrong one.

    >>> check_seal(sealed_json({"seed": 7}).replace(b"7", b"8"))
    Traceback (most recent call last):
    ...
    evenhand.errors.InputError: its checksum is not that of its content: it was changed or damaged
    """
    offset = content.rfind(KEY) + len(KEY)
    seal = content[offset : offset + len(BLANK)]
    if offset < len(KEY) or len(seal) < len(BLANK):
        raise InputError("it carries no checksum: it is damaged, or no file of this version")
    if _digest(content, offset) != seal:
        raise InputError("its checksum is not that of its content: it was changed or damaged")
    return seal.decode()


def _sealed(content: bytes) -> bytes:
    offset = content.rfind(KEY) + len(KEY)
    return content[:offset] + _digest(content, offset) + content[offset + len(BLANK) :]


def _digest(content: bytes, offset: int) -> bytes:
    digest = hashlib.sha256(content[:offset])
    digest.update(BLANK)
    digest.update(content[offset + len(BLANK) :])
    return digest.hexdigest().encode()
