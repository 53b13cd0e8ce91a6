"""What the commands share: where they print, and how they are stopped."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console

from evenhand.plain import to_json

screen = Console(highlight=False, emoji=False)
errors = Console(stderr=True, highlight=False, emoji=False)


class Stopped(BaseException):
    """Ctrl-C. Typer would take a KeyboardInterrupt for itself and print a word of its own."""


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON object on standard output, with null for what is not a number."""
    sys.stdout.write(to_json(document))
