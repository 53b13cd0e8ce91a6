"""Entry point of the command ``evenhand``; says which extra is missing if one is."""

from __future__ import annotations

import sys
from importlib import import_module

from evenhand.errors import MissingExtra
from evenhand.extras import load


def main() -> None:
    """Run the command line."""
    try:
        load("typer")
        load("rich")
    except MissingExtra as error:
        sys.exit(f"evenhand: {error}")
    import_module("evenhand.cli").main()


if __name__ == "__main__":
    main()
