"""Plain data for JSON and for readers."""

from __future__ import annotations

import json
import math
from typing import Any


def to_json(document: dict[str, Any]) -> str:
    """Return a document as JSON text, with null for infinity and for what is not a number.

    >>> print(to_json({"headroom": math.inf}))
    {
      "headroom": null
    }
    <BLANKLINE>
    """
    return json.dumps(finite(document), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def format_value(value: object) -> str:
    """Return a value as a reader would write it, with nothing lost.

    >>> format_value(10.0), format_value(20200714), format_value(0.95), format_value("paper")
    ('10', '20200714', '0.95', 'paper')
    """
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def finite(value: Any) -> Any:
    """Return plain data with None in place of infinity and of what is not a number."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def short_number(number: float) -> str:
    """Write a number with three digits and a unit.

    >>> short_number(4_280_000.0)
    '4.28 M'
    """
    for unit, size in (("G ", 1e9), ("M ", 1e6), ("k ", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}".strip()
    return f"{number:.3g}"
