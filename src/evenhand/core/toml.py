"""TOML texts and the ``[[arms]]`` tables in them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.core.checks import check_known
from evenhand.errors import InputError

ARM_KEYS = ("name", "floor", "ceiling", "weight", "prior")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; a broken text is an :class:`InputError` with line and column."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid TOML: {error}") from None


def arm_tables(table: Mapping[str, Any], arm_keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return the ``[[arms]]`` tables, each with a name and no unknown key."""
    arms = table.get("arms")
    if not isinstance(arms, list) or not arms or not all(isinstance(arm, dict) for arm in arms):
        raise InputError("the file must have at least one [[arms]] table")
    for position, arm in enumerate(arms, start=1):
        if "name" not in arm:
            raise InputError(f"arm number {position} must have a name")
        check_known(f"key of arm {arm['name']!r}", arm, arm_keys)
    return arms


def toml_string(text: str) -> str:
    """Quote a text as a TOML basic string: JSON's escapes, and DEL, which TOML forbids too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
