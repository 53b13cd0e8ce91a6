"""What the commands share: where they print."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console

from evenhand.plain import to_json

screen = Console(highlight=False, emoji=False)
errors = Console(stderr=True, highlight=False, emoji=False)


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON object on standard output, with null for what is not a number."""
    sys.stdout.write(to_json(document))
