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


def written(value: object) -> str:
    """Return a value as a reader would write it, with nothing lost.

    >>> written(10.0), written(20200714), written(0.95), written("paper")
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
