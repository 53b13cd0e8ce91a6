"""What the commands share: where they print, and how numbers look."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from rich.console import Console

screen = Console(highlight=False, emoji=False)
errors = Console(stderr=True, highlight=False, emoji=False)


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON object on standard output, with null for what is not a number."""
    json.dump(_finite(document), sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
